// heat, schedule: registers
// v: tile i 16, j 56; 32 threads, 32 outputs each, 2 columns a lane, row after row
// 4 steps a launch; halo of a step i [1, 1], j [1, 1]
// u: registers, row after row; halo i [4, 4], j [4, 4]
// c: global memory
#include "layoutc.cuh"

using Index = int;

// A warp takes row after row of 64 columns; interior: all that its block reads and writes is there.
template <bool interior>
DEVICE void heat_stream(
    In<float> u, Index u_stride_0,
    In<float> c,
    Out<float> v, Index v_stride_0,
    Index H, Index W,
    Index tile_i, int lane, Index first_j
) {
    float u_rows[26];
    UNROLL
    for (int held = 0; held < 26; ++held) {
        u_rows[held] = 0.0f;
    }

    float c_held[1];
    c_held[0] = c[0];

    const Index rows = minimum(H - tile_i + 13, 29);
    for (int walked = 0; walked < rows; walked += 3) {
        UNROLL
        for (int turn = 0; turn < 3; ++turn) {
            const Index row = tile_i + walked + turn - 4;
            const Index place_i = row - 9;
            float v_row[2];
            UNROLL
            for (int column = 0; column < 2; ++column) {
                const float beside = (column + 63) / 2 == 32
                    ? u_rows[(column + 63) % 2 + 2]
                    : shuffle(0xffffffffu, u_rows[(column + 63) % 2 + 2], lane + (column + 63) / 2 - 32, 32);
                const float beside_2 = (column + 65) / 2 == 32
                    ? u_rows[(column + 65) % 2 + 2]
                    : shuffle(0xffffffffu, u_rows[(column + 65) % 2 + 2], lane + (column + 65) / 2 - 32, 32);
                v_row[column] = u_rows[column + 2]
                    + c_held[0] * (u_rows[column] + u_rows[column + 4] + beside
                    + beside_2 - 4.0f * u_rows[column + 2]);
            }
            const bool is_made = place_i >= tile_i && place_i < tile_i + 16 && place_i < H;
            if (interior) {
                if (within(lane * 2 - 4, 56) && is_made) {
                    Pack<float, 2> part = Pack<float, 2>();
                    UNROLL
                    for (int element = 0; element < 2; ++element) {
                        part[element] = v_row[element];
                    }
                    store(v + (place_i * v_stride_0 + first_j), part);
                }
            } else {
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    if (within(lane * 2 - 4, 56) && is_made && first_j + column < W) {
                        v[place_i * v_stride_0 + first_j + column] = v_row[column];
                    }
                }
            }
            UNROLL
            for (int left = 1; left < 4; ++left) {
                const Index place_i = row + left * 2 - 9;
                UNROLL
                for (int held = 0; held < 4; ++held) {
                    u_rows[held + left * 6 - 6] = u_rows[held + left * 6 - 4];
                }
                float u_made[2];
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const float beside = (column + 63) / 2 == 32
                        ? u_rows[left * 6 + (column + 63) % 2 + 2]
                        : shuffle(0xffffffffu, u_rows[left * 6 + (column + 63) % 2 + 2],
                        lane + (column + 63) / 2 - 32, 32);
                    const float beside_2 = (column + 65) / 2 == 32
                        ? u_rows[left * 6 + (column + 65) % 2 + 2]
                        : shuffle(0xffffffffu, u_rows[left * 6 + (column + 65) % 2 + 2],
                        lane + (column + 65) / 2 - 32, 32);
                    u_made[column] = u_rows[left * 6 + column + 2]
                        + c_held[0] * (u_rows[left * 6 + column] + u_rows[left * 6 + column + 4] + beside
                        + beside_2 - 4.0f * u_rows[left * 6 + column + 2]);
                }
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_j = first_j + column;
                    u_rows[left * 6 + column - 2] = interior || (within(place_i, H) && within(place_j, W))
                        ? u_made[column] : 0.0f;
                }
            }
            UNROLL
            for (int held = 0; held < 6; ++held) {
                u_rows[held + 18] = u_rows[held + 20];
            }
            const Index row_read = minimum(row, tile_i + 19);
            if (interior) {
                const Pack<float, 2> part = load_here<2>(u + (row_read * u_stride_0 + first_j));
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    u_rows[element + 24] = part[element];
                }
            } else {
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    const Index place_j = first_j + column;
                    u_rows[column + 24] = within(row_read, H) && within(place_j, W)
                        ? u[row_read * u_stride_0 + place_j] : 0.0f;
                }
            }
        }
    }
}

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
    const Index first_j = tile_j + thread * 2 - 4;
    if (tile_i - 13 >= 0 && tile_i + 26 <= H && tile_j - 4 >= 0 && tile_j + 60 <= W) {
        heat_stream<true>(u, u_stride_0, c, v, v_stride_0, H, W, tile_i, thread, first_j);
    } else {
        heat_stream<false>(u, u_stride_0, c, v, v_stride_0, H, W, tile_i, thread, first_j);
    }
}
