// wave, schedule: chosen by the compiler
// next, now: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// u: global memory; halo i [1, 1], j [1, 1]
// before: global memory; halo i [0, 0], j [0, 0]
// speed: global memory; halo i [0, 0], j [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) wave(
    In<float> u, Index u_stride_0,
    In<float> before, Index before_stride_0,
    In<float> speed, Index speed_stride_0,
    Out<float> next, Index next_stride_0,
    Out<float> now, Index now_stride_0,
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
            next[i * next_stride_0 + j] = 2.0f * u[i * u_stride_0 + j] - before[i * before_stride_0 + j]
                + speed[i * speed_stride_0 + j]
                * (u[mirror(i - 1, H) * u_stride_0 + j] + u[mirror(i + 1, H) * u_stride_0 + j]
                + u[i * u_stride_0 + mirror(j - 1, W)]
                + u[i * u_stride_0 + mirror(j + 1, W)] - 4.0f * u[i * u_stride_0 + j]);
            now[i * now_stride_0 + j] = u[i * u_stride_0 + j];
        }
    }
}
