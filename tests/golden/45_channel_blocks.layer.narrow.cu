// layer, schedule: narrow
// y: tile m 2, i 2, j 2, c 1; 8 threads, 1 output each, (8,1):(1,8)
// b: global memory; halo m [0, 0]
// w: 2 x 1 x 3 x 3 in shared memory, twice; halo m [0, 0], c [0, 0]
// x: 1 x 4 x 4 in shared memory, twice; halo c [0, 0], i [1, 1], j [1, 1]
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
    SHARED(i8, x_tile, 2 * 1 * 4 * 4);
    SHARED(i8, w_tile, 2 * 2 * 1 * 3 * 3);
    const int item_m = thread / 4;
    const int item_i = thread / 2 % 2;
    const int item_j = thread % 2;
    const Index m = tile_m + item_m;
    const Index i = tile_i + item_i;
    const Index j = tile_j + item_j;
    int sum = 0;
    for (Index chunk = 0; chunk < 5; ++chunk) {
        __syncthreads();
        i8 x_next[2];
        i8 w_next[3];
        if (chunk < 4) {
            UNROLL
            for (int turn = 0; turn < 2; ++turn) {
                const int at = turn * 8 + thread;
                const Index x_i = tile_i + at / 4 - 1;
                const Index x_j = tile_j + at % 4 - 1;
                x_next[turn] = chunk < 4 && within(x_i, H) && within(x_j, W)
                    ? x[chunk * x_stride_0 + x_i * x_stride_1 + x_j] : 0;
            }
            UNROLL
            for (int turn = 0; turn < 3; ++turn) {
                const int at = turn * 8 + thread;
                if (at < 18) {
                    const Index w_m = tile_m + at / 9;
                    const Index w_2 = at / 3 % 3;
                    const Index w_3 = at % 3;
                    w_next[turn] = w_m < 5 && chunk < 4
                        ? w[w_m * w_stride_0 + chunk * w_stride_1 + w_2 * w_stride_2 + w_3] : 0;
                }
            }
        }
        if (chunk > 0) {
            const int buffer = (chunk + 1) % 2;
            UNROLL
            for (int u = 0; u < 3; ++u) {
                UNROLL
                for (int v = 0; v < 3; ++v) {
                    sum = mul_add(int(w_tile[((buffer * 2 + item_m) * 3 + u) * 3 + v]),
                        int(x_tile[(buffer * 4 + item_i + u) * 4 + item_j + v]), sum);
                }
            }
        }
        if (chunk < 4) {
            const int buffer = chunk % 2;
            UNROLL
            for (int turn = 0; turn < 2; ++turn) {
                const int at = turn * 8 + thread;
                x_tile[buffer * 16 + at] = x_next[turn];
            }
            UNROLL
            for (int turn = 0; turn < 3; ++turn) {
                const int at = turn * 8 + thread;
                if (at < 18) {
                    w_tile[buffer * 18 + at] = w_next[turn];
                }
            }
        }
    }
    if (m < 5 && i < H && j < W) {
        y[m * y_stride_0 + i * y_stride_1 + j] = add(b[m], sum);
    }
}
