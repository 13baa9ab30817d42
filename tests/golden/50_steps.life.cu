// life, schedule: chosen by the compiler
// after: tile i 4, j 1024; 128 threads, 32 outputs each, (128,(8,4)):(8,(1,1024))
// around: 1 x 8 in registers; halo i [0, 0], j [0, 0]
// cell: 4 x 24 in registers; halo i [1, 1], j [1, 1]
// living: tile one output; 1 threads, 1 output each, (1,1):(1,1)
// cell: global memory
#include "layoutc.cuh"

using Index = int;

// A thread takes 7 rows of 8 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void life_walk(
    In<u8> cell, Index cell_stride_0,
    Out<u8> after, Index after_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    u8 cell_rows[96];
    UNROLL
    for (int k = 0; k < 96; ++k) {
        cell_rows[k] = 0;
    }
    int around_row[8];
    UNROLL_BY(interior ? 7 : 1)
    for (int row = 0; row < 7; ++row) {
        const Index i = first_i + row - 3;
        if (row < 6) {
            const Index cell_i = i + 2;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<u8, 8> part = load<8>(cell + (cell_i * cell_stride_0 + j + piece * 8 - 8));
                    UNROLL
                    for (int element = 0; element < 8; ++element) {
                        cell_rows[piece * 8 + element + 72] = part[element];
                    }
                }
            } else {
                const Index cell_i_read = wrap(cell_i, H);
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index cell_j = j + piece * 8 - 8;
                    if (cell_j >= 0 && cell_j + 8 <= W) {
                        const Pack<u8, 8> part = load<8>(cell + (cell_i_read * cell_stride_0 + cell_j));
                        UNROLL
                        for (int element = 0; element < 8; ++element) {
                            cell_rows[piece * 8 + element + 72] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 8; ++element) {
                            cell_rows[piece * 8 + element + 72] = cell[cell_i_read * cell_stride_0
                                + wrap(cell_j + element, W)];
                        }
                    }
                }
            }
        }
        UNROLL
        for (int at_1 = 0; at_1 < 8; ++at_1) {
            int sum = 0;
            UNROLL
            for (int u = -1; u < 2; ++u) {
                UNROLL
                for (int v = -1; v < 2; ++v) {
                    sum = add(sum, int(cell_rows[u * 24 + at_1 + v + 32]));
                }
            }
            around_row[at_1] = sub(sum, int(cell_rows[at_1 + 32]));
        }
        if (row >= 3) {
            u8 after_row[8];
            UNROLL
            for (int item = 0; item < 8; ++item) {
                after_row[item] = u8(around_row[item] == 3
                    || around_row[item] == 2 && int(cell_rows[item + 32]) == 1);
            }
            if (interior || i < H && j + 7 < W) {
                Pack<u8, 8> part = Pack<u8, 8>();
                UNROLL
                for (int k = 0; k < 8; ++k) {
                    part[k] = after_row[k];
                }
                store(after + (i * after_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 8; ++item) {
                    if (i < H && j + item < W) {
                        after[i * after_stride_0 + j + item] = after_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 72; ++k) {
            cell_rows[k] = cell_rows[k + 24];
        }
    }
}

KERNEL(128) life(
    In<u8> cell, Index cell_stride_0,
    Out<u8> after, Index after_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 1023) / 1024;
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 1024;
    const Index first_i = tile_i;
    const Index j = tile_j + thread * 8;
    const Index warp_j = tile_j + thread / 32 * 256;
    if (first_i + 5 <= H && warp_j + 264 <= W && first_i - 1 >= 0 && warp_j - 8 >= 0) {
        life_walk<true>(cell, cell_stride_0, after, after_stride_0, H, W, first_i, j);
    } else {
        life_walk<false>(cell, cell_stride_0, after, after_stride_0, H, W, first_i, j);
    }
}

KERNEL(1) life_living(
    In<u8> cell, Index cell_stride_0,
    Out<i64> living,
    Index H, Index W
) {
    i64 count = 0ll;
    for (Index i = 0; i < H; ++i) {
        for (Index j = 0; j < W; ++j) {
            count = count + i64(int(cell[i * cell_stride_0 + j]) == 1);
        }
    }
    living[0] = count;
}
