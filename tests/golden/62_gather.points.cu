// points, schedule: chosen by the compiler
// y: tile n 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// row: global memory; halo n [0, 0]
// column: global memory; halo n [0, 0]
// image: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) points(
    In<float> image, Index image_stride_0,
    In<int> row,
    In<int> column,
    Out<float> y,
    Index H, Index W, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_n = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_n = item * 256 + thread;
        const Index n = tile_n + item_n;
        if (n < N) {
            const i64 at = i64(row[n]);
            const i64 at_2 = i64(column[n]);
            y[n] = image[mirror(at, i64(H)) * image_stride_0 + mirror(at_2, i64(W))];
        }
    }
}
