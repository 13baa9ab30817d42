// despeckle, schedule: default
// y: tile i 8, j 64; 512 threads, 1 output each, (512,1):(1,512)
// x: 10 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 660 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) despeckle(
    In<u8> x, Index x_stride_0,
    Out<u8> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 64;
    SHARED(u8, x_tile, 10 * 66);
    for (int at = thread; at < 10 * 66; at += 512) {
        const Index x_i = tile_i + at / 66 - 1;
        const Index x_j = tile_j + at % 66 - 1;
        x_tile[at] = x[reflect(x_i, H) * x_stride_0 + reflect(x_j, W)];
    }
    __syncthreads();

    const int item_i = thread / 64;
    const int item_j = thread % 64;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        u8 window[9];
        UNROLL
        for (int u = -1; u < 2; ++u) {
            UNROLL
            for (int v = -1; v < 2; ++v) {
                window[u * 3 + v + 4] = x_tile[(item_i + u + 1) * 66 + item_j + v + 1];
            }
        }
        constexpr short exchange[20][2] = {
            { 0, 6 }, { 0, 3 }, { 3, 6 }, { 1, 7 }, { 1, 4 }, { 4, 7 }, { 2, 8 }, { 2, 5 },
            { 5, 8 }, { 0, 2 }, { 0, 1 }, { 1, 2 }, { 3, 5 }, { 3, 4 }, { 4, 5 }, { 6, 8 },
            { 6, 7 }, { 2, 6 }, { 2, 4 }, { 4, 6 },
        };
        UNROLL
        for (int pair = 0; pair < 20; ++pair) {
            order(window[exchange[pair][0]], window[exchange[pair][1]]);
        }
        y[i * y_stride_0 + j] = window[4];
    }
}
