// heat, schedule: alone
// v: tile i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
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
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 32;
    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        v[i * v_stride_0 + j] = u[i * u_stride_0 + j]
            + c[0] * ((i - 1 >= 0 ? u[(i - 1) * u_stride_0 + j] : 0.0f)
            + (i + 1 < H ? u[(i + 1) * u_stride_0 + j] : 0.0f)
            + (j - 1 >= 0 ? u[i * u_stride_0 + j - 1] : 0.0f)
            + (j + 1 < W ? u[i * u_stride_0 + j + 1] : 0.0f) - 4.0f * u[i * u_stride_0 + j]);
    }
}
