// gaussian, schedule: chosen by the compiler
// y: tile i 8, j 512; 128 threads, 32 outputs each, (128,(4,8)):(4,(1,512))
// w: 9 in registers
// g: 1 x 12 in registers; halo i [0, 0], j [4, 4]
// v: 9 in registers
// x: 9 x 12 in registers; halo i [4, 4], j [4, 4]
#include "layoutc.cuh"

using Index = int;

// A thread takes 16 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void gaussian_walk(
    In<float> x, Index x_stride_0,
    In<float> v,
    In<float> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    float v_held[9];
    UNROLL
    for (int at = 0; at < 9; ++at) {
        v_held[at] = v[at];
    }

    float w_held[9];
    UNROLL
    for (int at = 0; at < 9; ++at) {
        w_held[at] = w[at];
    }

    float x_rows[108];
    UNROLL
    for (int k = 0; k < 108; ++k) {
        x_rows[k] = 0.0f;
    }

    float g_row[12];
    UNROLL_BY(interior ? 16 : 1)
    for (int row = 0; row < 16; ++row) {
        const Index i = first_i + row - 8;
        const Index x_i = i + 4;
        if (interior) {
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                const Pack<float, 4> part = load<4>(x + (x_i * x_stride_0 + j + piece * 4 - 4));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_rows[piece * 4 + element + 96] = part[element];
                }
            }
        } else {
            const Index x_i_read = reflect(x_i, H);
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                const Index x_j = j + piece * 4 - 4;
                if (x_j >= 0 && x_j + 4 <= W) {
                    const Pack<float, 4> part = load<4>(x + (x_i_read * x_stride_0 + x_j));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_rows[piece * 4 + element + 96] = part[element];
                    }
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_rows[piece * 4 + element + 96] =
                            x[x_i_read * x_stride_0 + reflect(x_j + element, W)];
                    }
                }
            }
        }
        UNROLL
        for (int at_1 = 0; at_1 < 12; ++at_1) {
            float sum = 0.0f;
            UNROLL
            for (int a = 0; a < 9; ++a) {
                sum = fma(v_held[a], x_rows[a * 12 + at_1], sum);
            }
            g_row[at_1] = sum;
        }
        if (row >= 8) {
            float y_row[4];
            UNROLL
            for (int item = 0; item < 4; ++item) {
                float sum = 0.0f;
                UNROLL
                for (int b = 0; b < 9; ++b) {
                    sum = fma(w_held[b], g_row[item + b], sum);
                }
                y_row[item] = sum;
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
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 96; ++k) {
            x_rows[k] = x_rows[k + 12];
        }
    }
}

KERNEL(128) gaussian(
    In<float> x, Index x_stride_0,
    In<float> v,
    In<float> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 511) / 512;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 512;
    const Index j = tile_j + thread * 4;
    const Index warp_j = tile_j + thread / 32 * 128;
    if (tile_i + 12 <= H && warp_j + 132 <= W && tile_i - 4 >= 0 && warp_j - 4 >= 0) {
        gaussian_walk<true>(x, x_stride_0, v, w, y, y_stride_0, H, W, tile_i, j);
    } else {
        gaussian_walk<false>(x, x_stride_0, v, w, y, y_stride_0, H, W, tile_i, j);
    }
}
