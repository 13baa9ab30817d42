// transpose, schedule: default
// y: tile j 32, i 32; 256 threads, 4 outputs each, (256,4):(1,256)
// x: 32 x 32 in shared memory; halo i [0, 0], j [0, 0]
// shared memory: 4096 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) transpose(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_i = (H + 31) / 32;
    const Index tile_j = block / blocks_i * 32;
    const Index tile_i = block % blocks_i * 32;
    SHARED(float, x_tile, 32 * 32);
    for (int at = thread; at < 32 * 32; at += 256) {
        const Index x_i = tile_i + at / 32;
        const Index x_j = tile_j + at % 32;
        if (x_i < H && x_j < W) {
            x_tile[at] = x[x_i * x_stride_0 + x_j];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_j = item * 8 + thread / 32;
        const int item_i = thread % 32;
        const Index j = tile_j + item_j;
        const Index i = tile_i + item_i;
        if (j < W && i < H) {
            y[j * y_stride_0 + i] = x_tile[item_i * 32 + item_j];
        }
    }
}
