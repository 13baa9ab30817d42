// take, schedule: chosen by the compiler
// y: tile n 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// at: global memory; halo n [0, 0]
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) take(
    In<u8> x,
    In<i64> at,
    Out<u8> y,
    Index H, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_n = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_n = item * 256 + thread;
        const Index n = tile_n + item_n;
        if (n < N) {
            const i64 at_2 = at[n];
            y[n] = x[wrap(at_2, i64(H))];
        }
    }
}
