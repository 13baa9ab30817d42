// same, schedule: default
// y: tile i 2, j 2; 4 threads, 1 output each, (4,1):(1,4)
// w: global memory
// x: 4 x 4 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 64 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(4) same(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 1) / 2;
    const Index tile_i = block / blocks_j * 2;
    const Index tile_j = block % blocks_j * 2;
    SHARED(float, x_tile, 4 * 4);
    for (int at = thread; at < 4 * 4; at += 4) {
        const Index x_i = tile_i + at / 4 - 1;
        const Index x_j = tile_j + at % 4 - 1;
        x_tile[at] = within(x_i, H) && within(x_j, W) ? x[x_i * x_stride_0 + x_j] : 0.0f;
    }
    __syncthreads();

    const int item_i = thread / 2;
    const int item_j = thread % 2;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(w[u * w_stride_0 + v], x_tile[(item_i + u) * 4 + item_j + v], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
