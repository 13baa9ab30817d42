// sharpen, schedule: default
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// x: 18 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 1728 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) sharpen(
    In<u8> x, Index x_stride_0,
    Out<u8> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(u8, x_tile, 18 * 96);
    for (int at = thread; at < 18 * 6; at += 256) {
        const Index x_i = tile_i + at / 6 - 1;
        const Index x_j = tile_j + at % 6 * 16 - 16;
        if (within(x_i, H) && x_j >= 0 && x_j + 16 <= W) {
            store(x_tile + at * 16, load<16>(x + (x_i * x_stride_0 + x_j)));
        } else {
            UNROLL
            for (int element = 0; element < 16; ++element) {
                x_tile[at * 16 + element] = x[nearest(x_i, H) * x_stride_0 + nearest(x_j + element, W)];
            }
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            y[i * y_stride_0 + j] =
                u8(clamp(sub(sub(sub(sub(mul(5, int(x_tile[(item_i + 1) * 96 + item_j + 16])),
                int(x_tile[item_i * 96 + item_j + 16])), int(x_tile[(item_i + 2) * 96 + item_j + 16])),
                int(x_tile[(item_i + 1) * 96 + item_j + 15])), int(x_tile[(item_i + 1) * 96 + item_j + 17])),
                0, 255));
        }
    }
}
