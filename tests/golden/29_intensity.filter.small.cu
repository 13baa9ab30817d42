// filter, schedule: small
// y: tile i 4, j 4; 16 threads, 1 output each, (16,1):(1,16)
// w: 5 x 5 in constant memory
// x: 8 x 8 in shared memory; halo i [0, 4], j [0, 4]
// shared memory: 256 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(16) filter(
    In<float> x, Index x_stride_0,
    CONSTANT_PARAM Constant<float, 25> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = floor_div(W - 1, 4);
    const Index tile_i = block / blocks_j * 4;
    const Index tile_j = block % blocks_j * 4;
    SHARED(float, x_tile, 8 * 8);
    for (int at = thread; at < 8 * 8; at += 16) {
        const Index x_i = tile_i + at / 8;
        const Index x_j = tile_j + at % 8;
        if (x_i < H && x_j < W) {
            x_tile[at] = x[x_i * x_stride_0 + x_j];
        }
    }
    __syncthreads();

    const int item_i = thread / 4;
    const int item_j = thread % 4;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H - 4 && j < W - 4) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 5; ++u) {
            UNROLL
            for (int v = 0; v < 5; ++v) {
                sum = fma(w[u * 5 + v], x_tile[(item_i + u) * 8 + item_j + v], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
