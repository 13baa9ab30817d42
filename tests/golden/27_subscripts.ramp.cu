// ramp, schedule: chosen by the compiler
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [0, 0], j [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) ramp(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            y[i * y_stride_0 + j] = x[i * x_stride_0 + j]
                + float(i64(i)) / 4.0f - float(floor_mod(i64(j), 3ll));
        }
    }
}
