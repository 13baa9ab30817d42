// to_fields, schedule: default
// x, y, z: tile i 256; 128 threads, 2 outputs each, (128,2):(1,128)
// points: 256 x 3 in shared memory; halo i [0, 0]
// shared memory: 3072 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) to_fields(
    In<float> points, Index points_stride_0,
    Out<float> x,
    Out<float> y,
    Out<float> z,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 256;
    SHARED(float, points_tile, 256 * 3);
    for (int at = thread; at < 256 * 3; at += 128) {
        const Index points_i = tile_i + at / 3;
        const Index points_1 = at % 3;
        if (points_i < N) {
            points_tile[at] = points[points_i * points_stride_0 + points_1];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 2; ++item) {
        const int item_i = item * 128 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            x[i] = points_tile[item_i * 3];
            y[i] = points_tile[item_i * 3 + 1];
            z[i] = points_tile[item_i * 3 + 2];
        }
    }
}
