// grouped, schedule: default
// y: tile n 1, g 1, k 4, i 4, j 8, c 2; 32 threads, 4 outputs each, (32,4):(1,32)
// b: global memory; halo g [0, 0], k [0, 0]
// w: 1 x 4 x 2 x 3 x 3 in shared memory; halo g [0, 0], k [0, 0], c [0, 0]
// x: 1 x 1 x 2 x 9 x 17 in shared memory, twice; halo n [0, 0], g [0, 0], c [0, 0], i [0, 2], j [0, 2]
// shared memory: 1368 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(32) grouped(
    In<f16> x, Index x_stride_0, Index x_stride_1, Index x_stride_2, Index x_stride_3,
    In<f16> w, Index w_stride_0, Index w_stride_1, Index w_stride_2, Index w_stride_3,
    In<f16> b, Index b_stride_0,
    Out<f16> y, Index y_stride_0, Index y_stride_1, Index y_stride_2, Index y_stride_3,
    Index N, Index G, Index C, Index H, Index W, Index K
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W / 2 + 7) / 8;
    const Index blocks_i = (H / 2 + 3) / 4;
    const Index blocks_k = (K + 3) / 4;
    const Index tile_n = block / blocks_j / blocks_i / blocks_k / G;
    const Index tile_g = block / blocks_j / blocks_i / blocks_k % G;
    const Index tile_k = block / blocks_j / blocks_i % blocks_k * 4;
    const Index tile_i = block / blocks_j % blocks_i * 4;
    const Index tile_j = block % blocks_j * 8;
    SHARED(f16, x_tile, 2 * 1 * 1 * 2 * 9 * 17);
    SHARED(f16, w_tile, 1 * 4 * 2 * 3 * 3);
    float sum[4];
    UNROLL
    for (int item = 0; item < 4; ++item) {
        sum[item] = 0.0f;
    }

    const Index chunks = (C + 1) / 2;
    for (Index chunk = 0; chunk < chunks + 1; ++chunk) {
        __syncthreads();
        f16 x_next[10];
        if (chunk < chunks) {
            const Index chunk_c = chunk * 2;
            UNROLL
            for (int turn = 0; turn < 10; ++turn) {
                const int at = turn * 32 + thread;
                if (at < 306) {
                    const Index x_c = chunk_c + at / 153;
                    const Index x_i = tile_i * 2 + at / 17 % 9;
                    const Index x_j = tile_j * 2 + at % 17;
                    x_next[turn] = tile_n < N && tile_g < G && x_c < C
                        ? (x_i < H && x_j < W
                        ? x[tile_n * x_stride_0 + tile_g * x_stride_1 + x_c * x_stride_2 + x_i * x_stride_3
                        + x_j] : f16(0.0f)) : f16(0.0f);
                }
            }
        }
        if (chunk > 0) {
            const int buffer = (chunk + 1) % 2;
            const Index chunk_c = chunk * 2 - 2;
            for (int at = thread; at < 1 * 4 * 2 * 3 * 3; at += 32) {
                const Index w_k = tile_k + at / 18;
                const Index w_c = chunk_c + at / 9 % 2;
                const Index w_3 = at / 3 % 3;
                const Index w_4 = at % 3;
                w_tile[at] = tile_g < G && w_k < K && w_c < C
                    ? w[tile_g * w_stride_0 + w_k * w_stride_1 + w_c * w_stride_2 + w_3 * w_stride_3 + w_4]
                    : f16(0.0f);
            }
            __syncthreads();
            const int count_c = minimum(chunk_c + 2, C) - chunk_c;
            for (int item_c = 0; item_c < count_c; ++item_c) {
                UNROLL
                for (int u = 0; u < 3; ++u) {
                    UNROLL
                    for (int v = 0; v < 3; ++v) {
                        const int item_i = thread / 8;
                        const int item_j = thread % 8;
                        const float right = float(x_tile[((buffer * 2 + item_c) * 9 + item_i * 2 + u) * 17
                            + item_j * 2 + v]);
                        UNROLL
                        for (int item = 0; item < 4; ++item) {
                            sum[item] = fma(float(w_tile[((item * 2 + item_c) * 3 + u) * 3 + v]), right,
                                sum[item]);
                        }
                    }
                }
            }
        }
        if (chunk < chunks) {
            const int buffer = chunk % 2;
            UNROLL
            for (int turn = 0; turn < 10; ++turn) {
                const int at = turn * 32 + thread;
                if (at < 306) {
                    x_tile[buffer * 306 + at] = x_next[turn];
                }
            }
        }
    }
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = thread / 8;
        const int item_j = thread % 8;
        const Index n = tile_n;
        const Index g = tile_g;
        const Index k = tile_k + item;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (n < N && g < G && k < K && i < H / 2 && j < W / 2) {
            y[n * y_stride_0 + g * y_stride_1 + k * y_stride_2 + i * y_stride_3 + j] =
                f16(maximum(float(b[g * b_stride_0 + k]) + sum[item], 0.0f));
        }
    }
}
