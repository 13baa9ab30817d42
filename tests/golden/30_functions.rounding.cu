// rounding, schedule: chosen by the compiler
// down, up, near, toward, whole: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) rounding(
    In<float> x,
    Out<float> down,
    Out<float> up,
    Out<float> near,
    Out<float> toward,
    Out<int> whole,
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
            down[i] = floor(x[i]);
            up[i] = ceil(x[i]);
            near[i] = rint(x[i]);
            toward[i] = trunc(x[i]);
            whole[i] = convert<int>(x[i]);
        }
    }
}
