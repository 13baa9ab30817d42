// product, schedule: default
// c: tile i 8, j 16; 128 threads, 1 output each, (128,1):(1,128)
// a: global memory
// b: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(128) product(
    In<float> a, Index a_stride_0,
    In<float> b, Index b_stride_0,
    Out<float> c, Index c_stride_0,
    Index M, Index K, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (N + 15) / 16;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 16;
    const int item_i = thread / 16;
    const int item_j = thread % 16;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < M && j < N) {
        float sum = 0.0f;
        for (Index k = 0; k < K; ++k) {
            sum = fma(a[i * a_stride_0 + k], b[k * b_stride_0 + j], sum);
        }
        c[i * c_stride_0 + j] = sum;
    }
}
