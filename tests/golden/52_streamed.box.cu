// box, schedule: default
// v: tile d 8, h 4, w 28; 32 threads, 32 outputs each, 1 column a lane, row after row
// 2 steps a launch; halo of a step d [1, 1], h [1, 1], w [1, 1]
// u: registers, row after row; halo d [2, 2], h [2, 2], w [2, 2]
// k: global memory; halo d [1, 1], h [1, 1], w [1, 1]
#include "layoutc.cuh"

using Index = int;

KERNEL(32) box(
    In<float> u, Index u_stride_0, Index u_stride_1,
    In<float> k, Index k_stride_0, Index k_stride_1,
    Out<float> v, Index v_stride_0, Index v_stride_1,
    Index D, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_w = (W + 27) / 28;
    const Index blocks_h = (H + 3) / 4;
    const Index tile_d = floor_div(block / blocks_w, blocks_h) * 8;
    const Index tile_h = floor_mod(block / blocks_w, blocks_h) * 4;
    const Index tile_w = block % blocks_w * 28;
    const int lane = thread;
    const Index first_w = tile_w + lane - 2;
    float u_rows[48];
    UNROLL
    for (int held = 0; held < 48; ++held) {
        u_rows[held] = float();
    }
    const Index rows = D - tile_d + 4 < 12 ? D - tile_d + 4 : 12;
    for (int walked = 0; walked < rows; walked += 3) {
        UNROLL
        for (int turn = 0; turn < 3; ++turn) {
            const Index row = tile_d + walked + turn - 2;
            UNROLL
            for (int held = 0; held < 40; ++held) {
                u_rows[held] = u_rows[held + 8];
            }
            UNROLL
            for (int side_h = 0; side_h < 8; ++side_h) {
                const Index place_h = tile_h + side_h - 2;
                const Index place_w = first_w;
                u_rows[side_h + 16] = within(row, D) && within(place_h, H) && within(place_w, W)
                    ? u[row * u_stride_0 + place_h * u_stride_1 + place_w] : 0.0f;
            }
            UNROLL
            for (int step = 1; step < 2; ++step) {
                const Index place_d = row - step;
                UNROLL
                for (int side_h = step; side_h < -step + 8; ++side_h) {
                    const Index place_h = tile_h + side_h - 2;
                    const Index place_w = first_w;
                    const Index d = nearest(place_d, D);
                    const Index h = nearest(place_h, H);
                    const Index w = nearest(place_w, W);
                    const float beside = shuffle(0xffffffffu, u_rows[step * 24 + side_h - 16], lane - 1, 32);
                    const float beside_2 = shuffle(0xffffffffu, u_rows[step * 24 + side_h - 16], lane + 1,
                        32);
                    const float made = u_rows[step * 24 + side_h - 16]
                        + k[d * k_stride_0 + h * k_stride_1 + w]
                        * (u_rows[step * 24 + side_h - 24] + u_rows[step * 24 + side_h - 8]
                        + u_rows[step * 24 + side_h - 17] + u_rows[step * 24 + side_h - 15] + beside
                        + beside_2 - 6.0f * u_rows[step * 24 + side_h - 16]);
                    u_rows[step * 24 + side_h + 16] = within(place_d, D) && within(place_h, H)
                        && within(place_w, W) ? made : 0.0f;
                }
            }
            const Index place_d = row - 2;
            if (place_d >= tile_d && place_d < tile_d + 8 && place_d < D) {
                UNROLL
                for (int side_h = 2; side_h < 6; ++side_h) {
                    const Index place_h = tile_h + side_h - 2;
                    const Index place_w = first_w;
                    const Index d = nearest(place_d, D);
                    const Index h = nearest(place_h, H);
                    const Index w = nearest(place_w, W);
                    const float beside_3 = shuffle(0xffffffffu, u_rows[side_h + 32], lane - 1, 32);
                    const float beside_4 = shuffle(0xffffffffu, u_rows[side_h + 32], lane + 1, 32);
                    if (within(lane - 2, 28) && place_h < H && place_w < W) {
                        v[place_d * v_stride_0 + place_h * v_stride_1 + place_w] = u_rows[side_h + 32]
                            + k[d * k_stride_0 + h * k_stride_1 + w]
                            * (u_rows[side_h + 24] + u_rows[side_h + 40] + u_rows[side_h + 31]
                            + u_rows[side_h + 33] + beside_3 + beside_4 - 6.0f * u_rows[side_h + 32]);
                    }
                }
            }
        }
    }
}
