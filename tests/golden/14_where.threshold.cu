// threshold, schedule: chosen by the compiler
// y, over: tile i 4, j 512; 128 threads, 16 outputs each, (128,(4,4)):(4,(1,512))
// x: 4 x 12 in registers; halo i [1, 1], j [1, 1]
// mean: 1 x 4 in registers; halo i [0, 0], j [0, 0]
// limit: global memory
#include "layoutc.cuh"

using Index = int;

// A thread takes 7 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void threshold_walk(
    In<float> x, Index x_stride_0,
    In<float> limit,
    Out<float> y, Index y_stride_0,
    Out<bool> over, Index over_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    float x_rows[48];
    UNROLL
    for (int k = 0; k < 48; ++k) {
        x_rows[k] = 0.0f;
    }

    float mean_row[4];
    UNROLL_BY(interior ? 7 : 1)
    for (int row = 0; row < 7; ++row) {
        const Index i = first_i + row - 3;
        if (row < 6) {
            const Index x_i = i + 2;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 4> part = load<4>(x + (x_i * x_stride_0 + j + piece * 4 - 4));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_rows[piece * 4 + element + 36] = part[element];
                    }
                }
            } else {
                const Index x_i_read = nearest(x_i, H);
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index x_j = j + piece * 4 - 4;
                    if (x_j >= 0 && x_j + 4 <= W) {
                        const Pack<float, 4> part = load<4>(x + (x_i_read * x_stride_0 + x_j));
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_rows[piece * 4 + element + 36] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_rows[piece * 4 + element + 36] =
                                x[x_i_read * x_stride_0 + nearest(x_j + element, W)];
                        }
                    }
                }
            }
        }
        UNROLL
        for (int at_1 = 0; at_1 < 4; ++at_1) {
            mean_row[at_1] = 0.2f
                * (x_rows[at_1 + 16] + x_rows[at_1 + 4] + x_rows[at_1 + 28] + x_rows[at_1 + 15]
                + x_rows[at_1 + 17]);
        }
        if (row >= 3) {
            float y_row[4];
            bool over_row[4];
            UNROLL
            for (int item = 0; item < 4; ++item) {
                y_row[item] = x_rows[item + 16] > mean_row[item] + limit[0] ? x_rows[item + 16] : 0.0f;
                over_row[item] = x_rows[item + 16] > mean_row[item] + limit[0] && !is_nan(mean_row[item]);
            }
            if (interior || (i < H && j + 3 < W)) {
                Pack<float, 4> part = Pack<float, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = y_row[k];
                }
                store(y + (i * y_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        y[i * y_stride_0 + j + item] = y_row[item];
                    }
                }
            }
            if (interior || (i < H && j + 3 < W)) {
                Pack<bool, 4> part = Pack<bool, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = over_row[k];
                }
                store(over + (i * over_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        over[i * over_stride_0 + j + item] = over_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 36; ++k) {
            x_rows[k] = x_rows[k + 12];
        }
    }
}

KERNEL(128) threshold(
    In<float> x, Index x_stride_0,
    In<float> limit,
    Out<float> y, Index y_stride_0,
    Out<bool> over, Index over_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 511) / 512;
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 512;
    const Index j = tile_j + thread * 4;
    const Index warp_j = tile_j + thread / 32 * 128;
    if (tile_i + 5 <= H && warp_j + 132 <= W && tile_i - 1 >= 0 && warp_j - 4 >= 0) {
        threshold_walk<true>(x, x_stride_0, limit, y, y_stride_0, over, over_stride_0, H, W, tile_i, j);
    } else {
        threshold_walk<false>(x, x_stride_0, limit, y, y_stride_0, over, over_stride_0, H, W, tile_i, j);
    }
}
