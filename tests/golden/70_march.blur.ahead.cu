// blur, schedule: ahead
// y: tile i 64, j 128; 32 threads, 256 outputs each, (32,(4,64)):(4,(1,128))
// rows of x come 4 at a time
// w: 3 x 3 in registers
// x: 12 x 160 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 7808 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(32, 16) blur(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 127) / 128;
    const Index tile_i = block / blocks_j * 64;
    const Index tile_j = block % blocks_j * 128;
    SHARED_AT(float, x_rows, 0, 1952);
    // what this thread brings of x beside the block's columns
    const int x_beside_row = thread / 2;
    const int x_beside = thread % 2 * 4 + (thread % 2 * 4 < 4 ? 0 : 128) + 28;
    float w_held[9];
    UNROLL
    for (int at = 0; at < 9; ++at) {
        const Index w_0 = at / 3;
        const Index w_1 = at % 3;
        w_held[at] = w[w_0 * w_stride_0 + w_1];
    }

    const Index behind = minimum(tile_i + 64, H);
    const Index j = tile_j + thread * 4;
    const bool x_columns_there = tile_j + thread * 4 + 4 <= W;
    const bool x_beside_there = tile_j - 4 >= 0 && tile_j + 132 <= W;
    float x_row[12];
    float y_sum[12];
    UNROLL
    for (int k = 0; k < 12; ++k) {
        y_sum[k] = 0.0f;
    }

    const Index rows = behind - tile_i;
    const Index groups = (rows + 5) / 4;
    const auto send = [&](const int group) {
        const Index x_i = tile_i + group * 4 - 1;
        const int x_slot = group % 3 * 640;
        const bool x_there = x_i >= 0 && x_i + 4 <= H;
        if (x_there && x_columns_there) {
            UNROLL
            for (int part = 0; part < 4; ++part) {
                copy_async16(x_rows + (x_slot + part * 160 + thread * 4 + 32),
                    x + ((x_i + part) * x_stride_0 + tile_j + thread * 4));
            }
        } else {
            UNROLL_BY(1)
            for (int part = 0; part < 4; ++part) {
                const Index x_i_2 = x_i + part;
                const Index x_j = tile_j + thread * 4;
                if (x_j < W + 4) {
                    if (x_j + 4 <= W) {
                        copy_async16(x_rows + (x_slot + part * 160 + thread * 4 + 32),
                            x + (nearest(x_i_2, H) * x_stride_0 + x_j));
                    } else {
                        UNROLL_BY(1)
                        for (int element = 0; element < 4; ++element) {
                            copy_async4(x_rows + (x_slot + element + part * 160 + thread * 4 + 32),
                                x + (nearest(x_i_2, H) * x_stride_0 + nearest(x_j + element, W)));
                        }
                    }
                }
            }
        }
        if (x_there && x_beside_there) {
            if (thread < 8) {
                copy_async16(x_rows + (x_slot + x_beside + x_beside_row * 160),
                    x + ((x_i + x_beside_row) * x_stride_0 + tile_j + x_beside - 32));
            }
        } else {
            if (true) {
                const int place = thread % 8 + (thread % 8 < 4 ? 0 : 128) + 28;
                const Index x_i_2 = x_i + thread / 8;
                const Index x_j = tile_j + place - 32;
                copy_async4(x_rows + (x_slot + place + thread / 8 * 160),
                    x + (nearest(x_i_2, H) * x_stride_0 + nearest(x_j, W)));
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
            const int x_at = group % 3 * 640 + thread * 4;
            UNROLL
            for (int step = 0; step < 4; ++step) {
                const Index i = tile_i + step + group * 4 - 2;
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 4> part = load_line<4>(x_rows + (x_at + step * 160 + piece * 4 + 28));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_row[piece * 4 + element] = part[element];
                    }
                }
                UNROLL
                for (int u = 0; u < 3; ++u) {
                    UNROLL
                    for (int v = 0; v < 3; ++v) {
                        UNROLL
                        for (int item = 0; item < 4; ++item) {
                            y_sum[item - u * 4 + 8] = fma(w_held[u * 3 + v], x_row[item + v + 3],
                                y_sum[item - u * 4 + 8]);
                        }
                    }
                }
                if (i >= tile_i && i < behind) {
                    if (j + 3 < W) {
                        Pack<float, 4> part = Pack<float, 4>();
                        UNROLL
                        for (int k = 0; k < 4; ++k) {
                            part[k] = y_sum[k];
                        }
                        store(y + (i * y_stride_0 + j), part);
                    } else {
                        UNROLL
                        for (int item = 0; item < 4; ++item) {
                            if (j + item < W) {
                                y[i * y_stride_0 + j + item] = y_sum[item];
                            }
                        }
                    }
                }
                // the rows move on
                UNROLL
                for (int k = 0; k < 8; ++k) {
                    y_sum[k] = y_sum[k + 4];
                }
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    y_sum[k + 8] = 0.0f;
                }
            }
        }
    }
}
