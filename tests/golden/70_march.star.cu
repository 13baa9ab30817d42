// star, schedule: default
// y: tile i 32, j 4, k 128; 128 threads, 128 outputs each, ((32,4),(4,32)):((4,128),(1,512))
// x: 3 x 3 x 12 in registers, by way of 4 x 6 x 136 in shared memory; halo i [1, 1], j [1, 1], k [1, 1]
// shared memory: 13056 bytes
#include "layoutc.cuh"

using Index = int;

// A thread takes 36 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void star_walk(
    In<float> x, Index x_stride_0, Index x_stride_1,
    Out<float> y, Index y_stride_0, Index y_stride_1,
    Index D, Index H, Index W,
    Shared<float> x_ring,
    int lane, Index tile_k, Index tile_j, Index first_i, Index j, Index k
) {
    float x_rows[108];
    UNROLL
    for (int k_2 = 0; k_2 < 108; ++k_2) {
        x_rows[k_2] = 0;
    }
    UNROLL_BY(1)
    for (int row = 0; row < 36; ++row) {
        const Index i = first_i + row - 4;
        if (interior) {
            if (row < 34) {
                const Index x_next = i + 3;
                UNROLL
                for (int part = 0; part < 2; ++part) {
                    const int at = lane + part * 128;
                    if (at < 204) {
                        copy_async16(x_ring + (row % 4 * 816 + at * 4),
                            x + (x_next * x_stride_0 + (tile_j + at / 34 - 1) * x_stride_1 + tile_k
                            + at % 34 * 4 - 4));
                    }
                }
            }
            copy_async_commit();
            copy_async_wait<2>();
            __syncthreads();
        }
        if (row >= 2) {
            const Index x_i = i + 1;
            if (interior) {
                UNROLL
                for (int x_at_j = 0; x_at_j < 3; ++x_at_j) {
                    UNROLL
                    for (int piece = 0; piece < 3; ++piece) {
                        const Pack<float, 4> part = load<4>(x_ring
                            + ((row + 2) % 4 * 816 + (j + x_at_j) * 136 + k
                            + piece * 4 - tile_j * 136 - tile_k));
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            x_rows[x_at_j * 12 + piece * 4 + element + 72] = part[element];
                        }
                    }
                }
            } else {
                UNROLL
                for (int x_at_j = 0; x_at_j < 3; ++x_at_j) {
                    UNROLL
                    for (int piece = 0; piece < 3; ++piece) {
                        const Index x_k = k + piece * 4 - 4;
                        if (x_i >= 0 && x_i < D && j + x_at_j - 1 >= 0 && j + x_at_j - 1 < H && x_k >= 0
                            && x_k + 4 <= W) {
                            const Pack<float, 4> part = load_whole<4>(x
                                + (x_i * x_stride_0 + (j + x_at_j - 1) * x_stride_1 + x_k));
                            UNROLL
                            for (int element = 0; element < 4; ++element) {
                                x_rows[x_at_j * 12 + piece * 4 + element + 72] = part[element];
                            }
                        } else {
                            UNROLL
                            for (int element = 0; element < 4; ++element) {
                                x_rows[x_at_j * 12 + piece * 4 + element + 72] = within(x_i, D)
                                    && within(j + x_at_j - 1, H) && within(x_k + element, W)
                                    ? x[x_i * x_stride_0 + (j + x_at_j - 1) * x_stride_1 + x_k + element]
                                    : 0.0f;
                            }
                        }
                    }
                }
            }
            if (row >= 4) {
                float y_row[4];
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    y_row[item] = x_rows[item + 16] + x_rows[item + 88] + x_rows[item + 40]
                        + x_rows[item + 64] + x_rows[item + 51]
                        + x_rows[item + 53] - 6.0f * x_rows[item + 52];
                }
                if (interior || i < D && j < H && k + 3 < W) {
                    Pack<float, 4> part = Pack<float, 4>();
                    UNROLL
                    for (int k_2 = 0; k_2 < 4; ++k_2) {
                        part[k_2] = y_row[k_2];
                    }
                    store(y + (i * y_stride_0 + j * y_stride_1 + k), part);
                } else {
                    UNROLL
                    for (int item = 0; item < 4; ++item) {
                        if (i < D && j < H && k + item < W) {
                            y[i * y_stride_0 + j * y_stride_1 + k + item] = y_row[item];
                        }
                    }
                }
            }
            // the rows move on
            UNROLL
            for (int k_2 = 0; k_2 < 72; ++k_2) {
                x_rows[k_2] = x_rows[k_2 + 36];
            }
        }
    }
}

KERNEL(128) star(
    In<float> x, Index x_stride_0, Index x_stride_1,
    Out<float> y, Index y_stride_0, Index y_stride_1,
    Index D, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_k = (W + 127) / 128;
    const Index blocks_j = (H + 3) / 4;
    const Index tile_i = block / blocks_k / blocks_j * 32;
    const Index tile_j = block / blocks_k % blocks_j * 4;
    const Index tile_k = block % blocks_k * 128;
    SHARED(float, x_ring, 4 * 816);
    const Index first_i = tile_i;
    const Index j = tile_j + thread / 32;
    const Index k = tile_k + thread % 32 * 4;
    if (first_i + 33 <= D && tile_j + 5 <= H && tile_k + 132 <= W && first_i - 1 >= 0 && tile_j - 1 >= 0
        && tile_k - 4 >= 0) {
        star_walk<true>(x, x_stride_0, x_stride_1, y, y_stride_0, y_stride_1, D, H, W, x_ring, thread, tile_k,
            tile_j, first_i, j, k);
    } else {
        star_walk<false>(x, x_stride_0, x_stride_1, y, y_stride_0, y_stride_1, D, H, W, x_ring, thread,
            tile_k, tile_j, first_i, j, k);
    }
}
