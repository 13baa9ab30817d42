// layer, schedule: default
// y: tile m 2, i 2, j 2, c 2; 8 threads, 1 output each, (8,1):(1,8)
// b: global memory; halo m [0, 0]
// w: 2 x 2 x 3 x 3 in shared memory; halo m [0, 0], c [0, 0]
// x: 2 x 4 x 4 in shared memory; halo c [0, 0], i [1, 1], j [1, 1]
// shared memory: 68 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(8) layer(
    In<i8> x, Index x_stride_0, Index x_stride_1,
    In<i8> w, Index w_stride_0, Index w_stride_1, Index w_stride_2,
    In<int> b,
    Out<int> y, Index y_stride_0, Index y_stride_1,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 1) / 2;
    const Index blocks_i = (H + 1) / 2;
    const Index tile_m = block / blocks_j / blocks_i * 2;
    const Index tile_i = block / blocks_j % blocks_i * 2;
    const Index tile_j = block % blocks_j * 2;
    SHARED(i8, x_tile, 2 * 4 * 4);
    SHARED(i8, w_tile, 2 * 2 * 3 * 3);
    const int item_m = thread / 4;
    const int item_i = thread / 2 % 2;
    const int item_j = thread % 2;
    const Index m = tile_m + item_m;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    int sum = 0;
    for (Index chunk = 0; chunk < 2; ++chunk) {
        const Index chunk_c = chunk * 2;
        for (int at = thread; at < 2 * 4 * 4; at += 8) {
            const Index x_c = chunk_c + at / 16;
            const Index x_i = tile_i + at / 4 % 4 - 1;
            const Index x_j = tile_j + at % 4 - 1;
            x_tile[at] = x_c < 4 && within(x_i, H) && within(x_j, W)
                ? x[x_c * x_stride_0 + x_i * x_stride_1 + x_j] : 0;
        }
        for (int at = thread; at < 2 * 2 * 3 * 3; at += 8) {
            const Index w_m = tile_m + at / 18;
            const Index w_c = chunk_c + at / 9 % 2;
            const Index w_2 = at / 3 % 3;
            const Index w_3 = at % 3;
            w_tile[at] = w_m < 5 && w_c < 4
                ? w[w_m * w_stride_0 + w_c * w_stride_1 + w_2 * w_stride_2 + w_3] : 0;
        }
        __syncthreads();
        UNROLL
        for (int item_c = 0; item_c < 2; ++item_c) {
            UNROLL
            for (int u = 0; u < 3; ++u) {
                UNROLL
                for (int v = 0; v < 3; ++v) {
                    sum = mul_add(int(w_tile[((item_m * 2 + item_c) * 3 + u) * 3 + v]),
                        int(x_tile[(item_c * 4 + item_i + u) * 4 + item_j + v]), sum);
                }
            }
        }
        __syncthreads();
    }
    if (m < 5 && i < H && j < W) {
        y[m * y_stride_0 + i * y_stride_1 + j] = add(b[m], sum);
    }
}
