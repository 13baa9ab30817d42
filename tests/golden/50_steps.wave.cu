// wave, schedule: chosen by the compiler
// next, now: tile i 4, j 512; 128 threads, 16 outputs each, (128,(4,4)):(4,(1,512))
// u: 4 x 12 in registers; halo i [1, 1], j [1, 1]
// before: 2 x 4 in registers; halo i [0, 0], j [0, 0]
// speed: 2 x 4 in registers; halo i [0, 0], j [0, 0]
#include "layoutc.cuh"

using Index = int;

// A thread takes 7 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void wave_walk(
    In<float> u, Index u_stride_0,
    In<float> before, Index before_stride_0,
    In<float> speed, Index speed_stride_0,
    Out<float> next, Index next_stride_0,
    Out<float> now, Index now_stride_0,
    Index H, Index W,
    Index first_i, Index j
) {
    float u_rows[48];
    UNROLL
    for (int k = 0; k < 48; ++k) {
        u_rows[k] = 0.0f;
    }

    float before_rows[8];
    UNROLL
    for (int k = 0; k < 8; ++k) {
        before_rows[k] = 0.0f;
    }

    float speed_rows[8];
    UNROLL
    for (int k = 0; k < 8; ++k) {
        speed_rows[k] = 0.0f;
    }
    UNROLL_BY(interior ? 7 : 1)
    for (int row = 0; row < 7; ++row) {
        const Index i = first_i + row - 3;
        if (row < 6) {
            const Index u_i = i + 2;
            if (interior) {
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Pack<float, 4> part = load<4>(u + (u_i * u_stride_0 + j + piece * 4 - 4));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        u_rows[piece * 4 + element + 36] = part[element];
                    }
                }
            } else {
                const Index u_i_read = mirror(u_i, H);
                UNROLL
                for (int piece = 0; piece < 3; ++piece) {
                    const Index u_j = j + piece * 4 - 4;
                    if (u_j >= 0 && u_j + 4 <= W) {
                        const Pack<float, 4> part = load<4>(u + (u_i_read * u_stride_0 + u_j));
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            u_rows[piece * 4 + element + 36] = part[element];
                        }
                    } else {
                        UNROLL
                        for (int element = 0; element < 4; ++element) {
                            u_rows[piece * 4 + element + 36] =
                                u[u_i_read * u_stride_0 + mirror(u_j + element, W)];
                        }
                    }
                }
            }
        }
        if (row >= 2 && row < 6) {
            const Index before_i = i + 1;
            if (interior) {
                const Pack<float, 4> part = load<4>(before + (before_i * before_stride_0 + j));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    before_rows[element + 4] = part[element];
                }
            } else {
                if (before_i < H && j + 4 <= W) {
                    const Pack<float, 4> part = load<4>(before + (before_i * before_stride_0 + j));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        before_rows[element + 4] = part[element];
                    }
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        before_rows[element + 4] = before_i < H && j + element < W
                            ? before[before_i * before_stride_0 + j + element] : 0.0f;
                    }
                }
            }
        }
        if (row >= 2 && row < 6) {
            const Index speed_i = i + 1;
            if (interior) {
                const Pack<float, 4> part = load<4>(speed + (speed_i * speed_stride_0 + j));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    speed_rows[element + 4] = part[element];
                }
            } else {
                if (speed_i < H && j + 4 <= W) {
                    const Pack<float, 4> part = load<4>(speed + (speed_i * speed_stride_0 + j));
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        speed_rows[element + 4] = part[element];
                    }
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        speed_rows[element + 4] = speed_i < H && j + element < W
                            ? speed[speed_i * speed_stride_0 + j + element] : 0.0f;
                    }
                }
            }
        }
        if (row >= 3) {
            float next_row[4];
            float now_row[4];
            UNROLL
            for (int item = 0; item < 4; ++item) {
                next_row[item] = 2.0f * u_rows[item + 16] - before_rows[item]
                    + speed_rows[item] * (u_rows[item + 4] + u_rows[item + 28] + u_rows[item + 15]
                    + u_rows[item + 17] - 4.0f * u_rows[item + 16]);
                now_row[item] = u_rows[item + 16];
            }
            if (interior || (i < H && j + 3 < W)) {
                Pack<float, 4> part = Pack<float, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = next_row[k];
                }
                store(next + (i * next_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        next[i * next_stride_0 + j + item] = next_row[item];
                    }
                }
            }
            if (interior || (i < H && j + 3 < W)) {
                Pack<float, 4> part = Pack<float, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = now_row[k];
                }
                store(now + (i * now_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        now[i * now_stride_0 + j + item] = now_row[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 36; ++k) {
            u_rows[k] = u_rows[k + 12];
        }
        UNROLL
        for (int k = 0; k < 4; ++k) {
            before_rows[k] = before_rows[k + 4];
        }
        UNROLL
        for (int k = 0; k < 4; ++k) {
            speed_rows[k] = speed_rows[k + 4];
        }
    }
}

KERNEL(128) wave(
    In<float> u, Index u_stride_0,
    In<float> before, Index before_stride_0,
    In<float> speed, Index speed_stride_0,
    Out<float> next, Index next_stride_0,
    Out<float> now, Index now_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 511) / 512;
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 512;
    const Index j = tile_j + thread * 4;
    const Index warp_j = tile_j + thread / 32 * 128;
    if (tile_i + 5 <= H && warp_j + 132 <= W && tile_i - 1 >= 0 && warp_j - 4 >= 0) {
        wave_walk<true>(u, u_stride_0, before, before_stride_0, speed, speed_stride_0, next, next_stride_0,
            now, now_stride_0, H, W, tile_i, j);
    } else {
        wave_walk<false>(u, u_stride_0, before, before_stride_0, speed, speed_stride_0, next, next_stride_0,
            now, now_stride_0, H, W, tile_i, j);
    }
}
