// layer, schedule: chosen by the compiler
// y: tile n × i × j 64, m 128, c 2; 128 threads, 64 outputs each, warps 4 x 1, lanes 4 x 8, outputs 8 x 8
// b: global memory; halo m [0, 0]
// w: 128 x 18 in shared memory, twice; halo m [0, 0], c [0, 0]
// x: 18 x 64 in shared memory, twice; halo n [0, 0], c [0, 0], i [1, 1], j [1, 1]
// shared memory: 27648 bytes
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
    const Index blocks_column = (N * H * W + 63) / 64;
    const Index tile_m = block / blocks_column * 128;
    const Index tile_column = block % blocks_column * 64;
    Index w_first[32];
    UNROLL
    for (int slot = 0; slot < 32; ++slot) {
        const Index m = tile_m + thread / 32 + slot * 4;
        w_first[slot] = m * w_stride_0;
    }

    const Index column = tile_column + thread % 64;
    const Index n = column / W / H;
    const Index i = column / W % H;
    const Index j = column % W;
    const Index x_first = n * x_stride_0 + i * x_stride_2 + j;
    SHARED(float, w_tile, 2 * 2304);
    SHARED(float, x_tile, 2 * 1152);
    const int m_of_thread = thread / 32 * 32 + thread % 2 + thread / 16 % 2 * 2;
    const int column_of_thread = thread / 2 % 8 * 4;
    float sum[64];
    UNROLL
    for (int item = 0; item < 64; ++item) {
        sum[item] = 0.0f;
    }

    const Index chunks = (C + 1) / 2;
    for (Index chunk = 0; chunk < chunks + 1; ++chunk) {
        copy_async_wait<0>();
        __syncthreads();
        if (chunk < chunks) {
            const int buffer = chunk % 2;
            const Index chunk_c = chunk * 2;
            const int count_c = minimum(chunk_c + 2, C) - chunk_c;
            UNROLL
            for (int slot = 0; slot < 32; ++slot) {
                if (thread % 32 < 18) {
                    const Index m = tile_m + thread / 32 + slot * 4;
                    const Index c = chunk_c + thread % 32 / 9;
                    const Index u = thread % 32 / 3 % 3;
                    const Index v = thread % 32 % 3;
                    copy_async4(w_tile + (buffer * 2304 + thread / 32 * 18 + slot * 72 + thread % 32),
                        w + (w_first[slot] + c * w_stride_1 + u * w_stride_2 + v),
                        m < M && thread % 32 / 9 < count_c ? 4 : 0);
                }
            }
            UNROLL
            for (int turn = 0; turn < 9; ++turn) {
                const Index column = tile_column + thread % 64;
                const Index c = chunk_c + (thread / 64 + turn * 2) / 9;
                const Index u = (thread / 64 + turn * 2) / 3 % 3;
                const Index v = (thread / 64 + turn * 2) % 3;
                const Index x_at = i + u - 1;
                const Index x_at_2 = j + v - 1;
                copy_async4(x_tile + (buffer * 1152 + thread / 64 * 64 + turn * 128 + thread % 64),
                    x + (x_first + c * x_stride_1 + (u - 1) * x_stride_2 + v - 1),
                    column < N * H * W && (thread / 64 + turn * 2) / 9 < count_c && within(x_at, H)
                    && within(x_at_2, W) ? 4 : 0);
            }
            copy_async_commit();
        }
        if (chunk > 0) {
            const int buffer = (chunk + 1) % 2;
            const Index chunk_c = chunk * 2 - 2;
            const int count_c = minimum(chunk_c + 2, C) - chunk_c;
            const int whole = count_c * 9 / 2 * 2;
            UNROLL_BY(4)
            for (int step = 0; step < whole; step += 2) {
                Pack<float, 2> left[8];
                UNROLL
                for (int part = 0; part < 8; ++part) {
                    left[part] = load<2>(w_tile + (buffer * 2304 + m_of_thread * 18 + part * 72 + step));
                }
                Pack<float, 4> right[4];
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    right[part] = load<4>(x_tile
                        + (buffer * 1152 + (step + part / 2) * 64 + column_of_thread + part % 2 * 32));
                }
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    UNROLL
                    for (int item = 0; item < 64; ++item) {
                        sum[item] = fma(left[item / 8][element], right[element * 2 + item / 4 % 2][item % 4],
                            sum[item]);
                    }
                }
            }
            UNROLL_BY(1)
            for (int step = whole; step < count_c * 9; step += 1) {
                float left[8];
                UNROLL
                for (int part = 0; part < 8; ++part) {
                    left[part] = w_tile[buffer * 2304 + m_of_thread * 18 + part * 72 + step];
                }
                Pack<float, 4> right[2];
                UNROLL
                for (int part = 0; part < 2; ++part) {
                    right[part] = load<4>(x_tile
                        + (buffer * 1152 + step * 64 + column_of_thread + part * 32));
                }
                UNROLL
                for (int item = 0; item < 64; ++item) {
                    sum[item] = fma(left[item / 8], right[item / 4 % 2][item % 4], sum[item]);
                }
            }
        }
    }
    UNROLL
    for (int column_item = 0; column_item < 2; ++column_item) {
        const Index column = tile_column + column_of_thread + column_item * 32;
        const Index n = column / W / H;
        const Index i = column / W % H;
        const Index j = column % W;
        UNROLL
        for (int row_item = 0; row_item < 8; ++row_item) {
            const Index m = tile_m + m_of_thread + row_item * 4;
            if (m < M) {
                if (column + 3 < N * H * W && j % 4 == 0 && j + 3 < W) {
                    Pack<float, 4> y_run = Pack<float, 4>();
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        y_run[element] = maximum(b[m] + sum[row_item * 8 + column_item * 4 + element], 0.0f);
                    }
                    store(y + (n * y_stride_0 + m * y_stride_1 + i * y_stride_2 + j), y_run);
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        const Index column = tile_column + column_of_thread + element + column_item * 32;
                        const Index n = column / W / H;
                        const Index i = column / W % H;
                        const Index j = column % W;
                        if (column < N * H * W) {
                            y[n * y_stride_0 + m * y_stride_1 + i * y_stride_2 + j] =
                                maximum(b[m] + sum[row_item * 8 + column_item * 4 + element], 0.0f);
                        }
                    }
                }
            }
        }
    }
}
