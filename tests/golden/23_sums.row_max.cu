// row_max, schedule: chosen by the compiler
// m: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) row_max(
    In<float> x, Index x_stride_0,
    Out<float> m,
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
            m[i] = greatest;
        }
    }
}
