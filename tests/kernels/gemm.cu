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

KERNEL(32) by_matrices(In<f16> a, In<f16> b, Out<float> c) {
    SHARED(f16, a_rows, 16 * 16);
    SHARED(f16, b_rows, 16 * 16);
    const int lane = threadIdx.x;
    for (int k = lane; k < 256; k += 32) {
        a_rows[k] = a[k];
        b_rows[k] = b[k];
    }
    __syncthreads();
    const auto a_held = load_rows<8>(a_rows + (lane % 16 * 16 + lane / 16 * 8));
    const auto b_held = load_columns<8>(b_rows + (lane % 16 * 16 + lane / 16 * 8));
    float sums[8] = {};
    mma<f16, f16>(sums, a_held, b_held[0], b_held[1]);
    mma<f16, f16>(sums + 4, a_held, b_held[2], b_held[3]);
    for (int k = 0; k < 8; ++k) {
        c[(lane / 4 + k / 2 % 2 * 8) * 16 + k / 4 * 8 + lane % 4 * 2 + k % 2] = sums[k];
    }
}

KERNEL(32) of_bytes(In<i8> a, In<u8> b_columns, Out<int> c) {
    SHARED(i8, a_rows, 16 * 32);
    SHARED(u8, b_rows, 8 * 32);
    const int lane = threadIdx.x;
    for (int k = lane; k < 512; k += 32) {
        a_rows[k] = a[k];
        if (k < 256) b_rows[k] = b_columns[k];
    }
    __syncthreads();
    const auto a_held = load_rows<16>(a_rows + (lane % 16 * 32 + lane / 16 * 16));
    const auto b_held = load_rows<8>(b_rows + (lane % 8 * 32 + lane / 8 % 2 * 16));
    int sums[4] = {0, 0, 0, 0x7fffffff};
    mma<i8, u8>(sums, a_held, b_held[0], b_held[1]);
    for (int k = 0; k < 4; ++k) {
        c[(lane / 4 + k / 2 * 8) * 8 + lane % 4 * 2 + k % 2] = sums[k];
    }
}
