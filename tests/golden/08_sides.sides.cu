// sides, schedule: default
// y: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// sea: global memory
// x: 12 x 36 in shared memory; halo i [2, 2], j [2, 2]
// shared memory: 1728 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) sides(
    In<float> x, Index x_stride_0,
    In<float> sea,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 12 * 36);
    for (int at = thread; at < 12 * 36; at += 256) {
        const Index x_i = tile_i + at / 36 - 2;
        const Index x_j = tile_j + at % 36 - 2;
        x_tile[at] = x_j < W ? x[wrap(x_i, H) * x_stride_0 + mirror(x_j, W)] : sea[0];
    }
    __syncthreads();

    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        y[i * y_stride_0 + j] = 0.25f
            * (x_tile[item_i * 36 + item_j + 2] + x_tile[(item_i + 4) * 36 + item_j + 2]
            + x_tile[(item_i + 2) * 36 + item_j] + x_tile[(item_i + 2) * 36 + item_j + 4]);
    }
}
