// negate, schedule: default
// y: tile i 12; 4 threads, 3 outputs each, (4,3):(3,1)
// x: global memory; halo i [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(4) negate(
    In<int> x,
    Out<int> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 12;
    UNROLL
    for (int item = 0; item < 3; ++item) {
        const int item_i = thread * 3 + item;
        const Index i = tile_i + item_i;
        if (i < N) {
            y[i] = neg(x[i]);
        }
    }
}
