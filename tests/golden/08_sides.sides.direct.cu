// sides, schedule: direct
// y: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// sea: global memory
// x: global memory; halo i [2, 2], j [2, 2]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) sides(
    In<float> x, Index x_stride_0,
    In<float> sea,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        y[i * y_stride_0 + j] = 0.25f
            * (x[wrap(i - 2, H) * x_stride_0 + j] + x[wrap(i + 2, H) * x_stride_0 + j]
            + x[i * x_stride_0 + mirror(j - 2, W)] + (j + 2 < W ? x[i * x_stride_0 + j + 2] : sea[0]));
    }
}
