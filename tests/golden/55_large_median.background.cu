// background, schedule: chosen by the compiler
// y: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// mask: global memory
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) background(
    In<float> x, Index x_stride_0,
    In<u8> mask, Index mask_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W, Index K, Index L
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            const i64 middle = mul(i64(K), i64(L)) / 2ll;
            bool undefined = false;
            for (Index u = 0; u < K; ++u) {
                for (Index v = 0; v < L; ++v) {
                    undefined = is_nan(mask[u * mask_stride_0 + v] != 0
                        ? x[mirror(i + u - K / 2, H) * x_stride_0 + mirror(j + v - L / 2, W)]
                        : floor_mod(add(mul(i64(u), i64(L)), i64(v)), 2ll) == 0ll
                        ? -infinity<float>() : infinity<float>()) || undefined;
                }
            }
            unsigned median_key = 0u;
            unsigned key_step = 2147483648u;
            for (int bit = 0; bit < 32; ++bit) {
                const unsigned trial = median_key + key_step;
                i64 below = 0ll;
                for (Index u = 0; u < K; ++u) {
                    for (Index v = 0; v < L; ++v) {
                        below = below + i64(order_key(mask[u * mask_stride_0 + v] != 0
                            ? x[mirror(i + u - K / 2, H) * x_stride_0 + mirror(j + v - L / 2, W)]
                            : floor_mod(add(mul(i64(u), i64(L)), i64(v)), 2ll) == 0ll
                            ? -infinity<float>() : infinity<float>()) < trial);
                    }
                }
                median_key = below <= middle ? trial : median_key;
                key_step = key_step / 2u;
            }
            y[i * y_stride_0 + j] = undefined ? not_a_number<float>() : from_key<float>(median_key);
        }
    }
}
