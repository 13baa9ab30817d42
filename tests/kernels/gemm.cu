// c[16, 8] = a[16, 16] * b[16, 8] by one warp on tensor cores; f16 as pairs in 32-bit words, f32 out
#include "layoutc.cuh"

KERNEL(32) gemm(In<unsigned> a, In<unsigned> b_columns, Out<float> c) {
    const int lane = threadIdx.x;
    const int group = lane / 4;
    const int quad = lane % 4;
    const Pack<unsigned, 4> a_held = {a[group * 8 + quad], a[(group + 8) * 8 + quad], a[group * 8 + quad + 4], a[(group + 8) * 8 + quad + 4]};
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    mma<f16, f16>(sum, a_held, b_columns[group * 8 + quad], b_columns[group * 8 + quad + 4]);
    c[group * 8 + quad * 2] = sum[0];
    c[group * 8 + quad * 2 + 1] = sum[1];
    c[(group + 8) * 8 + quad * 2] = sum[2];
    c[(group + 8) * 8 + quad * 2 + 1] = sum[3];
}
