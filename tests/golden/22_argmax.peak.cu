// peak, schedule: chosen by the compiler
// at, is_peak: tile i 8, j 256; 128 threads, 16 outputs each, (128,(2,8)):(2,(1,256))
// x: 7 x 6 in registers; halo i [2, 2], j [2, 2]
#include "layoutc.cuh"

using Index = int;

// A thread takes 14 rows of 2 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void peak_walk(
    In<float> x, Index x_stride_0,
    Out<i64> at, Index at_stride_0,
    Out<bool> is_peak, Index is_peak_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    float x_rows[42];
    UNROLL
    for (int k = 0; k < 42; ++k) {
        x_rows[k] = 0.0f;
    }

    float is_peak_greatest[10];
    UNROLL
    for (int k = 0; k < 10; ++k) {
        is_peak_greatest[k] = -infinity<float>();
    }
    UNROLL_BY(interior ? 14 : 1)
    for (int row = 0; row < 14; ++row) {
        const Index i = first_i + row - 6;
        if (row < 12) {
            const Index x_i = i + 4;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 2> part = load<2>(x + (x_i * x_stride_0 + j + piece * 2 - 2));
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        x_rows[piece * 2 + element + 36] = part[element];
                    }
                }
            } else {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index x_j = j + piece * 2 - 2;
                    if (x_i >= 0 && x_i < H && x_j >= 0 && x_j + 2 <= W) {
                        const Pack<float, 2> part = load<2>(x + (x_i * x_stride_0 + x_j));
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            x_rows[piece * 2 + element + 36] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            x_rows[piece * 2 + element + 36] = within(x_i, H) && within(x_j + element, W)
                                ? x[x_i * x_stride_0 + x_j + element] : -infinity<float>();
                        }
                    }
                }
            }
        }
        UNROLL
        for (int u = 0; u < 5; ++u) {
            UNROLL
            for (int v = 0; v < 5; ++v) {
                UNROLL
                for (int item = 0; item < 2; ++item) {
                    is_peak_greatest[item - u * 2 + 8] = maximum(is_peak_greatest[item - u * 2 + 8],
                        x_rows[item + v + 24]);
                }
            }
        }
        if (row >= 6) {
            i64 at_row[2];
            bool is_peak_row[2];
            UNROLL
            for (int item = 0; item < 2; ++item) {
                float best = 0.0f;
                i64 place = 0ll;
                bool none_yet = true;
                UNROLL
                for (int u = 0; u < 5; ++u) {
                    UNROLL
                    for (int v = 0; v < 5; ++v) {
                        const float best_here = x_rows[u * 6 + item + v];
                        if (none_yet || (best_here > best || (is_nan(best_here) && !is_nan(best)))) {
                            best = best_here;
                            place = i64(u * 5 + v);
                            none_yet = false;
                        }
                    }
                }
                at_row[item] = place;
                is_peak_row[item] = x_rows[item + 14] >= is_peak_greatest[item];
            }
            if (interior || (i < H && j + 1 < W)) {
                Pack<i64, 2> part = Pack<i64, 2>();
                UNROLL
                for (int k = 0; k < 2; ++k) {
                    part[k] = at_row[k];
                }
                store(at + (i * at_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 2; ++item) {
                    if (i < H && j + item < W) {
                        at[i * at_stride_0 + j + item] = at_row[item];
                    }
                }
            }
            if (interior || (i < H && j + 1 < W)) {
                Pack<bool, 2> part = Pack<bool, 2>();
                UNROLL
                for (int k = 0; k < 2; ++k) {
                    part[k] = is_peak_row[k];
                }
                store(is_peak + (i * is_peak_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 2; ++item) {
                    if (i < H && j + item < W) {
                        is_peak[i * is_peak_stride_0 + j + item] = is_peak_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 36; ++k) {
            x_rows[k] = x_rows[k + 6];
        }
        UNROLL
        for (int k = 0; k < 8; ++k) {
            is_peak_greatest[k] = is_peak_greatest[k + 2];
        }
        UNROLL
        for (int k = 0; k < 2; ++k) {
            is_peak_greatest[k + 8] = -infinity<float>();
        }
    }
}

KERNEL(128) peak(
    In<float> x, Index x_stride_0,
    Out<i64> at, Index at_stride_0,
    Out<bool> is_peak, Index is_peak_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 255) / 256;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 256;
    const Index j = tile_j + thread * 2;
    const Index warp_j = tile_j + thread / 32 * 64;
    if (tile_i + 10 <= H && warp_j + 66 <= W && tile_i - 2 >= 0 && warp_j - 2 >= 0) {
        peak_walk<true>(x, x_stride_0, at, at_stride_0, is_peak, is_peak_stride_0, H, W, tile_i, j);
    } else {
        peak_walk<false>(x, x_stride_0, at, at_stride_0, is_peak, is_peak_stride_0, H, W, tile_i, j);
    }
}
