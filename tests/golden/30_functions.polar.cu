// polar, schedule: chosen by the compiler
// r, angle: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [0, 0]
// y: global memory; halo i [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) polar(
    In<double> x,
    In<double> y,
    Out<double> r,
    Out<double> angle,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            r[i] = hypot(x[i], y[i]);
            angle[i] = atan2(y[i], x[i]);
        }
    }
}
