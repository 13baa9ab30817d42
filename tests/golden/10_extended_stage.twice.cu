// twice, schedule: chosen by the compiler
// y: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// g: 1026 in shared memory; halo i [1, 1]
// x: 1028 in shared memory; halo i [2, 2]
// shared memory: 8216 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) twice(
    In<float> x,
    Out<float> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    SHARED(float, x_tile, 1028);
    SHARED(float, g_tile, 1026);
    for (int at = thread; at < 1028; at += 256) {
        const Index x_i = tile_i + at - 2;
        x_tile[at] = within(x_i, N) ? x[x_i] : 0.0f;
    }
    __syncthreads();
    for (int at = thread; at < 1026; at += 256) {
        const Index g_i = tile_i + at - 1;
        if (g_i < N + 1) {
            const Index g_i_2 = mirror(g_i, N);
            g_tile[at] = 0.25f * x_tile[g_i_2 - tile_i + 1] + 0.5f * x_tile[g_i_2 - tile_i + 2]
                + 0.25f * x_tile[g_i_2 - tile_i + 3];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            y[i] = 0.25f * g_tile[item_i] + 0.5f * g_tile[item_i + 1] + 0.25f * g_tile[item_i + 2];
        }
    }
}
