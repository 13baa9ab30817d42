// heat, schedule: alone
// v: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// u: global memory; halo i [1, 1], j [1, 1]
// c: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) heat(
    In<float> u, Index u_stride_0,
    In<float> c,
    Out<float> v, Index v_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            v[i * v_stride_0 + j] = u[i * u_stride_0 + j]
                + c[0] * (u[nearest(i - 1, H) * u_stride_0 + j] + u[nearest(i + 1, H) * u_stride_0 + j]
                + u[i * u_stride_0 + nearest(j - 1, W)]
                + u[i * u_stride_0 + nearest(j + 1, W)] - 4.0f * u[i * u_stride_0 + j]);
        }
    }
}
