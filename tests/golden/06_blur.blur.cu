// blur, schedule: default
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(4,1)
// w: 5 x 5 in constant memory
// x: 20 x 68 in shared memory; halo i [2, 2], j [2, 2]
// shared memory: 5760 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) blur(
    In<float> x, Index x_stride_0,
    CONSTANT_PARAM Constant<float, 25> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 20 * 72);
    for (int at = thread; at < 20 * 18; at += 256) {
        const Index x_i = tile_i + at / 18 - 2;
        const Index x_j = tile_j + at % 18 * 4 - 4;
        if (within(x_i, H) && x_j >= 0 && x_j + 4 <= W) {
            store(x_tile + at * 4, load<4>(x + (x_i * x_stride_0 + x_j)));
        } else {
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_tile[at * 4 + element] = x[nearest(x_i, H) * x_stride_0 + nearest(x_j + element, W)];
            }
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = thread / 16;
        const int item_j = thread % 16 * 4 + item;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 5; ++u) {
                UNROLL
                for (int v = 0; v < 5; ++v) {
                    sum = fma(w[u * 5 + v], x_tile[(item_i + u) * 72 + item_j + v + 2], sum);
                }
            }
            y[i * y_stride_0 + j] = sum;
        }
    }
}
