// to_records, schedule: chosen by the compiler
// points: tile i 16, f 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory; halo i [0, 0]
// y: global memory; halo i [0, 0]
// z: global memory; halo i [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) to_records(
    In<float> x,
    In<float> y,
    In<float> z,
    Out<float> points, Index points_stride_0,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 16;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_f = thread % 64;
        const Index i = tile_i + item_i;
        const Index f = item_f;
        if (i < N && f < 3) {
            points[i * points_stride_0 + f] = f == 0 ? x[i] : f == 1 ? y[i] : z[i];
        }
    }
}
