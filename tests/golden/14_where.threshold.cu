// threshold, schedule: chosen by the compiler
// y, over: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: 18 x 66 in shared memory; halo i [1, 1], j [1, 1]
// limit: global memory
// shared memory: 4752 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) threshold(
    In<float> x, Index x_stride_0,
    In<float> limit,
    Out<float> y, Index y_stride_0,
    Out<bool> over, Index over_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 18 * 66);
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
            const float mean = 0.2f
                * (x_tile[(item_i + 1) * 66 + item_j + 1] + x_tile[item_i * 66 + item_j + 1]
                + x_tile[(item_i + 2) * 66 + item_j + 1] + x_tile[(item_i + 1) * 66 + item_j]
                + x_tile[(item_i + 1) * 66 + item_j + 2]);
            y[i * y_stride_0 + j] = x_tile[(item_i + 1) * 66 + item_j + 1] > mean + limit[0]
                ? x_tile[(item_i + 1) * 66 + item_j + 1] : 0.0f;
            over[i * over_stride_0 + j] = x_tile[(item_i + 1) * 66 + item_j + 1] > mean + limit[0]
                && !is_nan(mean);
        }
    }
}
