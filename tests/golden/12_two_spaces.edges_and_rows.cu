// edges_and_rows, schedule: chosen by the compiler
// steepness: tile i 4, j 512; 128 threads, 16 outputs each, (128,(4,4)):(4,(1,512))
// x: 2 x 12 in registers; halo i [0, 0], j [1, 1]
// highest: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

// A thread takes 5 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void edges_and_rows_walk(
    In<float> x, Index x_stride_0,
    Out<float> steepness, Index steepness_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    float x_rows[24];
    UNROLL
    for (int k = 0; k < 24; ++k) {
        x_rows[k] = 0;
    }
    UNROLL_BY(interior ? 5 : 1)
    for (int row = 0; row < 5; ++row) {
        const Index i = first_i + row - 1;
        if (row < 4) {
            const Index x_i = i + 1;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 4> part = load<4>(x + (x_i * x_stride_0 + j + piece * 4 - 4));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_rows[piece * 4 + element + 12] = part[element];
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
                            x_rows[piece * 4 + element + 12] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_rows[piece * 4 + element + 12] = x[x_i_read * x_stride_0
                                + nearest(x_j + element, W)];
                        }
                    }
                }
            }
        }
        if (row >= 1) {
            float steepness_row[4];
            UNROLL
            for (int item = 0; item < 4; ++item) {
                steepness_row[item] = absolute(x_rows[item + 5] - x_rows[item + 3]);
            }
            if (interior || i < H && j + 3 < W) {
                Pack<float, 4> part = Pack<float, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = steepness_row[k];
                }
                store(steepness + (i * steepness_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        steepness[i * steepness_stride_0 + j + item] = steepness_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 12; ++k) {
            x_rows[k] = x_rows[k + 12];
        }
    }
}

KERNEL(128) edges_and_rows(
    In<float> x, Index x_stride_0,
    Out<float> steepness, Index steepness_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 511) / 512;
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 512;
    const Index first_i = tile_i;
    const Index j = tile_j + thread * 4;
    const Index warp_j = tile_j + thread / 32 * 128;
    if (first_i + 4 <= H && warp_j + 132 <= W && warp_j - 4 >= 0) {
        edges_and_rows_walk<true>(x, x_stride_0, steepness, steepness_stride_0, H, W, first_i, j);
    } else {
        edges_and_rows_walk<false>(x, x_stride_0, steepness, steepness_stride_0, H, W, first_i, j);
    }
}

KERNEL(256) edges_and_rows_highest(
    In<float> x, Index x_stride_0,
    Out<float> highest,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < H) {
            float greatest = -infinity<float>();
            for (Index j = 0; j < W; ++j) {
                greatest = maximum(greatest, x[i * x_stride_0 + j]);
            }
            highest[i] = greatest;
        }
    }
}
