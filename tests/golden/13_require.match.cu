// match, schedule: default
// distance: tile i 8, j 16; 64 threads, 2 outputs each, (64,2):(1,64)
// image: global memory
// pattern: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(64) match(
    In<float> image, Index image_stride_0,
    In<float> pattern, Index pattern_stride_0,
    Out<float> distance, Index distance_stride_0,
    Index H, Index W, Index P, Index Q
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = floor_div(W - Q + 16, 16);
    const Index tile_i = block / blocks_j * 8;
    const Index tile_j = block % blocks_j * 16;
    UNROLL
    for (int item = 0; item < 2; ++item) {
        const int item_i = item * 4 + thread / 16;
        const int item_j = thread % 16;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H - P + 1 && j < W - Q + 1) {
            float sum = 0.0f;
            for (Index u = 0; u < P; ++u) {
                for (Index v = 0; v < Q; ++v) {
                    const float square_of = image[(i + u) * image_stride_0 + j + v]
                        - pattern[u * pattern_stride_0 + v];
                    sum = sum + square_of * square_of;
                }
            }
            distance[i * distance_stride_0 + j] = sum;
        }
    }
}
