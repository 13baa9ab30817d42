// smooth, schedule: large
// y: tile i 32, j 64; 256 threads, 8 outputs each, (256,8):(1,256)
// w: global memory
// x: 34 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 8976 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) smooth(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 32;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 34 * 66);
    for (int at = thread; at < 34 * 66; at += 256) {
        const Index x_i = tile_i + at / 66 - 1;
        const Index x_j = tile_j + at % 66 - 1;
        x_tile[at] = x[mirror(x_i, H) * x_stride_0 + mirror(x_j, W)];
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 8; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 3; ++u) {
                UNROLL
                for (int v = 0; v < 3; ++v) {
                    sum = fma(w[u * w_stride_0 + v], x_tile[(item_i + u) * 66 + item_j + v], sum);
                }
            }
            y[i * y_stride_0 + j] = sum;
        }
    }
}
