// blur, schedule: ahead
// y: tile i 64, j 128; 32 threads, 256 outputs each, (32,(4,64)):(4,(1,128))
// w: 3 x 3 in registers
// x: 1 x 12 in registers, by way of 4 x 136 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 2176 bytes
#include "layoutc.cuh"

using Index = int;

// A thread takes 68 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void blur_walk(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W,
    Shared<float> x_ring,
    int lane, Index tile_j, Index first_i, Index j
) {
    float w_held[9];
    UNROLL
    for (int at = 0; at < 9; ++at) {
        const Index w_0 = at / 3;
        const Index w_1 = at % 3;
        w_held[at] = w[w_0 * w_stride_0 + w_1];
    }

    float x_row[12];
    float y_sum[12];
    UNROLL
    for (int k = 0; k < 12; ++k) {
        y_sum[k] = 0.0f;
    }
    UNROLL_BY(1)
    for (int row = 0; row < 68; ++row) {
        const Index i = first_i + row - 4;
        if (interior) {
            if (row < 66) {
                const Index x_next = i + 3;
                UNROLL
                for (int part = 0; part < 2; ++part) {
                    const int at = lane + part * 32;
                    if (at < 34) {
                        copy_async16(x_ring + (row % 4 * 136 + at * 4),
                            x + (x_next * x_stride_0 + tile_j + at * 4 - 4));
                    }
                }
            }
            copy_async_commit();
            copy_async_wait<2>();
            __syncwarp();
        }
        if (row >= 2) {
            const Index x_i = i + 1;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 4> part =
                        load<4>(x_ring + ((row + 2) % 4 * 136 + j + piece * 4 - tile_j));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        x_row[piece * 4 + element] = part[element];
                    }
                }
            } else {
                const Index x_i_read = nearest(x_i, H);
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index x_j = j + piece * 4 - 4;
                    if (x_j >= 0 && x_j + 4 <= W) {
                        const Pack<float, 4> part = load_whole<4>(x + (x_i_read * x_stride_0 + x_j));
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_row[piece * 4 + element] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_row[piece * 4 + element] = x[x_i_read * x_stride_0 + nearest(x_j + element, W)];
                        }
                    }
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
            if (row >= 4) {
                if (interior || (i < H && j + 3 < W)) {
                    Pack<float, 4> part = Pack<float, 4>();
                    UNROLL
                    for (int k = 0; k < 4; ++k) {
                        part[k] = y_sum[k];
                    }
                    store(y + (i * y_stride_0 + j), part);
                } else {
                    UNROLL
                    for (int item = 0; item < 4; ++item) {
                        if (i < H && j + item < W) {
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

KERNEL(32) blur(
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
    SHARED(float, x_ring, 4 * 136);
    const Index j = tile_j + thread * 4;
    if (tile_i + 65 <= H && tile_j + 132 <= W && tile_i - 1 >= 0 && tile_j - 4 >= 0) {
        blur_walk<true>(x, x_stride_0, w, w_stride_0, y, y_stride_0, H, W, x_ring, thread, tile_j, tile_i, j);
    } else {
        blur_walk<false>(x, x_stride_0, w, w_stride_0, y, y_stride_0, H, W, x_ring, thread, tile_j, tile_i,
            j);
    }
}
