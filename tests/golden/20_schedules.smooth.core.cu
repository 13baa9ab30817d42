// smooth, schedule: core
// y: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// w: global memory
// x: 8 x 32 in shared memory, halo from global memory; halo i [1, 1], j [1, 1]
// shared memory: 1024 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) smooth(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 8 * 32);
    for (int at = thread; at < 8 * 32; at += 256) {
        const Index x_i = tile_i + at / 32;
        const Index x_j = tile_j + at % 32;
        x_tile[at] = x[mirror(x_i, H) * x_stride_0 + mirror(x_j, W)];
    }
    __syncthreads();

    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(w[u * w_stride_0 + v],
                    within(item_i + u - 1, 8) && within(item_j + v - 1, 32)
                    ? x_tile[(item_i + u - 1) * 32 + item_j + v - 1]
                    : x[mirror(i + u - 1, H) * x_stride_0 + mirror(j + v - 1, W)], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
