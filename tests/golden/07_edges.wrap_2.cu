// wrap, schedule: chosen by the compiler
// y: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [3, -3]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) wrap_2(
    In<float> x,
    Out<float> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N + 6) {
            y[i] = x[wrap(i - 3, N)];
        }
    }
}
