// heat3d, schedule: planes
// v: tile k 1, i 8, j 32; 256 threads, 1 output each, (256,1):(1,256)
// u: global memory; halo k [1, 1], i [1, 1], j [1, 1]
// c: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) heat3d(
    In<double> u, Index u_stride_0, Index u_stride_1,
    In<double> c,
    Out<double> v, Index v_stride_0, Index v_stride_1,
    Index L, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index blocks_i = (H + 7) / 8;
    const Index tile_k = block / blocks_j / blocks_i;
    const Index tile_i = block / blocks_j % blocks_i * 8;
    const Index tile_j = block % blocks_j * 32;
    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index k = tile_k;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (k < L && i < H && j < W) {
        v[k * v_stride_0 + i * v_stride_1 + j] = u[k * u_stride_0 + i * u_stride_1 + j]
            + c[0] * ((k - 1 >= 0 ? u[(k - 1) * u_stride_0 + i * u_stride_1 + j] : 0.0)
            + (k + 1 < L ? u[(k + 1) * u_stride_0 + i * u_stride_1 + j] : 0.0)
            + (i - 1 >= 0 ? u[k * u_stride_0 + (i - 1) * u_stride_1 + j] : 0.0)
            + (i + 1 < H ? u[k * u_stride_0 + (i + 1) * u_stride_1 + j] : 0.0)
            + (j - 1 >= 0 ? u[k * u_stride_0 + i * u_stride_1 + j - 1] : 0.0)
            + (j + 1 < W ? u[k * u_stride_0 + i * u_stride_1 + j + 1] : 0.0)
            - 6.0 * u[k * u_stride_0 + i * u_stride_1 + j]);
    }
}
