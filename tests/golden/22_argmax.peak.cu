// peak, schedule: chosen by the compiler
// at, is_peak: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: 20 x 68 in shared memory; halo i [2, 2], j [2, 2]
// shared memory: 5440 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) peak(
    In<float> x, Index x_stride_0,
    Out<i64> at, Index at_stride_0,
    Out<bool> is_peak, Index is_peak_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, x_tile, 20 * 68);
    for (int at_2 = thread; at_2 < 20 * 68; at_2 += 256) {
        const Index x_i = tile_i + at_2 / 68 - 2;
        const Index x_j = tile_j + at_2 % 68 - 2;
        x_tile[at_2] = within(x_i, H) && within(x_j, W) ? x[x_i * x_stride_0 + x_j] : -infinity<float>();
    }
    __syncthreads();

    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            float best = 0.0f;
            i64 place = 0ll;
            bool none_yet = true;
            UNROLL
            for (int u = 0; u < 5; ++u) {
                UNROLL
                for (int v = 0; v < 5; ++v) {
                    const float best_here = x_tile[(item_i + u) * 68 + item_j + v];
                    if (none_yet || (best_here > best || is_nan(best_here) && !is_nan(best))) {
                        best = best_here;
                        place = i64(u * 5 + v);
                        none_yet = false;
                    }
                }
            }
            float greatest = -infinity<float>();
            UNROLL
            for (int u = 0; u < 5; ++u) {
                UNROLL
                for (int v = 0; v < 5; ++v) {
                    greatest = maximum(greatest, x_tile[(item_i + u) * 68 + item_j + v]);
                }
            }
            at[i * at_stride_0 + j] = place;
            is_peak[i * is_peak_stride_0 + j] = x_tile[(item_i + 2) * 68 + item_j + 2] >= greatest;
        }
    }
}
