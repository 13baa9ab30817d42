// smooth, schedule: layout
// y: tile i 8, j 32; 64 threads, 4 outputs each, (64,4):(4,1)
// w: global memory
// x: 10 x 34 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1360 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(64) smooth(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 10 * 34);
    for (int at = thread; at < 10 * 34; at += 64) {
        const Index x_i = tile_i + at / 34 - 1;
        const Index x_j = tile_j + at % 34 - 1;
        x_tile[at] = x[mirror(x_i, H) * x_stride_0 + mirror(x_j, W)];
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = thread / 8;
        const int item_j = thread % 8 * 4 + item;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 3; ++u) {
                UNROLL
                for (int v = 0; v < 3; ++v) {
                    sum = fma(w[u * w_stride_0 + v], x_tile[(item_i + u) * 34 + item_j + v], sum);
                }
            }
            y[i * y_stride_0 + j] = sum;
        }
    }
}
