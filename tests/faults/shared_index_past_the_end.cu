// blur: access outside shared memory: x_tile[1360], of 1360 elements
#include "layoutc.cuh"

KERNEL(256) blur(In<float> x, CONSTANT_PARAM Constant<float, 25> w, Out<float> y, int H, int W, i64 x_stride_i, i64 y_stride_i) {
    SHARED(float, x_tile, 20 * 68);
    const int thread = threadIdx.x;
    const int tiles_j = (W + 63) / 64;
    const int tile_i = blockIdx.x / tiles_j * 16;
    const int tile_j = blockIdx.x % tiles_j * 64;
    UNROLL
    for (int round = 0; round < 6; ++round) {
        const int at = round * 256 + thread;
        if (at < 20 * 68 + 1) {
            const int i = nearest(tile_i + at / 68 - 2, H);
            const int j = nearest(tile_j + at % 68 - 2, W);
            x_tile[at] = x[i * x_stride_i + j];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int i = item * 4 + thread / 64;
        const int j = thread % 64;
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 5; ++u) {
            UNROLL
            for (int v = 0; v < 5; ++v) {
                sum = mul_add(w[u * 5 + v], x_tile[(i + u) * 68 + j + v], sum);
            }
        }
        if (tile_i + i < H && tile_j + j < W) {
            y[(tile_i + i) * y_stride_i + tile_j + j] = sum;
        }
    }
}
