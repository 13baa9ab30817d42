// star, schedule: default
// y: tile i 32, j 4, k 128; 64 threads, 256 outputs each, ((32,2),(4,2,32)):((4,256),(1,128,512))
// x: 4 x 6 x 136 in shared memory; halo i [1, 1], j [1, 1], k [1, 1]
// shared memory: 13056 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(64, 1) star(
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
    SHARED_AT(float, x_planes, 0, 4 * 816);
    const Index j = tile_j + thread / 32 * 2;
    const Index k = tile_k + thread % 32 * 4;
    const int own_x = thread / 32 * 272 + thread % 32 * 4;
    // what this thread copies of every plane of x
    Index x_from[4];
    bool x_there[4];
    UNROLL
    for (int part = 0; part < 4; ++part) {
        const int at = thread + part * 64;
        if (at < 204) {
            const Index x_j = tile_j + at / 34 - 1;
            const Index x_k = tile_k + at % 34 * 4 - 4;
            x_there[part] = within(x_j, H) && within(x_k, W);
            x_from[part] = x_there[part] ? x_j * x_stride_1 + x_k : 0;
        }
    }

    const bool x_inside = W % 4 == 0 || tile_k + 132 <= W;
    float x_held[24];
    UNROLL
    for (int k_2 = 0; k_2 < 24; ++k_2) {
        x_held[k_2] = 0.0f;
    }

    float x_around[48];
    const Index turns = minimum(D - tile_i, 32) + 2;
    UNROLL_BY(1)
    for (int start = 0; start < 2; ++start) {
        const Index x_i = tile_i + start - 1;
        if (x_inside) {
            UNROLL
            for (int part = 0; part < 4; ++part) {
                const int at = thread + part * 64;
                if (at < 204) {
                    copy_async16_if(within(x_i, D) && x_there[part], x_planes + (start * 816 + at * 4),
                        x + ((within(x_i, D) ? x_i * x_stride_0 : 0) + x_from[part]));
                }
            }
        } else {
            UNROLL_BY(1)
            for (int part = 0; part < 4; ++part) {
                const int at = thread + part * 64;
                if (at < 204) {
                    const Index x_j = tile_j + at / 34 - 1;
                    const Index x_k = tile_k + at % 34 * 4 - 4;
                    if (x_i >= 0 && x_i < D && x_j >= 0 && x_j < H && x_k >= 0 && x_k + 4 <= W) {
                        copy_async16(x_planes + (start * 816 + at * 4),
                            x + (x_i * x_stride_0 + x_j * x_stride_1 + x_k));
                    } else {
                        UNROLL_BY(1)
                        for (int element = 0; element < 4; ++element) {
                            if (within(x_i, D) && within(x_j, H) && within(x_k + element, W)) {
                                copy_async4(x_planes + (start * 816 + at * 4 + element),
                                    x + (x_i * x_stride_0 + x_j * x_stride_1 + x_k + element));
                            } else {
                                x_planes[start * 816 + at * 4 + element] = 0.0f;
                            }
                        }
                    }
                }
            }
        }
        copy_async_commit();
    }
    UNROLL_BY(1)
    for (int turn = 0; turn < turns; ++turn) {
        const Index i = tile_i + turn - 2;
        copy_async_wait<1>();
        __syncthreads();
        if (turn < turns - 2) {
            const Index x_i = tile_i + turn + 1;
            if (x_inside) {
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    const int at = thread + part * 64;
                    if (at < 204) {
                        copy_async16_if(within(x_i, D) && x_there[part],
                            x_planes + ((turn + 2) % 4 * 816 + at * 4),
                            x + ((within(x_i, D) ? x_i * x_stride_0 : 0) + x_from[part]));
                    }
                }
            } else {
                UNROLL_BY(1)
                for (int part = 0; part < 4; ++part) {
                    const int at = thread + part * 64;
                    if (at < 204) {
                        const Index x_j = tile_j + at / 34 - 1;
                        const Index x_k = tile_k + at % 34 * 4 - 4;
                        if (x_i >= 0 && x_i < D && x_j >= 0 && x_j < H && x_k >= 0 && x_k + 4 <= W) {
                            copy_async16(x_planes + ((turn + 2) % 4 * 816 + at * 4),
                                x + (x_i * x_stride_0 + x_j * x_stride_1 + x_k));
                        } else {
                            UNROLL_BY(1)
                            for (int element = 0; element < 4; ++element) {
                                if (within(x_i, D) && within(x_j, H) && within(x_k + element, W)) {
                                    copy_async4(x_planes + ((turn + 2) % 4 * 816 + at * 4 + element),
                                        x + (x_i * x_stride_0 + x_j * x_stride_1 + x_k + element));
                                } else {
                                    x_planes[(turn + 2) % 4 * 816 + at * 4 + element] = 0.0f;
                                }
                            }
                        }
                    }
                }
            }
        }
        copy_async_commit();
        const int x_at = turn % 4 * 816 + own_x;
        UNROLL
        for (int line = 0; line < 2; ++line) {
            const Pack<float, 4> pack = load<4>(x_planes + (x_at + line * 136 + 140));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_held[line * 4 + element + 16] = pack[element];
            }
        }
        if (turn >= 2) {
            const int x_at = (turn + 3) % 4 * 816 + own_x;
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                const Pack<float, 4> pack = load<4>(x_planes + (x_at + piece * 4));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[piece * 4 + element] = pack[element];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                const Pack<float, 4> pack = load<4>(x_planes + (x_at + line * 136 + 136));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[line * 12 + element + 12] = pack[element];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[line * 12 + element + 16] = x_held[line * 4 + element + 8];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                const Pack<float, 4> pack = load<4>(x_planes + (x_at + line * 136 + 144));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[line * 12 + element + 20] = pack[element];
                }
            }
            UNROLL
            for (int piece = 0; piece < 3; ++piece) {
                const Pack<float, 4> pack = load<4>(x_planes + (x_at + piece * 4 + 408));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_around[piece * 4 + element + 36] = pack[element];
                }
            }
            float y_made[8];
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    y_made[line * 4 + item] = x_held[line * 4 + item] + x_held[line * 4 + item + 16]
                        + x_around[line * 12 + item + 4] + x_around[line * 12 + item + 28]
                        + x_around[line * 12 + item + 15]
                        + x_around[line * 12 + item + 17] - 6.0f * x_held[line * 4 + item + 8];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                if (j + line < H) {
                    if (k + 4 <= W) {
                        Pack<float, 4> pack = Pack<float, 4>();
                        UNROLL
                        for (int k_2 = 0; k_2 < 4; ++k_2) {
                            pack[k_2] = y_made[line * 4 + k_2];
                        }
                        store(y + (i * y_stride_0 + (j + line) * y_stride_1 + k), pack);
                    } else {
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            if (k + element < W) {
                                y[i * y_stride_0 + (j + line) * y_stride_1 + k + element] =
                                    y_made[line * 4 + element];
                            }
                        }
                    }
                }
            }
        }
        // the planes move on
        UNROLL
        for (int k_2 = 0; k_2 < 16; ++k_2) {
            x_held[k_2] = x_held[k_2 + 8];
        }
    }
}
