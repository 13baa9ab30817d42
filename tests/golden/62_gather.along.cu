// along, schedule: chosen by the compiler
// y: tile n 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// at: global memory; halo n [0, 0], j [0, 0]
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) along(
    In<double> x, Index x_stride_0,
    In<u16> at, Index at_stride_0,
    Out<double> y, Index y_stride_0,
    Index H, Index W, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_n = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_n = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index n = tile_n + item_n;
        const Index j = tile_j + item_j;
        if (n < N && j < W) {
            const i64 at_2 = i64(at[n * at_stride_0 + j]);
            y[n * y_stride_0 + j] = x[nearest(at_2, i64(H)) * x_stride_0 + j];
        }
    }
}
