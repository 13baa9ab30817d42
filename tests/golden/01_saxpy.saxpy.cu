// saxpy, schedule: default
// z: tile i 256; 256 threads, 1 output each, (256,1):(1,256)
// a: global memory
// x: global memory; halo i [0, 0]
// y: global memory; halo i [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) saxpy(
    In<float> a,
    In<float> x,
    In<float> y,
    Out<float> z,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 256;
    const Index i = tile_i + thread;
    if (i < N) {
        z[i] = a[0] * x[i] + y[i];
    }
}
