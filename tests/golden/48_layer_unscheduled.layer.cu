// layer, schedule: chosen by the compiler
// y: tile n 1, m 32, i 4, j 32, c 8; 128 threads, 32 outputs each, ((32,4),(4,8)):((1,1024),(32,128))
// b: global memory; halo m [0, 0]
// w: 32 x 8 x 3 x 3 in shared memory, twice; halo m [0, 0], c [0, 0]
// x: 1 x 8 x 6 x 34 in shared memory, twice; halo n [0, 0], c [0, 0], i [1, 1], j [1, 1]
// shared memory: 33792 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) layer(
    In<float> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    In<float> w, Index w_stride_0, Index w_stride_1, Index w_stride_2,
    In<float> b,
    Out<float> y, Index y_stride_0, Index y_stride_1, Index y_stride_2,
    Index N, Index C, Index H, Index W, Index M
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index blocks_i = (H + 3) / 4;
    const Index blocks_m = (M + 31) / 32;
    const Index tile_n = floor_div(floor_div(block / blocks_j, blocks_i), blocks_m);
    const Index tile_m = floor_mod(floor_div(block / blocks_j, blocks_i), blocks_m) * 32;
    const Index tile_i = floor_mod(block / blocks_j, blocks_i) * 4;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 2 * 1 * 8 * 6 * 40);
    SHARED(float, w_tile, 2 * 32 * 8 * 3 * 3);
    float sum[32];
    UNROLL
    for (int item = 0; item < 32; ++item) {
        sum[item] = 0.0f;
    }
    const Index chunks = (C + 7) / 8;
    for (Index chunk = 0; chunk < chunks + 1; ++chunk) {
        copy_async_wait<0>();
        __syncthreads();
        if (chunk < chunks) {
            const int buffer = chunk % 2;
            const Index chunk_c = chunk * 8;
            for (int at = thread; at < 1 * 8 * 6 * 10; at += 128) {
                const Index x_n = tile_n;
                const Index x_c = chunk_c + at / 60;
                const Index x_i = tile_i + at / 10 % 6 - 1;
                const Index x_j = tile_j + at % 10 * 4 - 4;
                if (within(x_n, N) && within(x_c, C) && within(x_i, H) && x_j >= 0 && x_j + 4 <= W) {
                    copy_async16(x_tile + (buffer * 1920 + at * 4),
                        x + (x_n * x_stride_0 + x_c * x_stride_1 + x_i * x_stride_2 + x_j));
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_tile[buffer * 1920 + at * 4 + element] = x_n < N && x_c < C
                            ? (within(x_i, H) && within(x_j + element, W)
                            ? x[x_n * x_stride_0 + x_c * x_stride_1 + x_i * x_stride_2 + x_j + element]
                            : 0.0f) : 0.0f;
                    }
                }
            }
            for (int at = thread; at < 32 * 8 * 3 * 3; at += 128) {
                const Index w_m = tile_m + at / 72;
                const Index w_c = chunk_c + at / 9 % 8;
                const Index w_2 = at / 3 % 3;
                const Index w_3 = at % 3;
                if (w_m < M && w_c < C) {
                    copy_async4(w_tile + (buffer * 2304 + at),
                        w + (w_m * w_stride_0 + w_c * w_stride_1 + w_2 * w_stride_2 + w_3));
                } else {
                    w_tile[buffer * 2304 + at] = 0.0f;
                }
            }
            copy_async_commit();
        }
        if (chunk > 0) {
            const int buffer = (chunk + 1) % 2;
            const Index chunk_c = chunk * 8 - 8;
            const int count_c = minimum(chunk_c + 8, C) - chunk_c;
            for (int item_c = 0; item_c < count_c; ++item_c) {
                UNROLL
                for (int u = 0; u < 3; ++u) {
                    UNROLL
                    for (int v = 0; v < 3; ++v) {
                        float left[8];
                        UNROLL
                        for (int part = 0; part < 8; ++part) {
                            const int item_m = thread / 32 * 8 + part;
                            left[part] = w_tile[(((buffer * 32 + item_m) * 8 + item_c) * 3 + u) * 3 + v];
                        }
                        float right[4];
                        UNROLL
                        for (int part = 0; part < 4; ++part) {
                            const int item_i = part;
                            const int item_j = thread % 32;
                            right[part] = x_tile[((buffer * 8 + item_c) * 6 + item_i + u) * 40 + item_j + v
                                + 3];
                        }
                        UNROLL
                        for (int item = 0; item < 32; ++item) {
                            sum[item] = fma(left[item / 4], right[item % 4], sum[item]);
                        }
                    }
                }
            }
        }
    }

    UNROLL
    for (int item = 0; item < 32; ++item) {
        const int item_m = thread / 32 * 8 + item / 4;
        const int item_i = item % 4;
        const int item_j = thread % 32;
        const Index n = tile_n;
        const Index m = tile_m + item_m;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (n < N && m < M && i < H && j < W) {
            y[n * y_stride_0 + m * y_stride_1 + i * y_stride_2 + j] = maximum(b[m] + sum[item], 0.0f);
        }
    }
}
