// heat3d, schedule: default
// v: tile k 2, i 4, j 32; 256 threads, 1 output each, (256,1):(1,256)
// u: 4 x 6 x 34 in shared memory; halo k [1, 1], i [1, 1], j [1, 1]
// c: global memory
// shared memory: 6528 bytes
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
    const Index blocks_i = (H + 3) / 4;
    const Index tile_k = block / blocks_j / blocks_i * 2;
    const Index tile_i = block / blocks_j % blocks_i * 4;
    const Index tile_j = block % blocks_j * 32;
    SHARED(double, u_tile, 4 * 6 * 34);
    for (int at = thread; at < 4 * 6 * 34; at += 256) {
        const Index u_k = tile_k + at / 204 - 1;
        const Index u_i = tile_i + at / 34 % 6 - 1;
        const Index u_j = tile_j + at % 34 - 1;
        u_tile[at] = within(u_k, L) && within(u_i, H) && within(u_j, W)
            ? u[u_k * u_stride_0 + u_i * u_stride_1 + u_j] : 0.0;
    }
    __syncthreads();

    const int item_k = thread / 128;
    const int item_i = thread / 32 % 4;
    const int item_j = thread % 32;
    const Index k = tile_k + item_k;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (k < L && i < H && j < W) {
        v[k * v_stride_0 + i * v_stride_1 + j] = u_tile[((item_k + 1) * 6 + item_i + 1) * 34 + item_j + 1]
            + c[0] * (u_tile[(item_k * 6 + item_i + 1) * 34 + item_j + 1]
            + u_tile[((item_k + 2) * 6 + item_i + 1) * 34 + item_j + 1]
            + u_tile[((item_k + 1) * 6 + item_i) * 34 + item_j + 1]
            + u_tile[((item_k + 1) * 6 + item_i + 2) * 34 + item_j + 1]
            + u_tile[((item_k + 1) * 6 + item_i + 1) * 34 + item_j]
            + u_tile[((item_k + 1) * 6 + item_i + 1) * 34 + item_j + 2]
            - 6.0 * u_tile[((item_k + 1) * 6 + item_i + 1) * 34 + item_j + 1]);
    }
}
