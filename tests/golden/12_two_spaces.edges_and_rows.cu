// edges_and_rows, schedule: chosen by the compiler
// steepness: tile i 4, j 512; 128 threads, 16 outputs each, (128,(4,4)):(4,(1,512))
// x: 2 x 12 in registers; halo i [0, 0], j [1, 1]
// highest: tile i 1; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output, 4 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(528 / maximum(H, 1), (W / 4 + 2047) / 2048), (W / 4 + 8191) / 8192), 1); the last one joins what all have
// x: global memory
// shared memory: 65 bytes
// highest: tile i 16; 512 threads, 1 output each, ((32,16),1):((0,1),0)
// up to 16 runs of elements a thread: 32 threads an output, 4 elements side by side; they meet by shuffles
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

KERNEL(512) edges_and_rows_highest(
    In<float> x, Index x_stride_0,
    Out<float> highest,
    Index H, Index W,
    Parts<float> edges_and_rows_highest_greatest,
    Out<unsigned> edges_and_rows_highest_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(528 / maximum(H, 1), (W / 4 + 2047) / 2048),
        (W / 4 + 8191) / 8192), 1);
    const Index part = block % parts;
    const Index i = block / parts;
    float greatest_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        greatest_run[element] = -infinity<float>();
    }

    const Index j_whole = W / 4 * 4;
    UNROLL_BY(4)
    for (Index j = part * 2048 + thread * 4; j < j_whole; j += parts * 2048) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            greatest_run[element] = maximum(greatest_run[element], x_run[element]);
        }
    }
    for (Index j = j_whole + thread + part * 512; j < W; j += parts * 512) {
        greatest_run[0] = maximum(greatest_run[0], x[i * x_stride_0 + j]);
    }

    float greatest = greatest_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        greatest = maximum(greatest, greatest_run[element]);
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 32);
        greatest = maximum(greatest, greatest_there);
    }

    SHARED(float, greatest_of_warp, 16);
    if (lane == 0) {
        greatest_of_warp[thread / 32] = greatest;
    }
    __syncthreads();
    greatest = greatest_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 16);
        greatest = maximum(greatest, greatest_there);
    }
    if (thread == 0) {
        if (parts == 1) {
            highest[i] = greatest;
        } else {
            edges_and_rows_highest_greatest[i * parts + part] = greatest;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(edges_and_rows_highest_arrived + block / parts, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float greatest_2 = -infinity<float>();
            UNROLL_BY(4)
            for (Index part_2 = thread; part_2 < parts; part_2 += 512) {
                const float greatest_there = fetch(edges_and_rows_highest_greatest + (i * parts + part_2));
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 32);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (lane == 0) {
                greatest_of_warp[thread / 32] = greatest_2;
            }
            __syncthreads();
            greatest_2 = greatest_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const float greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 16);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (thread == 0) {
                highest[i] = greatest_2;
            }
        }
    }
}

KERNEL(512) edges_and_rows_highest_short(
    In<float> x, Index x_stride_0,
    Out<float> highest,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index i = block * 16 + thread / 32;
    const int worker = thread % 32;
    float greatest_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        greatest_run[element] = -infinity<float>();
    }

    const Index j_whole = W / 4 * 4;
    const Index j_end = i < H ? j_whole : 0;
    UNROLL_BY(4)
    for (Index j = worker * 4; j < j_end; j += 128) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            greatest_run[element] = maximum(greatest_run[element], x_run[element]);
        }
    }

    const Index j_end_2 = i < H ? W : j_whole;
    for (Index j = j_whole + worker; j < j_end_2; j += 32) {
        greatest_run[0] = maximum(greatest_run[0], x[i * x_stride_0 + j]);
    }

    float greatest = greatest_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        greatest = maximum(greatest, greatest_run[element]);
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, worker ^ distance, 32);
        greatest = maximum(greatest, greatest_there);
    }
    if (worker == 0 && i < H) {
        highest[i] = greatest;
    }
}
