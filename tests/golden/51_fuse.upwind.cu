// upwind, schedule: default
// v: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// 3 steps a launch; halo of a step i [1, 0], j [1, 1]
// u: 11 x 38 in shared memory, twice; halo i [3, 0], j [3, 3]
// speed: 10 x 36 in shared memory; halo i [2, 0], j [2, 2]
// shared memory: 9568 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) upwind(
    In<double> u, Index u_stride_0,
    In<double> speed, Index speed_stride_0,
    Out<double> v, Index v_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    SHARED(double, u_tile, 2 * 11 * 38);
    SHARED(double, speed_tile, 10 * 36);
    for (int at = thread; at < 11 * 38; at += 256) {
        const Index u_i = tile_i + at / 38 - 3;
        const Index u_j = tile_j + at % 38 - 3;
        u_tile[at] = u_i >= 0 ? u[nearest(u_i, H) * u_stride_0 + wrap(u_j, W)] : 1.0;
    }
    for (int at = thread; at < 10 * 36; at += 256) {
        const Index speed_i = tile_i + at / 36 - 2;
        const Index speed_j = tile_j + at % 36 - 2;
        if (speed_i >= 0 && speed_i < H) {
            speed_tile[at] = speed[speed_i * speed_stride_0 + wrap(speed_j, W)];
        }
    }
    __syncthreads();
    for (int step = 1; step < 3; ++step) {
        for (int at = thread; at < 10 * 36; at += 256) {
            const int box_i = at / 36;
            const Index place_i = tile_i + box_i - 2;
            const int box_j = at % 36;
            const Index place_j = tile_j + box_j - 2;
            if (box_i >= step - 1 && place_i < H && box_j >= step - 1 && box_j < -step + 37
                && place_j < W - step + 3) {
                if (place_i >= 0) {
                    const Index i = nearest(place_i, H);
                    const Index j = wrap(place_j, W);
                    u_tile[(step % 2 * 11 + box_i + 1) * 38 + box_j + 1] =
                        u_tile[((step - 1) * 11 + i - tile_i + 3) * 38 + box_j + 1]
                        - speed_tile[(i - tile_i + 2) * 36 + box_j]
                        * (u_tile[((step - 1) * 11 + i - tile_i + 3) * 38 + box_j + 1]
                        - u_tile[((step - 1) * 11 + i - tile_i + 2) * 38 + box_j + 1])
                        + (u_tile[((step - 1) * 11 + i - tile_i + 3) * 38 + box_j]
                        - u_tile[((step - 1) * 11 + i - tile_i + 3) * 38 + box_j + 2]) / 8.0;
                } else {
                    u_tile[(step % 2 * 11 + box_i + 1) * 38 + box_j + 1] = 1.0;
                }
            }
        }
        __syncthreads();
    }

    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        v[i * v_stride_0 + j] = u_tile[(item_i + 3) * 38 + item_j + 3]
            - speed_tile[(item_i + 2) * 36 + item_j + 2]
            * (u_tile[(item_i + 3) * 38 + item_j + 3] - u_tile[(item_i + 2) * 38 + item_j + 3])
            + (u_tile[(item_i + 3) * 38 + item_j + 2] - u_tile[(item_i + 3) * 38 + item_j + 4]) / 8.0;
    }
}
