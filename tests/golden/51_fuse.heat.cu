// heat, schedule: default
// v: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// 4 steps a launch; halo of a step i [1, 1], j [1, 1]
// u: 24 x 72 in shared memory, twice; halo i [4, 4], j [4, 4]
// c: global memory
// shared memory: 13824 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) heat(
    In<float> u, Index u_stride_0,
    In<float> c,
    Out<float> v, Index v_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, u_tile, 2 * 24 * 72);
    for (int at = thread; at < 24 * 72; at += 256) {
        const Index u_i = tile_i + at / 72 - 4;
        const Index u_j = tile_j + at % 72 - 4;
        u_tile[at] = u[nearest(u_i, H) * u_stride_0 + nearest(u_j, W)];
    }
    __syncthreads();
    for (int step = 1; step < 4; ++step) {
        for (int at = thread; at < 22 * 70; at += 256) {
            const int box_i = at / 70;
            const Index place_i = tile_i + box_i - 3;
            const int box_j = at % 70;
            const Index place_j = tile_j + box_j - 3;
            if (box_i >= step - 1 && box_i < -step + 23 && place_i < H - step + 4 && box_j >= step - 1
                && box_j < -step + 71 && place_j < W - step + 4) {
                const Index i = nearest(place_i, H);
                const Index j = nearest(place_j, W);
                u_tile[(step % 2 * 24 + box_i + 1) * 72 + box_j + 1] =
                    u_tile[((step - 1) % 2 * 24 + i - tile_i + 4) * 72 + j - tile_j + 4]
                    + c[0] * (u_tile[((step - 1) % 2 * 24 + i - tile_i + 3) * 72 + j - tile_j + 4]
                    + u_tile[((step - 1) % 2 * 24 + i - tile_i + 5) * 72 + j - tile_j + 4]
                    + u_tile[((step - 1) % 2 * 24 + i - tile_i + 4) * 72 + j - tile_j + 3]
                    + u_tile[((step - 1) % 2 * 24 + i - tile_i + 4) * 72 + j - tile_j + 5]
                    - 4.0f * u_tile[((step - 1) % 2 * 24 + i - tile_i + 4) * 72 + j - tile_j + 4]);
            }
        }
        __syncthreads();
    }
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            v[i * v_stride_0 + j] = u_tile[(24 + item_i + 4) * 72 + item_j + 4]
                + c[0] * (u_tile[(24 + item_i + 3) * 72 + item_j + 4]
                + u_tile[(24 + item_i + 5) * 72 + item_j + 4] + u_tile[(24 + item_i + 4) * 72 + item_j + 3]
                + u_tile[(24 + item_i + 4) * 72 + item_j + 5]
                - 4.0f * u_tile[(24 + item_i + 4) * 72 + item_j + 4]);
        }
    }
}
