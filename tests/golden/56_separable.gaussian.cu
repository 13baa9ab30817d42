// gaussian, schedule: chosen by the compiler
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// w: global memory
// g: 16 x 72 in shared memory; halo i [0, 0], j [4, 4]
// v: global memory
// x: 24 x 72 in shared memory; halo i [4, 4], j [4, 4]
// shared memory: 11520 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) gaussian(
    In<float> x, Index x_stride_0,
    In<float> v,
    In<float> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 24 * 72);
    SHARED(float, g_tile, 16 * 72);
    for (int at = thread; at < 24 * 72; at += 256) {
        const Index x_i = tile_i + at / 72 - 4;
        const Index x_j = tile_j + at % 72 - 4;
        x_tile[at] = x[reflect(x_i, H) * x_stride_0 + reflect(x_j, W)];
    }
    __syncthreads();
    for (int at = thread; at < 16 * 72; at += 256) {
        const Index g_i = tile_i + at / 72;
        const Index g_j = tile_j + at % 72 - 4;
        if (g_i < H && g_j < W + 4) {
            float sum = 0.0f;
            UNROLL
            for (int a = 0; a < 9; ++a) {
                sum = fma(v[a], x_tile[(at / 72 + a) * 72 + at % 72], sum);
            }
            g_tile[at] = sum;
        }
    }
    __syncthreads();

    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            float sum_2 = 0.0f;
            UNROLL
            for (int b = 0; b < 9; ++b) {
                sum_2 = fma(w[b], g_tile[item_i * 72 + item_j + b], sum_2);
            }
            y[i * y_stride_0 + j] = sum_2;
        }
    }
}
