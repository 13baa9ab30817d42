// threadIdx, schedule: default
// template: tile for 4, while 32; 128 threads, 1 output each, (128,1):(1,128)
// tile: global memory
// float: 5 x 34 in shared memory; halo for [0, 1], while [1, 1]
// shared memory: 680 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128) threadIdx_2(
    In<float> float_2, Index float_2_stride_0,
    In<float> tile,
    Out<float> template_2, Index template_2_stride_0,
    Index int_2, Index shared
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_while_2 = (shared + 31) / 32;
    const Index tile_for_2 = block / blocks_while_2 * 4;
    const Index tile_while_2 = block % blocks_while_2 * 32;
    SHARED(float, float_2_tile, 5 * 34);
    for (int at = thread; at < 5 * 34; at += 128) {
        const Index float_2_for_2 = tile_for_2 + at / 34;
        const Index float_2_while_2 = tile_while_2 + at % 34 - 1;
        float_2_tile[at] = float_2[wrap(float_2_for_2, int_2) * float_2_stride_0
            + wrap(float_2_while_2, shared)];
    }
    __syncthreads();

    const int item_for_2 = thread / 32;
    const int item_while_2 = thread % 32;
    const Index for_2 = tile_for_2 + item_for_2;
    const Index while_2 = tile_while_2 + item_while_2;
    if (for_2 < int_2 && while_2 < shared) {
        const float sum = float_2_tile[item_for_2 * 34 + item_while_2]
            + float_2_tile[item_for_2 * 34 + item_while_2 + 2];
        template_2[for_2 * template_2_stride_0 + while_2] = tile[0] * sum
            + float_2_tile[(item_for_2 + 1) * 34 + item_while_2 + 1];
    }
}
