// blur, schedule: chosen by the compiler
// y: tile i 8, j 1024; 128 threads, 64 outputs each, (128,(8,8)):(8,(1,1024))
// rows of x come 4 at a time; a block makes tiles that follow each other along i
// w: 9 x 12 in shared memory
// x: 12 x 1056 in shared memory; halo i [4, 4], j [4, 4]
// shared memory: 51248 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128, 3) blur(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    SHARED(float, w_tile, 9 * 12);
    for (int at = thread; at < 9 * 12; at += 128) {
        const Index w_0 = at / 12;
        const Index w_1 = at % 12;
        w_tile[at] = w_1 < 9 ? w[w_0 * w_stride_0 + w_1] : 0.0f;
    }
    __syncthreads();

    SHARED_AT(float, x_rows, 0, 12704);
    // what this thread brings of x beside the block's columns
    const int x_beside_row = thread / 2;
    const int x_beside = thread % 2 * 4 + (thread % 2 * 4 < 4 ? 0 : 1024) + 28;
    const Index tiles_i = (H + 7) / 8;
    const Index tiles_j = (W + 1023) / 1024;
    const Index block = blockIdx.x;
    const Index sharing = gridDim.x;
    const Index tiles = tiles_i * tiles_j;
    const Index more = tiles % sharing;
    const Index first = block * (tiles / sharing) + minimum(block, more);
    const Index end = first + tiles / sharing + (block < more ? 1 : 0);
    for (Index tile = first; tile < end; tile += tiles_i - tile % tiles_i) {
        const Index tile_i = tile % tiles_i * 8;
        const Index tile_j = tile / tiles_i * 1024;
        const Index behind = minimum(tile_i + end * 8 - tile * 8, H);
        const Index j = tile_j + thread * 8;
        const bool x_columns_there = tile_j + thread * 4 + 516 <= W;
        const bool x_beside_there = tile_j - 4 >= 0 && tile_j + 1028 <= W;
        float x_row[16];
        float y_sum[72];
        UNROLL
        for (int k = 0; k < 72; ++k) {
            y_sum[k] = 0.0f;
        }
        const Index rows = behind - tile_i;
        const Index groups = (rows + 11) / 4;
        const auto send = [&](const int group) {
            const Index x_i = tile_i + group * 4 - 4;
            const int x_slot = group % 3 * 4224;
            const bool x_there = x_i >= 0 && x_i + 4 <= H;
            if (x_there && x_columns_there) {
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    UNROLL
                    for (int piece = 0; piece < 2; ++piece) {
                        copy_async16(x_rows + (x_slot + part * 1056 + thread * 4 + piece * 512 + 32),
                            x + ((x_i + part) * x_stride_0 + tile_j + thread * 4 + piece * 512));
                    }
                }
            } else {
                UNROLL_BY(1)
                for (int part = 0; part < 4; ++part) {
                    UNROLL_BY(1)
                    for (int piece = 0; piece < 2; ++piece) {
                        const Index x_i_2 = x_i + part;
                        const Index x_j = tile_j + thread * 4 + piece * 512;
                        if (x_j < W + 8) {
                            if (x_j + 4 <= W) {
                                copy_async16(x_rows + (x_slot + part * 1056 + thread * 4 + piece * 512 + 32),
                                    x + (mirror(x_i_2, H) * x_stride_0 + x_j));
                            } else {
                                UNROLL_BY(1)
                                for (int element = 0; element < 4; ++element) {
                                    copy_async4(x_rows + (x_slot + element + part * 1056 + thread * 4
                                        + piece * 512 + 32), x
                                        + (mirror(x_i_2, H) * x_stride_0 + mirror(x_j + element, W)));
                                }
                            }
                        }
                    }
                }
            }
            if (x_there && x_beside_there) {
                if (thread < 8) {
                    copy_async16(x_rows + (x_slot + x_beside + x_beside_row * 1056),
                        x + ((x_i + x_beside_row) * x_stride_0 + tile_j + x_beside - 32));
                }
            } else {
                if (thread < 32) {
                    const int place = thread % 8 + (thread % 8 < 4 ? 0 : 1024) + 28;
                    const Index x_i_2 = x_i + thread / 8;
                    const Index x_j = tile_j + place - 32;
                    copy_async4(x_rows + (x_slot + place + thread / 8 * 1056),
                        x + (mirror(x_i_2, H) * x_stride_0 + mirror(x_j, W)));
                }
            }
        };
        UNROLL_BY(1)
        for (int group = 0; group < 2; ++group) {
            if (group < groups) {
                send(group);
            }
            copy_async_commit();
        }
        UNROLL_BY(1)
        for (int group = 0; group < groups; ++group) {
            copy_async_wait<1>();
            __syncthreads();
            if (group + 2 < groups) {
                send(group + 2);
            }
            copy_async_commit();
            if (j < W) {
                const int x_at = group % 3 * 4224 + thread * 8;
                UNROLL_BY(1)
                for (int step = 0; step < 4; ++step) {
                    const Index i = tile_i + step + group * 4 - 8;
                    UNROLL
                    for (int piece = 0; piece < 4; ++piece) {
                        const Pack<float, 4> part =
                            load_line<4>(x_rows + (x_at + step * 1056 + piece * 4 + 28));
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_row[piece * 4 + element] = part[element];
                        }
                    }
                    UNROLL
                    for (int u = 0; u < 9; ++u) {
                        float w_line[12];
                        UNROLL
                        for (int piece = 0; piece < 3; ++piece) {
                            const Pack<float, 4> part = load_line<4>(w_tile + (u * 12 + piece * 4));
                            UNROLL
                            for (int element = 0; element < 4; ++element) {
                                w_line[piece * 4 + element] = part[element];
                            }
                        }
                        UNROLL
                        for (int v = 0; v < 9; ++v) {
                            UNROLL
                            for (int item = 0; item < 8; ++item) {
                                y_sum[item - u * 8 + 64] = fma(w_line[v], x_row[item + v],
                                    y_sum[item - u * 8 + 64]);
                            }
                        }
                    }
                    if (i >= tile_i && i < behind) {
                        if (j + 7 < W) {
                            UNROLL
                            for (int piece = 0; piece < 2; ++piece) {
                                Pack<float, 4> part = Pack<float, 4>();
                                UNROLL
                                for (int k = 0; k < 4; ++k) {
                                    part[k] = y_sum[piece * 4 + k];
                                }
                                store(y + (i * y_stride_0 + j + piece * 4), part);
                            }
                        } else {
                            UNROLL
                            for (int item = 0; item < 8; ++item) {
                                if (j + item < W) {
                                    y[i * y_stride_0 + j + item] = y_sum[item];
                                }
                            }
                        }
                    }
                    // the rows move on
                    UNROLL
                    for (int k = 0; k < 64; ++k) {
                        y_sum[k] = y_sum[k + 8];
                    }
                    UNROLL
                    for (int k = 0; k < 8; ++k) {
                        y_sum[k + 64] = 0.0f;
                    }
                }
            }
        }
        __syncthreads();
    }
}
