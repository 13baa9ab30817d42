// strided, schedule: default
// y: tile i 8, j 16; 128 threads, 1 output each, (128,1):(1,128)
// w: 3 x 3 in constant memory
// x: 19 x 35 in shared memory; halo i [2, 2], j [2, 2]
// shared memory: 2660 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) strided(
    In<float> x, Index x_stride_0,
    CONSTANT_PARAM Constant<float, 9> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = floor_div(floor_div(W - 1, 2) + 16, 16);
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 16;
    SHARED(float, x_tile, 19 * 35);
    for (int at = thread; at < 19 * 35; at += 128) {
        const Index x_i = tile_i * 2 + at / 35 - 2;
        const Index x_j = tile_j * 2 + at % 35 - 2;
        x_tile[at] = within(x_i, H) && within(x_j, W) ? x[x_i * x_stride_0 + x_j] : 0.0f;
    }
    __syncthreads();

    const int item_i = thread / 16;
    const int item_j = thread % 16;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < floor_div(H - 1, 2) + 1 && j < floor_div(W - 1, 2) + 1) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(w[u * 3 + v], x_tile[(item_i + u) * 2 * 35 + (item_j + v) * 2], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
