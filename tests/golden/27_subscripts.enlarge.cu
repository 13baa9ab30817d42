// enlarge, schedule: chosen by the compiler
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) enlarge(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W * 3 + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H * 2 && j < W * 3) {
            y[i * y_stride_0 + j] = x[i / 2 * x_stride_0 + j / 3];
        }
    }
}
