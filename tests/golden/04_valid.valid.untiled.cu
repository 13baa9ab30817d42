// valid, schedule: untiled
// y: tile i 2, j 2; 4 threads, 1 output each, (4,1):(1,4)
// w: global memory
// x: global memory; halo i [0, 2], j [0, 2]
#include "layoutc.cuh"

using Index = int;

KERNEL(4) valid(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = floor_div(W - 1, 2);
    const Index tile_i = block / blocks_j * 2;
    const Index tile_j = block % blocks_j * 2;
    const int item_i = thread / 2;
    const int item_j = thread % 2;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H - 2 && j < W - 2) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(w[u * w_stride_0 + v], x[(i + u) * x_stride_0 + j + v], sum);
            }
        }
        y[i * y_stride_0 + j] = sum;
    }
}
