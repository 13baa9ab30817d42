// box, schedule: default
// v: tile d 16, h 12, w 60; 128 threads, 128 outputs each, 2 columns a lane, row after row
// 2 steps a launch; halo of a step d [1, 1], h [1, 1], w [1, 1]
// u: registers, row after row; halo d [2, 2], h [2, 2], w [2, 2]
// k: global memory; halo d [1, 1], h [1, 1], w [1, 1]
// shared memory: 8192 bytes
#include "layoutc.cuh"

using Index = int;

// A warp takes row after row of 64 columns and 4 lines; interior: all that its block reads and writes is there.
template <bool interior>
DEVICE void box_stream(
    In<float> u, Index u_stride_0, Index u_stride_1,
    In<float> k, Index k_stride_0, Index k_stride_1,
    Out<float> v, Index v_stride_0, Index v_stride_1,
    Index D, Index H, Index W,
    Shared<float> u_beside,
    Index tile_d, Index tile_h, int lane, int warp, Index first_h, Index first_w
) {
    float u_rows[84];
    UNROLL
    for (int held = 0; held < 84; ++held) {
        u_rows[held] = 0.0f;
    }

    const int warp_before = warp >= 1 ? warp - 1 : warp;
    const int warp_after = warp < 3 ? warp + 1 : warp;
    const Index rows = minimum(D - tile_d + 7, 23);
    for (int walked = 0; walked < rows; walked += 3) {
        UNROLL
        for (int turn = 0; turn < 3; ++turn) {
            const int now = (walked + turn) % 2;
            const Index row = tile_d + walked + turn - 2;
            const Index place_d = row - 5;
            const Pack<float, 2> part = load<2>(u_beside + (warp_before * 128 + lane * 2 - now * 512 + 576));
            UNROLL
            for (int element = 0; element < 2; ++element) {
                u_rows[element + 12] = part[element];
            }
            const Pack<float, 2> part_2 = load<2>(u_beside + (warp_after * 128 + lane * 2 - now * 512 + 512));
            UNROLL
            for (int element = 0; element < 2; ++element) {
                u_rows[element + 22] = part_2[element];
            }
            float v_row[8];
            UNROLL
            for (int side_h = 1; side_h < 5; ++side_h) {
                const Index place_h = first_h + side_h - 1;
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_w = first_w + column;
                    const Index d = interior ? place_d : nearest(place_d, D);
                    const Index h = interior ? place_h : nearest(place_h, H);
                    const Index w = interior ? place_w : nearest(place_w, W);
                    const float beside = (column + 63) / 2 == 32
                        ? u_rows[side_h * 2 + (column + 63) % 2 + 12]
                        : shuffle(0xffffffffu, u_rows[side_h * 2 + (column + 63) % 2 + 12],
                        lane + (column + 63) / 2 - 32, 32);
                    const float beside_2 = (column + 65) / 2 == 32
                        ? u_rows[side_h * 2 + (column + 65) % 2 + 12]
                        : shuffle(0xffffffffu, u_rows[side_h * 2 + (column + 65) % 2 + 12],
                        lane + (column + 65) / 2 - 32, 32);
                    v_row[side_h * 2 + column - 2] = u_rows[side_h * 2 + column + 12]
                        + k[d * k_stride_0 + h * k_stride_1 + w]
                        * (u_rows[side_h * 2 + column] + u_rows[side_h * 2 + column + 24]
                        + u_rows[side_h * 2 + column + 10] + u_rows[side_h * 2 + column + 14] + beside
                        + beside_2 - 6.0f * u_rows[side_h * 2 + column + 12]);
                }
            }
            const bool is_made = place_d >= tile_d && place_d < tile_d + 16 && place_d < D;
            UNROLL
            for (int side_h = 1; side_h < 5; ++side_h) {
                const Index place_h = first_h + side_h - 1;
                if (interior) {
                    if (within(lane * 2 - 2, 60) && is_made && within(place_h - tile_h, 12)) {
                        Pack<float, 2> part_3 = Pack<float, 2>();
                        UNROLL
                        for (int element = 0; element < 2; ++element) {
                            part_3[element] = v_row[side_h * 2 + element - 2];
                        }
                        store(v + (place_d * v_stride_0 + place_h * v_stride_1 + first_w), part_3);
                    }
                } else {
                    UNROLL
                    for (int column = 0; column < 2; ++column) {
                        if (within(lane * 2 - 2, 60) && is_made && within(place_h - tile_h, 12) && place_h < H
                            && first_w + column < W) {
                            v[place_d * v_stride_0 + place_h * v_stride_1 + first_w + column] =
                                v_row[side_h * 2 + column - 2];
                        }
                    }
                }
            }
            const Index place_d_2 = row - 3;
            const Pack<float, 2> part_3 =
                load<2>(u_beside + (warp_before * 128 + lane * 2 - now * 512 + 1600));
            UNROLL
            for (int element = 0; element < 2; ++element) {
                u_rows[element + 48] = part_3[element];
            }
            const Pack<float, 2> part_4 =
                load<2>(u_beside + (warp_after * 128 + lane * 2 - now * 512 + 1536));
            UNROLL
            for (int element = 0; element < 2; ++element) {
                u_rows[element + 58] = part_4[element];
            }
            UNROLL
            for (int held = 0; held < 24; ++held) {
                u_rows[held] = u_rows[held + 12];
            }
            float u_made[8];
            UNROLL
            for (int side_h = 1; side_h < 5; ++side_h) {
                const Index place_h = first_h + side_h - 1;
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_w = first_w + column;
                    const Index d = interior ? place_d_2 : nearest(place_d_2, D);
                    const Index h = interior ? place_h : nearest(place_h, H);
                    const Index w = interior ? place_w : nearest(place_w, W);
                    const float beside = (column + 63) / 2 == 32
                        ? u_rows[side_h * 2 + (column + 63) % 2 + 48]
                        : shuffle(0xffffffffu, u_rows[side_h * 2 + (column + 63) % 2 + 48],
                        lane + (column + 63) / 2 - 32, 32);
                    const float beside_2 = (column + 65) / 2 == 32
                        ? u_rows[side_h * 2 + (column + 65) % 2 + 48]
                        : shuffle(0xffffffffu, u_rows[side_h * 2 + (column + 65) % 2 + 48],
                        lane + (column + 65) / 2 - 32, 32);
                    u_made[side_h * 2 + column - 2] = u_rows[side_h * 2 + column + 48]
                        + k[d * k_stride_0 + h * k_stride_1 + w]
                        * (u_rows[side_h * 2 + column + 36] + u_rows[side_h * 2 + column + 60]
                        + u_rows[side_h * 2 + column + 46] + u_rows[side_h * 2 + column + 50] + beside
                        + beside_2 - 6.0f * u_rows[side_h * 2 + column + 48]);
                }
            }
            UNROLL
            for (int side_h = 1; side_h < 5; ++side_h) {
                const Index place_h = first_h + side_h - 1;
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_w = first_w + column;
                    u_rows[side_h * 2 + column + 24] = interior
                        || (within(place_d_2, D) && within(place_h, H) && within(place_w, W))
                        ? u_made[side_h * 2 + column - 2] : 0.0f;
                }
            }
            Pack<float, 2> part_5 = Pack<float, 2>();
            UNROLL
            for (int element = 0; element < 2; ++element) {
                part_5[element] = u_rows[element + 14];
            }
            store(u_beside + (now * 512 + warp * 128 + lane * 2), part_5);
            Pack<float, 2> part_6 = Pack<float, 2>();
            UNROLL
            for (int element = 0; element < 2; ++element) {
                part_6[element] = u_rows[element + 20];
            }
            store(u_beside + (now * 512 + warp * 128 + lane * 2 + 64), part_6);
            UNROLL
            for (int held = 0; held < 36; ++held) {
                u_rows[held + 36] = u_rows[held + 48];
            }
            const Index row_read = minimum(row, tile_d + 17);
            if (interior) {
                UNROLL
                for (int side_h = 1; side_h < 5; ++side_h) {
                    const Pack<float, 2> part_7 =
                        load_here<2>(u + (row_read * u_stride_0 + (first_h + side_h - 1) * u_stride_1
                        + first_w));
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        u_rows[side_h * 2 + element + 72] = part_7[element];
                    }
                }
            } else {
                UNROLL
                for (int side_h = 1; side_h < 5; ++side_h) {
                    const Index place_h = first_h + side_h - 1;
                    UNROLL
                    for (int column = 0; column < 2; ++column) {
                        const Index place_w = first_w + column;
                        u_rows[side_h * 2 + column + 72] = within(row_read, D) && within(place_h, H)
                            && within(place_w, W)
                            ? u[row_read * u_stride_0 + place_h * u_stride_1 + place_w] : 0.0f;
                    }
                }
            }
            Pack<float, 2> part_7 = Pack<float, 2>();
            UNROLL
            for (int element = 0; element < 2; ++element) {
                part_7[element] = u_rows[element + 50];
            }
            store(u_beside + (now * 512 + warp * 128 + lane * 2 + 1024), part_7);
            Pack<float, 2> part_8 = Pack<float, 2>();
            UNROLL
            for (int element = 0; element < 2; ++element) {
                part_8[element] = u_rows[element + 56];
            }
            store(u_beside + (now * 512 + warp * 128 + lane * 2 + 1088), part_8);
            __syncthreads();
        }
    }
}

KERNEL(128) box(
    In<float> u, Index u_stride_0, Index u_stride_1,
    In<float> k, Index k_stride_0, Index k_stride_1,
    Out<float> v, Index v_stride_0, Index v_stride_1,
    Index D, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_w = (W + 59) / 60;
    const Index blocks_h = (H + 11) / 12;
    const Index tile_d = block / blocks_w / blocks_h * 16;
    const Index tile_h = block / blocks_w % blocks_h * 12;
    const Index tile_w = block % blocks_w * 60;
    SHARED(float, u_beside, 2048);
    for (int at = thread; at < 2048; at += 128) {
        u_beside[at] = 0.0f;
    }
    __syncthreads();

    const int lane = thread % 32;
    const int warp = thread / 32;
    const Index first_h = tile_h + warp * 4 - 2;
    const Index first_w = tile_w + lane * 2 - 2;
    if (tile_d - 7 >= 0 && tile_d + 22 <= D && tile_h - 2 >= 0 && tile_h + 14 <= H && tile_w - 2 >= 0
        && tile_w + 62 <= W) {
        box_stream<true>(u, u_stride_0, u_stride_1, k, k_stride_0, k_stride_1, v, v_stride_0, v_stride_1, D,
            H, W, u_beside, tile_d, tile_h, lane, warp, first_h, first_w);
    } else {
        box_stream<false>(u, u_stride_0, u_stride_1, k, k_stride_0, k_stride_1, v, v_stride_0, v_stride_1, D,
            H, W, u_beside, tile_d, tile_h, lane, warp, first_h, first_w);
    }
}
