// half, schedule: default
// y: tile i 8, j 64; 512 threads, 1 output each, (512,1):(1,512)
// w: global memory
// x: 10 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1440 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) half_2(
    In<f16> x, Index x_stride_0,
    In<f16> w, Index w_stride_0,
    Out<f16> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 64;
    SHARED(f16, x_tile, 10 * 72);
    for (int at = thread; at < 10 * 18; at += 512) {
        const Index x_i = tile_i + at / 18 - 1;
        const Index x_j = tile_j + at % 18 * 4 - 4;
        if (within(x_i, H) && x_j >= 0 && x_j + 4 <= W) {
            store(x_tile + at * 4, load<4>(x + (x_i * x_stride_0 + x_j)));
        } else {
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_tile[at * 4 + element] = within(x_i, H) && within(x_j + element, W)
                    ? x[x_i * x_stride_0 + x_j + element] : f16(0.0f);
            }
        }
    }
    __syncthreads();

    const int item_i = thread / 64;
    const int item_j = thread % 64;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    if (i < H && j < W) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            UNROLL
            for (int v = 0; v < 3; ++v) {
                sum = fma(float(w[u * w_stride_0 + v]), float(x_tile[(item_i + u) * 72 + item_j + v + 3]),
                    sum);
            }
        }
        y[i * y_stride_0 + j] = f16(sum);
    }
}
