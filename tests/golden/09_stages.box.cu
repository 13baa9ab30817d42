// box, schedule: default
// y: tile i 16, j 32; 512 threads, 1 output each, (512,1):(1,512)
// row: 20 x 32 in shared memory; halo i [2, 2], j [0, 0]
// x: 20 x 36 in shared memory; halo i [2, 2], j [2, 2]
// shared memory: 5440 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) box(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 31) / 32;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, x_tile, 20 * 36);
    SHARED(float, row_tile, 20 * 32);
    for (int at = thread; at < 20 * 36; at += 512) {
        const Index x_i = tile_i + at / 36 - 2;
        const Index x_j = tile_j + at % 36 - 2;
        x_tile[at] = x[reflect(x_i, H) * x_stride_0 + reflect(x_j, W)];
    }
    __syncthreads();
    for (int at = thread; at < 20 * 32; at += 512) {
        const Index row_i = tile_i + at / 32 - 2;
        const Index row_j = tile_j + at % 32;
        if (row_i < H + 2 && row_j < W) {
            float sum = 0.0f;
            UNROLL
            for (int v = -2; v < 3; ++v) {
                sum = sum + x_tile[at / 32 * 36 + at % 32 + v + 2];
            }
            row_tile[at] = sum;
        }
    }
    __syncthreads();

    const int item_i = thread / 32;
    const int item_j = thread % 32;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = -2; u < 3; ++u) {
            sum = sum + row_tile[(item_i + u + 2) * 32 + item_j];
        }
        y[i * y_stride_0 + j] = 0.04f * sum;
    }
}
