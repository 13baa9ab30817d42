// life, schedule: chosen by the compiler
// after: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// cell: 18 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1188 bytes
// living: tile one output; 1 threads, 1 output each, (1,1):(1,1)
// cell: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) life(
    In<u8> cell, Index cell_stride_0,
    Out<u8> after, Index after_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(u8, cell_tile, 18 * 66);
    for (int at = thread; at < 18 * 66; at += 256) {
        const Index cell_i = tile_i + at / 66 - 1;
        const Index cell_j = tile_j + at % 66 - 1;
        cell_tile[at] = cell[wrap(cell_i, H) * cell_stride_0 + wrap(cell_j, W)];
    }
    __syncthreads();

    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            int sum = 0;
            UNROLL
            for (int u = -1; u < 2; ++u) {
                UNROLL
                for (int v = -1; v < 2; ++v) {
                    sum = add(sum, int(cell_tile[(item_i + u + 1) * 66 + item_j + v + 1]));
                }
            }
            const int around = sub(sum, int(cell_tile[(item_i + 1) * 66 + item_j + 1]));
            after[i * after_stride_0 + j] = u8(around == 3
                || around == 2 && int(cell_tile[(item_i + 1) * 66 + item_j + 1]) == 1);
        }
    }
}

KERNEL(1) life_living(
    In<u8> cell, Index cell_stride_0,
    Out<i64> living,
    Index H, Index W
) {
    i64 count = 0ll;
    for (Index i = 0; i < H; ++i) {
        for (Index j = 0; j < W; ++j) {
            count = count + i64(int(cell[i * cell_stride_0 + j]) == 1);
        }
    }
    living[0] = count;
}
