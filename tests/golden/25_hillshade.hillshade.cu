// hillshade, schedule: default
// slope, light, shade: tile i 16, j 64; 256 threads, 4 outputs each, (256,4):(1,256)
// z: 18 x 66 in shared memory; halo i [1, 1], j [1, 1]
// shared memory: 2376 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) hillshade(
    In<i16> z, Index z_stride_0,
    Out<float> slope, Index slope_stride_0,
    Out<float> light, Index light_stride_0,
    Out<u8> shade, Index shade_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 16;
    const Index tile_j = block % blocks_j * 64;
    SHARED(i16, z_tile, 18 * 66);
    for (int at = thread; at < 18 * 66; at += 256) {
        const Index z_i = tile_i + at / 66 - 1;
        const Index z_j = tile_j + at % 66 - 1;
        z_tile[at] = z[nearest(z_i, H) * z_stride_0 + nearest(z_j, W)];
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 4 + thread / 64;
        const int item_j = thread % 64;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < H && j < W) {
            const float dzdx = float(sub(sub(sub(add(add(int(z_tile[item_i * 66 + item_j + 2]),
                mul(2, int(z_tile[(item_i + 1) * 66 + item_j + 2]))),
                int(z_tile[(item_i + 2) * 66 + item_j + 2])), int(z_tile[item_i * 66 + item_j])),
                mul(2, int(z_tile[(item_i + 1) * 66 + item_j]))), int(z_tile[(item_i + 2) * 66 + item_j])))
                / 720.0f;
            const float dzdy = float(sub(sub(sub(add(add(int(z_tile[(item_i + 2) * 66 + item_j]),
                mul(2, int(z_tile[(item_i + 2) * 66 + item_j + 1]))),
                int(z_tile[(item_i + 2) * 66 + item_j + 2])), int(z_tile[item_i * 66 + item_j])),
                mul(2, int(z_tile[item_i * 66 + item_j + 1]))), int(z_tile[item_i * 66 + item_j + 2])))
                / 720.0f;
            const float lit = 255.0f
                * (sin(0.7853982f) + cos(0.7853982f) * (sin(-3.9269907f) * dzdy - cos(-3.9269907f) * dzdx))
                / sqrt(1.0f + dzdx * dzdx + dzdy * dzdy);
            slope[i * slope_stride_0 + j] = atan(sqrt(dzdx * dzdx + dzdy * dzdy));
            light[i * light_stride_0 + j] = lit;
            shade[i * shade_stride_0 + j] = convert<u8>(rint(clamp(lit, 0.0f, 255.0f)));
        }
    }
}
