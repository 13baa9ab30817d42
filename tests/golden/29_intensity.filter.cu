// filter, schedule: default
// y: tile i 28, j 28; 196 threads, 4 outputs each, (196,4):(1,196)
// w: 5 x 5 in constant memory
// x: 32 x 32 in shared memory; halo i [0, 4], j [0, 4]
// shared memory: 4096 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(196) filter(
    In<float> x, Index x_stride_0,
    CONSTANT_PARAM Constant<float, 25> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 23) / 28;
    const Index tile_i = block / blocks_j * 28;
    const Index tile_j = block % blocks_j * 28;
    SHARED(float, x_tile, 32 * 32);
    for (int at = thread; at < 32 * 32; at += 196) {
        const Index x_i = tile_i + at / 32;
        const Index x_j = tile_j + at % 32;
        if (x_i < H && x_j < W) {
            x_tile[at] = x[x_i * x_stride_0 + x_j];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 7 + thread / 28;
        const int item_j = thread % 28;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H - 4 && j < W - 4) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 5; ++u) {
                UNROLL
                for (int v = 0; v < 5; ++v) {
                    sum = fma(w[u * 5 + v], x_tile[(item_i + u) * 32 + item_j + v], sum);
                }
            }
            y[i * y_stride_0 + j] = sum;
        }
    }
}
