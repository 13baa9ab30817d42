// gradient, schedule: default
// gx, gy, length: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: 18 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1188 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) gradient(
    In<u8> x, Index x_stride_0,
    Out<i16> gx, Index gx_stride_0,
    Out<i16> gy, Index gy_stride_0,
    Out<float> length, Index length_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(u8, x_tile, 18 * 66);
    for (int at = thread; at < 18 * 66; at += 256) {
        const Index x_i = tile_i + at / 66 - 1;
        const Index x_j = tile_j + at % 66 - 1;
        x_tile[at] = x[nearest(x_i, H) * x_stride_0 + nearest(x_j, W)];
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            const int across = sub(int(x_tile[item_i * 66 + item_j + 2]), int(x_tile[item_i * 66 + item_j]));
            const int across_2 = sub(int(x_tile[(item_i + 1) * 66 + item_j + 2]),
                int(x_tile[(item_i + 1) * 66 + item_j]));
            const int across_3 = sub(int(x_tile[(item_i + 2) * 66 + item_j + 2]),
                int(x_tile[(item_i + 2) * 66 + item_j]));
            const int sx = add(add(across, mul(2, across_2)), across_3);
            const int down = sub(int(x_tile[(item_i + 2) * 66 + item_j]), int(x_tile[item_i * 66 + item_j]));
            const int down_2 = sub(int(x_tile[(item_i + 2) * 66 + item_j + 1]),
                int(x_tile[item_i * 66 + item_j + 1]));
            const int down_3 = sub(int(x_tile[(item_i + 2) * 66 + item_j + 2]),
                int(x_tile[item_i * 66 + item_j + 2]));
            const int sy = add(add(down, mul(2, down_2)), down_3);
            gx[i * gx_stride_0 + j] = i16(sx);
            gy[i * gy_stride_0 + j] = i16(sy);
            length[i * length_stride_0 + j] = sqrt(float(add(mul(sx, sx), mul(sy, sy))));
        }
    }
}
