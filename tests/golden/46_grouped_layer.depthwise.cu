// depthwise, schedule: default
// y: tile n 1, c 4, i 4, j 8; 128 threads, 1 output each, (128,1):(1,128)
// w: 4 x 3 x 3 in shared memory; halo c [0, 0]
// x: 1 x 4 x 8 x 12 in shared memory; halo n [0, 0], c [0, 0], i [2, 2], j [2, 2]
// shared memory: 840 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) depthwise(
    In<f16> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    In<f16> w, Index w_stride_0, Index w_stride_1,
    Out<f16> y, Index y_stride_0, Index y_stride_1, Index y_stride_2,
    Index N, Index C, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 7) / 8;
    const Index blocks_i = (H + 3) / 4;
    const Index blocks_c = (C + 3) / 4;
    const Index tile_n = block / blocks_j / blocks_i / blocks_c;
    const Index tile_c = block / blocks_j / blocks_i % blocks_c * 4;
    const Index tile_i = block / blocks_j % blocks_i * 4;
    const Index tile_j = block % blocks_j * 8;
    SHARED(f16, x_tile, 1 * 4 * 8 * 12);
    SHARED(f16, w_tile, 4 * 3 * 3);
    for (int at = thread; at < 1 * 4 * 8 * 12; at += 128) {
        const Index x_c = tile_c + at / 96;
        const Index x_i = tile_i + at / 12 % 8 - 2;
        const Index x_j = tile_j + at % 12 - 2;
        if (tile_n < N && x_c < C) {
            x_tile[at] = within(x_i, H) && within(x_j, W)
                ? x[tile_n * x_stride_0 + x_c * x_stride_1 + x_i * x_stride_2 + x_j] : f16(0.0f);
        }
    }
    for (int at = thread; at < 4 * 3 * 3; at += 128) {
        const Index w_c = tile_c + at / 9;
        const Index w_1 = at / 3 % 3;
        const Index w_2 = at % 3;
        if (w_c < C) {
            w_tile[at] = w[w_c * w_stride_0 + w_1 * w_stride_1 + w_2];
        }
    }
    __syncthreads();

    const int item_c = thread / 32;
    const int item_i = thread / 8 % 4;
    const int item_j = thread % 8;
    const Index n = tile_n;
    const Index c = tile_c + item_c;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (n < N && c < C && i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(float(w_tile[(item_c * 3 + u) * 3 + v]),
                    float(x_tile[(item_c * 8 + item_i + u * 2) * 12 + item_j + v * 2]), sum);
            }
        }
        y[n * y_stride_0 + c * y_stride_1 + i * y_stride_2 + j] = f16(sum);
    }
}
