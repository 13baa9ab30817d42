// channels_last, schedule: default
// y: tile n 1, h 1, w 32, c 16; 128 threads, 4 outputs each, (128,4):(1,128)
// x: 1 x 16 x 1 x 32 in shared memory; halo n [0, 0], c [0, 0], h [0, 0], w [0, 0]
// shared memory: 1024 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) channels_last(
    In<f16> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    Out<f16> y, Index y_stride_0, Index y_stride_1, Index y_stride_2,
    Index N, Index C, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_c = (C + 15) / 16;
    const Index blocks_w = (W + 31) / 32;
    const Index tile_n = block / blocks_c / blocks_w / H;
    const Index tile_h = block / blocks_c / blocks_w % H;
    const Index tile_w = block / blocks_c % blocks_w * 32;
    const Index tile_c = block % blocks_c * 16;
    SHARED(f16, x_tile, 1 * 16 * 1 * 32);
    for (int at = thread; at < 1 * 16 * 1 * 32; at += 128) {
        const Index x_c = tile_c + at / 32;
        const Index x_w = tile_w + at % 32;
        if (tile_n < N && x_c < C && tile_h < H && x_w < W) {
            x_tile[at] = x[tile_n * x_stride_0 + x_c * x_stride_1 + tile_h * x_stride_2 + x_w];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_w = item * 8 + thread / 16;
        const int item_c = thread % 16;
        const Index n = tile_n;
        const Index h = tile_h;
        const Index w = tile_w + item_w;
        const Index c = tile_c + item_c;
        if (n < N && h < H && w < W && c < C) {
            y[n * y_stride_0 + h * y_stride_1 + w * y_stride_2 + c] = x_tile[item_c * 32 + item_w];
        }
    }
}
