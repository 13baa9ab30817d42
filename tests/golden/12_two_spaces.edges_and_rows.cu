// edges_and_rows, schedule: chosen by the compiler
// steepness: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [0, 0], j [1, 1]
// highest: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) edges_and_rows(
    In<float> x, Index x_stride_0,
    Out<float> steepness, Index steepness_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            steepness[i * steepness_stride_0 + j] = absolute(x[i * x_stride_0 + nearest(j + 1, W)]
                - x[i * x_stride_0 + nearest(j - 1, W)]);
        }
    }
}

KERNEL(256) edges_and_rows_highest(
    In<float> x, Index x_stride_0,
    Out<float> highest,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < H) {
            float greatest = -infinity<float>();
            for (Index j = 0; j < W; ++j) {
                greatest = maximum(greatest, x[i * x_stride_0 + j]);
            }
            highest[i] = greatest;
        }
    }
}
