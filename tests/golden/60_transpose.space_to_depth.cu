// space_to_depth, schedule: chosen by the compiler
// y: tile n 1, c 1, a 1, b 2, h 8, w 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) space_to_depth(
    In<u8> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    Out<u8> y, Index y_stride_0, Index y_stride_1, Index y_stride_2, Index y_stride_3, Index y_stride_4,
    Index N, Index C, Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_w = (W / 2 + 63) / 64;
    const Index blocks_h = (H / 2 + 7) / 8;
    const Index tile_n = block / blocks_w / blocks_h / 2 / C;
    const Index tile_c = block / blocks_w / blocks_h / 2 % C;
    const Index tile_a = block / blocks_w / blocks_h % 2;
    const Index tile_h = block / blocks_w % blocks_h * 8;
    const Index tile_w = block % blocks_w * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_b = item / 2;
        const int item_h = item % 2 * 4 + thread / 64;
        const int item_w = thread % 64;
        const Index n = tile_n;
        const Index c = tile_c;
        const Index a = tile_a;
        const Index b = item_b;
        const Index h = tile_h + item_h;
        const Index w = tile_w + item_w;
        if (n < N && c < C && h < H / 2 && w < W / 2) {
            y[n * y_stride_0 + c * y_stride_1 + a * y_stride_2 + b * y_stride_3 + h * y_stride_4 + w] =
                x[n * x_stride_0 + c * x_stride_1 + (h * 2 + a) * x_stride_2 + b + w * 2];
        }
    }
}
