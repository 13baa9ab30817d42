// star, schedule: small
// y: tile i 16, j 8, k 64; 128 threads, 64 outputs each, ((32,4),(2,2,16)):((2,128),(1,64,512))
// w: 4 in registers
// x: 8 x 14 x 72 in shared memory; halo i [3, 3], j [3, 3], k [3, 3]
// shared memory: 32256 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128, 1) star(
    In<float> x, Index x_stride_0, Index x_stride_1,
    In<float> w,
    Out<float> y, Index y_stride_0, Index y_stride_1,
    Index D, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_k = (W + 63) / 64;
    const Index blocks_j = (H + 7) / 8;
    const Index tile_i = block / blocks_k / blocks_j * 16;
    const Index tile_j = block / blocks_k % blocks_j * 8;
    const Index tile_k = block % blocks_k * 64;
    SHARED_AT(float, x_planes, 0, 8 * 1008);
    float w_held[4];
    UNROLL
    for (int at = 0; at < 4; ++at) {
        w_held[at] = w[at];
    }

    const Index j = tile_j + thread / 32 * 2;
    const Index k = tile_k + thread % 32 * 2;
    const int own_x = thread / 32 * 144 + thread % 32 * 2;
    // what this thread copies of every plane of x
    Index x_from[4];
    UNROLL
    for (int part = 0; part < 4; ++part) {
        const int at = thread + part * 128;
        if (at < 504) {
            const Index x_j = tile_j + at / 36 - 3;
            const Index x_k = tile_k + at % 36 * 2 - 4;
            x_from[part] = x_j * x_stride_1 + x_k;
        }
    }

    const bool x_inside = tile_j - 3 >= 0 && tile_j + 11 <= H && tile_k - 4 >= 0 && tile_k + 68 <= W;
    float x_held[28];
    UNROLL
    for (int k_2 = 0; k_2 < 28; ++k_2) {
        x_held[k_2] = 0.0f;
    }

    float x_around[16];
    float x_around_2[20];
    const Index turns = minimum(D - tile_i, 16) + 6;
    UNROLL_BY(1)
    for (int start = 0; start < 2; ++start) {
        const Index x_i = tile_i + start - 3;
        if (x_inside && within(x_i, D)) {
            UNROLL
            for (int part = 0; part < 4; ++part) {
                const int at = thread + part * 128;
                if (at < 504) {
                    copy_async8(x_planes + (start * 1008 + at * 2), x + (x_i * x_stride_0 + x_from[part]));
                }
            }
        } else {
            UNROLL_BY(1)
            for (int part = 0; part < 4; ++part) {
                const int at = thread + part * 128;
                if (at < 504) {
                    const Index x_j = tile_j + at / 36 - 3;
                    const Index x_k = tile_k + at % 36 * 2 - 4;
                    if (x_k >= 0 && x_k + 2 <= W) {
                        copy_async8(x_planes + (start * 1008 + at * 2),
                            x + (mirror(x_i, D) * x_stride_0 + mirror(x_j, H) * x_stride_1 + x_k));
                    } else {
                        UNROLL_BY(1)
                        for (int element = 0; element < 2; ++element) {
                            copy_async4(x_planes + (start * 1008 + at * 2 + element),
                                x + (mirror(x_i, D) * x_stride_0 + mirror(x_j, H) * x_stride_1
                                + mirror(x_k + element, W)));
                        }
                    }
                }
            }
        }
        copy_async_commit();
    }
    UNROLL_BY(1)
    for (int turn = 0; turn < turns; ++turn) {
        const Index i = tile_i + turn - 6;
        copy_async_wait<1>();
        __syncthreads();
        if (turn < turns - 2) {
            const Index x_i = tile_i + turn - 1;
            if (x_inside && within(x_i, D)) {
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    const int at = thread + part * 128;
                    if (at < 504) {
                        copy_async8(x_planes + ((turn + 2) % 8 * 1008 + at * 2),
                            x + (x_i * x_stride_0 + x_from[part]));
                    }
                }
            } else {
                UNROLL_BY(1)
                for (int part = 0; part < 4; ++part) {
                    const int at = thread + part * 128;
                    if (at < 504) {
                        const Index x_j = tile_j + at / 36 - 3;
                        const Index x_k = tile_k + at % 36 * 2 - 4;
                        if (x_k >= 0 && x_k + 2 <= W) {
                            copy_async8(x_planes + ((turn + 2) % 8 * 1008 + at * 2),
                                x + (mirror(x_i, D) * x_stride_0 + mirror(x_j, H) * x_stride_1 + x_k));
                        } else {
                            UNROLL_BY(1)
                            for (int element = 0; element < 2; ++element) {
                                copy_async4(x_planes + ((turn + 2) % 8 * 1008 + at * 2 + element),
                                    x + (mirror(x_i, D) * x_stride_0 + mirror(x_j, H) * x_stride_1
                                    + mirror(x_k + element, W)));
                            }
                        }
                    }
                }
            }
        }
        copy_async_commit();
        const int x_at = turn % 8 * 1008 + own_x;
        UNROLL
        for (int line = 0; line < 2; ++line) {
            const Pack<float, 2> pack = load<2>(x_planes + (x_at + line * 72 + 220));
            UNROLL
            for (int element = 0; element < 2; ++element) {
                x_held[line * 2 + element + 24] = pack[element];
            }
        }
        if (turn >= 6) {
            const int x_at = (turn + 5) % 8 * 1008 + own_x;
            UNROLL
            for (int line = 0; line < 3; ++line) {
                const Pack<float, 2> pack = load<2>(x_planes + (x_at + line * 72 + 4));
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    x_around[line * 2 + element] = pack[element];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    x_around[line * 2 + element + 6] = x_held[line * 2 + element + 12];
                }
            }
            UNROLL
            for (int line = 0; line < 3; ++line) {
                const Pack<float, 2> pack = load<2>(x_planes + (x_at + line * 72 + 364));
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    x_around[line * 2 + element + 10] = pack[element];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int piece = 0; piece < 2; ++piece) {
                    const Pack<float, 2> pack = load<2>(x_planes + (x_at + line * 72 + piece * 2 + 216));
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        x_around_2[line * 10 + piece * 2 + element] = pack[element];
                    }
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    x_around_2[line * 10 + element + 4] = x_held[line * 2 + element + 12];
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int piece = 0; piece < 2; ++piece) {
                    const Pack<float, 2> pack = load<2>(x_planes + (x_at + line * 72 + piece * 2 + 222));
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        x_around_2[line * 10 + piece * 2 + element + 6] = pack[element];
                    }
                }
            }
            float y_made[4];
            UNROLL
            for (int line = 0; line < 2; ++line) {
                UNROLL
                for (int item = 0; item < 2; ++item) {
                    float sum = 0.0f;
                    UNROLL
                    for (int u = 1; u < 4; ++u) {
                        sum = fma(w_held[u], x_held[line * 2 + item - u * 4 + 12]
                            + x_held[u * 4 + line * 2 + item + 12] + x_around[line * 2 + item - u * 2 + 6]
                            + x_around[(line + u) * 2 + item + 6] + x_around_2[line * 10 + item - u + 4]
                            + x_around_2[line * 10 + item + u + 4], sum);
                    }
                    y_made[line * 2 + item] = w_held[0] * x_held[line * 2 + item + 12] + sum;
                }
            }
            UNROLL
            for (int line = 0; line < 2; ++line) {
                if (j + line < H) {
                    if (k + 2 <= W) {
                        Pack<float, 2> pack = Pack<float, 2>();
                        UNROLL
                        for (int k_2 = 0; k_2 < 2; ++k_2) {
                            pack[k_2] = y_made[line * 2 + k_2];
                        }
                        store(y + (i * y_stride_0 + (j + line) * y_stride_1 + k), pack);
                    } else {
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            if (k + element < W) {
                                y[i * y_stride_0 + (j + line) * y_stride_1 + k + element] =
                                    y_made[line * 2 + element];
                            }
                        }
                    }
                }
            }
        }
        // the planes move on
        UNROLL
        for (int k_2 = 0; k_2 < 24; ++k_2) {
            x_held[k_2] = x_held[k_2 + 4];
        }
    }
}
