// edges_and_rows, schedule: chosen by the compiler
// steepness: tile i 4, j 512; 128 threads, 16 outputs each, (128,(4,4)):(4,(1,512))
// x: 2 x 12 in registers; halo i [0, 0], j [1, 1]
// highest: tile i 32; 512 threads, 1 output each, ((32,16),1):((1,0),1)
// 16 threads an output; they meet in shared memory
// blocks that share an output: maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1); the last one joins what all have
// x: global memory
// shared memory: 2049 bytes
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
        x_rows[k] = 0.0f;
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
                            x_rows[piece * 4 + element + 12] =
                                x[x_i_read * x_stride_0 + nearest(x_j + element, W)];
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
            if (interior || (i < H && j + 3 < W)) {
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
    const Index j = tile_j + thread * 4;
    const Index warp_j = tile_j + thread / 32 * 128;
    if (tile_i + 4 <= H && warp_j + 132 <= W && warp_j - 4 >= 0) {
        edges_and_rows_walk<true>(x, x_stride_0, steepness, steepness_stride_0, H, W, tile_i, j);
    } else {
        edges_and_rows_walk<false>(x, x_stride_0, steepness, steepness_stride_0, H, W, tile_i, j);
    }
}

KERNEL(512, 2) edges_and_rows_highest(
    In<float> x, Index x_stride_0,
    Out<float> highest,
    Index H, Index W,
    Parts<float> edges_and_rows_highest_greatest,
    Out<unsigned> edges_and_rows_highest_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1);
    const Index blocks_i = (H + 31) / 32;
    const Index part = block / blocks_i;
    const Index i = block % blocks_i * 32 + thread % 32;
    const int worker = thread / 32;
    float greatest = -infinity<float>();
    const Index j_end = i < H ? W : 0;
    UNROLL_BY(8)
    for (Index j = part * 16 + worker; j < j_end; j += parts * 16) {
        greatest = maximum(greatest, x[i * x_stride_0 + j]);
    }

    SHARED(float, greatest_of_group, 16 * 32);
    greatest_of_group[thread / 32 * 32 + thread % 32] = greatest;
    __syncthreads();
    if (worker == 0) {
        greatest = greatest_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const float greatest_there = greatest_of_group[group * 32 + thread % 32];
            greatest = maximum(greatest, greatest_there);
        }
    }
    if (worker == 0 && i < H) {
        if (parts == 1) {
            highest[i] = greatest;
        } else {
            edges_and_rows_highest_greatest[part * H + i] = greatest;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(edges_and_rows_highest_arrived + block % blocks_i, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float greatest_2 = -infinity<float>();
            const Index part_end = i < H ? parts : 0;
            UNROLL_BY(8)
            for (Index part_2 = worker; part_2 < part_end; part_2 += 16) {
                const float greatest_there = fetch(edges_and_rows_highest_greatest + (part_2 * H + i));
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            greatest_of_group[thread / 32 * 32 + thread % 32] = greatest_2;
            __syncthreads();
            if (worker == 0) {
                greatest_2 = greatest_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const float greatest_there = greatest_of_group[group * 32 + thread % 32];
                    greatest_2 = maximum(greatest_2, greatest_there);
                }
            }
            if (worker == 0 && i < H) {
                highest[i] = greatest_2;
            }
        }
    }
}
