// transpose, schedule: direct
// y: tile j 1, i 128; 128 threads, 1 output each, (128,1):(1,128)
// x: global memory; halo i [0, 0], j [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(128) transpose(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_i = (H + 127) / 128;
    const Index tile_j = block / blocks_i;
    const Index tile_i = block % blocks_i * 128;
    const Index j = tile_j;
    const Index i = tile_i + thread;
    if (j < W && i < H) {
        y[j * y_stride_0 + i] = x[i * x_stride_0 + j];
    }
}
