// c[64, 64] = a[64, K] * b[64, K] by one warpgroup, chunks of 128 bytes along K, four buffers
#include "layoutc.cuh"

KERNEL(128) warpgroup(In<f16> a, In<f16> b, Out<float> c, int K) {
    PANEL_AT(f16, a_chunks, 0, 4 * 64 * 64);
    PANEL_AT(f16, b_chunks, 32768, 4 * 64 * 64);
    const int thread = threadIdx.x;
    float sums[32];
    UNROLL
    for (int item = 0; item < 32; ++item) {
        sums[item] = 0.0f;
    }
    const int chunks = K / 64;
    for (int chunk = 0; chunk <= chunks; ++chunk) {
        if (chunk < chunks) {
            UNROLL
            for (int turn = 0; turn < 4; ++turn) {
                const int line = turn * 16 + thread / 8, vector = thread % 8;
                const int to = chunk % 4 * 4096 + line * 64 + (vector ^ line % 8) * 8;
                copy_async16(a_chunks + to, a + (line * K + chunk * 64 + vector * 8));
                copy_async16(b_chunks + to, b + (line * K + chunk * 64 + vector * 8));
            }
        }
        copy_async_commit();
        copy_async_wait<1>();
        copy_async_show();
        __syncthreads();
        if (chunk > 0) {
            const int buffer = (chunk + 3) % 4;
            wgmma_begin<32>(sums);
            UNROLL
            for (int step = 0; step < 4; ++step) {
                wgmma<64>(sums, a_chunks + (buffer * 4096 + step * 16), b_chunks + (buffer * 4096 + step * 16));
            }
            wgmma_commit();
            wgmma_wait<1>();
        }
    }
    wgmma_end<32>(sums);
    for (int item = 0; item < 32; ++item) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + item / 2 % 2 * 8;
        c[row * 64 + item / 4 * 8 + thread % 4 * 2 + item % 2] = sums[item];
    }
}
