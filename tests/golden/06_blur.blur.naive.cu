// blur, schedule: naive
// y: tile i 16, j 16; 256 threads, 1 output each, (256,1):(1,256)
// w: global memory
// x: global memory; halo i [2, 2], j [2, 2]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) blur(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 15) / 16;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 16;
    const int item_i = thread / 16;
    const int item_j = thread % 16;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 5; ++u) {
            UNROLL
            for (int v = 0; v < 5; ++v) {
                sum = fma(w[u * w_stride_0 + v],
                    x[nearest(i + u - 2, H) * x_stride_0 + nearest(j + v - 2, W)], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
