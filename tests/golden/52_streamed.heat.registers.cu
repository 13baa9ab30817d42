// heat, schedule: registers
// v: tile i 16, j 56; 32 threads, 32 outputs each, 2 columns a lane, row after row
// 4 steps a launch; halo of a step i [1, 1], j [1, 1]
// u: registers, row after row; halo i [4, 4], j [4, 4]
// c: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(32) heat(
    In<float> u, Index u_stride_0,
    In<float> c,
    Out<float> v, Index v_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 55) / 56;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 56;
    const int lane = thread;
    const Index first_j = tile_j + lane * 2 - 4;
    float u_rows[24];
    UNROLL
    for (int held = 0; held < 24; ++held) {
        u_rows[held] = float();
    }
    float c_held[1];
    c_held[0] = c[0];
    const Index rows = H - tile_i + 8 < 24 ? H - tile_i + 8 : 24;
    for (int walked = 0; walked < rows; walked += 3) {
        UNROLL
        for (int turn = 0; turn < 3; ++turn) {
            const Index row = tile_i + walked + turn - 4;
            UNROLL
            for (int held = 0; held < 22; ++held) {
                u_rows[held] = u_rows[held + 2];
            }
            UNROLL
            for (int column = 0; column < 2; ++column) {
                const Index place_j = first_j + column;
                u_rows[column + 4] = within(row, H) && within(place_j, W)
                    ? u[row * u_stride_0 + place_j] : 0.0f;
            }
            UNROLL
            for (int step = 1; step < 4; ++step) {
                const Index place_i = row - step;
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_j = first_j + column;
                    const float beside = (column + 63) / 2 == 32
                        ? u_rows[step * 6 + (column + 63) % 2 - 4]
                        : shuffle(0xffffffffu, u_rows[step * 6 + (column + 63) % 2 - 4],
                        lane + (column + 63) / 2 - 32, 32);
                    const float beside_2 = (column + 65) / 2 == 32
                        ? u_rows[step * 6 + (column + 65) % 2 - 4]
                        : shuffle(0xffffffffu, u_rows[step * 6 + (column + 65) % 2 - 4],
                        lane + (column + 65) / 2 - 32, 32);
                    const float made = u_rows[step * 6 + column - 4]
                        + c_held[0] * (u_rows[step * 6 + column - 6] + u_rows[step * 6 + column - 2] + beside
                        + beside_2 - 4.0f * u_rows[step * 6 + column - 4]);
                    u_rows[step * 6 + column + 4] = within(place_i, H) && within(place_j, W) ? made : 0.0f;
                }
            }
            const Index place_i = row - 4;
            if (place_i >= tile_i && place_i < tile_i + 16 && place_i < H) {
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_j = first_j + column;
                    const float beside_3 = (column + 63) / 2 == 32
                        ? u_rows[(column + 63) % 2 + 20]
                        : shuffle(0xffffffffu, u_rows[(column + 63) % 2 + 20], lane + (column + 63) / 2 - 32,
                        32);
                    const float beside_4 = (column + 65) / 2 == 32
                        ? u_rows[(column + 65) % 2 + 20]
                        : shuffle(0xffffffffu, u_rows[(column + 65) % 2 + 20], lane + (column + 65) / 2 - 32,
                        32);
                    if (within(lane * 2 + column - 4, 56) && place_j < W) {
                        v[place_i * v_stride_0 + place_j] = u_rows[column + 20]
                            + c_held[0] * (u_rows[column + 18] + u_rows[column + 22] + beside_3
                            + beside_4 - 4.0f * u_rows[column + 20]);
                    }
                }
            }
        }
    }
}
