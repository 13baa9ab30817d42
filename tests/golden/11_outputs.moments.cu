// moments, schedule: default
// mean, variance: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// x: 10 x 34 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1360 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) moments(
    In<float> x, Index x_stride_0,
    Out<float> mean, Index mean_stride_0,
    Out<float> variance, Index variance_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 10 * 34);
    for (int at = thread; at < 10 * 34; at += 256) {
        const Index x_i = tile_i + at / 34 - 1;
        const Index x_j = tile_j + at % 34 - 1;
        x_tile[at] = x[nearest(x_i, H) * x_stride_0 + nearest(x_j, W)];
    }
    __syncthreads();

    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = -1; u < 2; ++u) {
            UNROLL
            for (int v = -1; v < 2; ++v) {
                sum = sum + x_tile[(item_i + u + 1) * 34 + item_j + v + 1];
            }
        }
        const float m = 0.11111111f * sum;
        float sum_2 = 0.0f;
        UNROLL
        for (int u = -1; u < 2; ++u) {
            UNROLL
            for (int v = -1; v < 2; ++v) {
                const float square_of = x_tile[(item_i + u + 1) * 34 + item_j + v + 1];
                sum_2 = sum_2 + square_of * square_of;
            }
        }
        const float s = 0.11111111f * sum_2;
        mean[i * mean_stride_0 + j] = m;
        variance[i * variance_stride_0 + j] = maximum(s - m * m, 0.0f);
    }
}
