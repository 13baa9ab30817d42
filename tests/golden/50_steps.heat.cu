// heat, schedule: chosen by the compiler
// v: tile i 4, j 256; 128 threads, 8 outputs each, (128,(2,4)):(2,(1,256))
// u: 4 x 6 in registers; halo i [1, 1], j [1, 1]
// c: global memory
#include "layoutc.cuh"

using Index = int;

// A thread takes 7 rows of 2 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void heat_walk(
    In<double> u, Index u_stride_0,
    In<double> c,
    Out<double> v, Index v_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    double u_rows[24];
    UNROLL
    for (int k = 0; k < 24; ++k) {
        u_rows[k] = 0.0;
    }
    UNROLL_BY(interior ? 7 : 1)
    for (int row = 0; row < 7; ++row) {
        const Index i = first_i + row - 3;
        if (row < 6) {
            const Index u_i = i + 2;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<double, 2> part = load<2>(u + (u_i * u_stride_0 + j + piece * 2 - 2));
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        u_rows[piece * 2 + element + 18] = part[element];
                    }
                }
            } else {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index u_j = j + piece * 2 - 2;
                    if (u_i >= 0 && u_i < H && u_j >= 0 && u_j + 2 <= W) {
                        const Pack<double, 2> part = load<2>(u + (u_i * u_stride_0 + u_j));
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            u_rows[piece * 2 + element + 18] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            u_rows[piece * 2 + element + 18] = within(u_i, H) && within(u_j + element, W)
                                ? u[u_i * u_stride_0 + u_j + element] : 0.0;
                        }
                    }
                }
            }
        }
        if (row >= 3) {
            double v_row[2];
            UNROLL
            for (int item = 0; item < 2; ++item) {
                v_row[item] = u_rows[item + 8]
                    + c[0] * (u_rows[item + 2] + u_rows[item + 14] + u_rows[item + 7]
                    + u_rows[item + 9] - 4.0 * u_rows[item + 8]);
            }
            if (interior || (i < H && j + 1 < W)) {
                Pack<double, 2> part = Pack<double, 2>();
                UNROLL
                for (int k = 0; k < 2; ++k) {
                    part[k] = v_row[k];
                }
                store(v + (i * v_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 2; ++item) {
                    if (i < H && j + item < W) {
                        v[i * v_stride_0 + j + item] = v_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 18; ++k) {
            u_rows[k] = u_rows[k + 6];
        }
    }
}

KERNEL(128) heat(
    In<double> u, Index u_stride_0,
    In<double> c,
    Out<double> v, Index v_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 255) / 256;
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 256;
    const Index j = tile_j + thread * 2;
    const Index warp_j = tile_j + thread / 32 * 64;
    if (tile_i + 5 <= H && warp_j + 66 <= W && tile_i - 1 >= 0 && warp_j - 2 >= 0) {
        heat_walk<true>(u, u_stride_0, c, v, v_stride_0, H, W, tile_i, j);
    } else {
        heat_walk<false>(u, u_stride_0, c, v, v_stride_0, H, W, tile_i, j);
    }
}
