// smooth, schedule: vectors
// y: tile i 8, j 64; 128 threads, 4 outputs each, (128,4):(4,1)
// w: global memory
// x: 10 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 2880 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) smooth(
    In<float> x, Index x_stride_0,
    In<float> w, Index w_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 10 * 72);
    for (int at = thread; at < 10 * 18; at += 128) {
        const Index x_i = tile_i + at / 18 - 1;
        const Index x_j = tile_j + at % 18 * 4 - 4;
        if (within(x_i, H) && x_j >= 0 && x_j + 4 <= W) {
            store(x_tile + at * 4, load<4>(x + (x_i * x_stride_0 + x_j)));
        } else {
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_tile[at * 4 + element] = x[mirror(x_i, H) * x_stride_0 + mirror(x_j + element, W)];
            }
        }
    }
    __syncthreads();

    const int item_i = thread / 16;
    const int item_j = thread % 16 * 4;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    Pack<float, 4> y_run = Pack<float, 4>();
    UNROLL
    for (int element = 0; element < 4; ++element) {
        if (i < H && j + element < W) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 3; ++u) {
                UNROLL
                for (int v = 0; v < 3; ++v) {
                    sum = fma(w[u * w_stride_0 + v], x_tile[(item_i + u) * 72 + item_j + element + v + 3],
                        sum);
                }
            }
            y_run[element] = sum;
        }
    }
    if (i < H && j + 3 < W) {
        store(y + (i * y_stride_0 + j), y_run);
    } else {
        UNROLL
        for (int element = 0; element < 4; ++element) {
            if (i < H && j + element < W) {
                y[i * y_stride_0 + j + element] = y_run[element];
            }
        }
    }
}
