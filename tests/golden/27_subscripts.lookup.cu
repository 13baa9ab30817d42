// lookup, schedule: chosen by the compiler
// y: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// at: global memory; halo i [0, 0]
// table: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) lookup(
    In<float> table,
    In<int> at,
    Out<float> y,
    Index M, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            const i64 at_2 = i64(at[i]);
            y[i] = table[nearest(at_2, i64(M))];
        }
    }
}
