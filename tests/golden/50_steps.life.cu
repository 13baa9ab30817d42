// life, schedule: chosen by the compiler
// after: tile i 8, j 512; 64 threads, 64 outputs each, (64,(8,8)):(8,(1,512))
// around: 1 x 8 in registers; halo i [0, 0], j [0, 0]
// cell: 5 x 24 in registers; halo i [1, 1], j [1, 1]
// living: tile one output; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output, 16 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(264, floor_div(W / 16 * i64(H) + 2047, 2048)), floor_div(W / 16 * i64(H) + 8191, 8192)), 1); the last one joins what all have
// cell: global memory
// shared memory: 129 bytes
#include "layoutc.cuh"

using Index = int;

// A thread takes 12 rows of 8 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void life_walk(
    In<u8> cell, Index cell_stride_0,
    Out<u8> after, Index after_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    u8 cell_rows[120];
    UNROLL
    for (int k = 0; k < 120; ++k) {
        cell_rows[k] = 0;
    }

    int around_row[8];
    UNROLL_BY(interior ? 12 : 1)
    for (int row = 0; row < 12; ++row) {
        const Index i = first_i + row - 4;
        if (row < 10) {
            const Index cell_i = i + 3;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<u8, 8> part = load<8>(cell + (cell_i * cell_stride_0 + j + piece * 8 - 8));
                    UNROLL
                    for (int element = 0; element < 8; ++element) {
                        cell_rows[piece * 8 + element + 96] = part[element];
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
                            cell_rows[piece * 8 + element + 96] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 8; ++element) {
                            cell_rows[piece * 8 + element + 96] =
                                cell[cell_i_read * cell_stride_0 + wrap(cell_j + element, W)];
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
        if (row >= 4) {
            u8 after_row[8];
            UNROLL
            for (int item = 0; item < 8; ++item) {
                after_row[item] = u8(around_row[item] == 3
                    || (around_row[item] == 2 && int(cell_rows[item + 32]) == 1));
            }
            if (interior || (i < H && j + 7 < W)) {
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
        for (int k = 0; k < 96; ++k) {
            cell_rows[k] = cell_rows[k + 24];
        }
    }
}

KERNEL(64) life(
    In<u8> cell, Index cell_stride_0,
    Out<u8> after, Index after_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 511) / 512;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 512;
    const Index j = tile_j + thread * 8;
    const Index warp_j = tile_j + thread / 32 * 256;
    if (tile_i + 9 <= H && warp_j + 264 <= W && tile_i - 1 >= 0 && warp_j - 8 >= 0) {
        life_walk<true>(cell, cell_stride_0, after, after_stride_0, H, W, tile_i, j);
    } else {
        life_walk<false>(cell, cell_stride_0, after, after_stride_0, H, W, tile_i, j);
    }
}

KERNEL(512) life_living(
    In<u8> cell, Index cell_stride_0,
    Out<i64> living,
    Index H, Index W,
    Parts<i64> life_living_count,
    Out<unsigned> life_living_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(264, floor_div(W / 16 * i64(H) + 2047, 2048)),
        floor_div(W / 16 * i64(H) + 8191, 8192)), 1);
    i64 count_run[16];
    UNROLL
    for (int element = 0; element < 16; ++element) {
        count_run[element] = 0ll;
    }

    const Index j_whole = W / 16 * 16;
    const Index j_count = j_whole / 16;
    const i64 runs = i64(H) * j_count;
    const i64 first = i64(block) * 512 + thread;
    const i64 step = i64(parts) * 512;
    Index i = first / maximum(j_count, 1);
    const Index i_step = step / maximum(j_count, 1);
    Index j_run = first % maximum(j_count, 1);
    const Index j_run_step = step % maximum(j_count, 1);
    UNROLL_BY(4)
    for (i64 run = first; run < runs; run += step) {
        const Index j = j_run * 16;
        const Pack<u8, 16> cell_run = load<16>(cell + (i * cell_stride_0 + j));
        UNROLL
        for (int element = 0; element < 16; ++element) {
            count_run[element] = add(count_run[element], i64(int(cell_run[element]) == 1));
        }
        i = i + i_step;
        j_run = j_run + j_run_step;
        if (j_run >= j_count) {
            j_run = j_run - j_count;
            i = i + 1;
        }
    }
    if (j_whole < W) {
        const Index j_count_2 = W - j_whole;
        const i64 runs_2 = i64(H) * j_count_2;
        Index i_2 = first / maximum(j_count_2, 1);
        const Index i_2_step = step / maximum(j_count_2, 1);
        Index j_place = first % maximum(j_count_2, 1);
        const Index j_place_step = step % maximum(j_count_2, 1);
        for (i64 run = first; run < runs_2; run += step) {
            const Index j = j_whole + j_place;
            count_run[0] = add(count_run[0], i64(int(cell[i_2 * cell_stride_0 + j]) == 1));
            i_2 = i_2 + i_2_step;
            j_place = j_place + j_place_step;
            if (j_place >= j_count_2) {
                j_place = j_place - j_count_2;
                i_2 = i_2 + 1;
            }
        }
    }

    i64 count = count_run[0];
    UNROLL
    for (int element = 1; element < 16; ++element) {
        count = add(count, count_run[element]);
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const i64 count_there = shuffle(0xffffffffu, count, lane ^ distance, 32);
        count = add(count, count_there);
    }

    SHARED(i64, count_of_warp, 16);
    if (lane == 0) {
        count_of_warp[thread / 32] = count;
    }
    __syncthreads();
    count = count_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const i64 count_there = shuffle(0xffffffffu, count, lane ^ distance, 16);
        count = add(count, count_there);
    }
    if (thread == 0) {
        if (parts == 1) {
            living[0] = count;
        } else {
            life_living_count[block] = count;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(life_living_arrived, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            i64 count_2 = 0ll;
            UNROLL_BY(4)
            for (Index part = thread; part < parts; part += 512) {
                const i64 count_there = fetch(life_living_count + part);
                count_2 = add(count_2, count_there);
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const i64 count_there = shuffle(0xffffffffu, count_2, lane ^ distance, 32);
                count_2 = add(count_2, count_there);
            }
            if (lane == 0) {
                count_of_warp[thread / 32] = count_2;
            }
            __syncthreads();
            count_2 = count_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const i64 count_there = shuffle(0xffffffffu, count_2, lane ^ distance, 16);
                count_2 = add(count_2, count_there);
            }
            if (thread == 0) {
                living[0] = count_2;
            }
        }
    }
}
