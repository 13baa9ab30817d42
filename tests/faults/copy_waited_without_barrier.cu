// chunked: race: |never written|while an asynchronous copy
#include "layoutc.cuh"

KERNEL(128) chunked(In<float> x, Out<float> y, int chunks) {
    SHARED(float, buffer, 2 * 512);
    const int thread = threadIdx.x;
    copy_async16(buffer + thread * 4, x + thread * 4);
    copy_async_commit();
    for (int chunk = 0; chunk < chunks; ++chunk) {
        if (chunk + 1 < chunks) {
            copy_async16(buffer + ((chunk + 1) % 2 * 512 + thread * 4), x + ((chunk + 1) * 512 + thread * 4));
        }
        copy_async_commit();
        copy_async_wait<1>();
            UNROLL
        for (int item = 0; item < 4; ++item) {
            const int at = item * 128 + thread;
            y[chunk * 512 + at] = 2.0f * buffer[chunk % 2 * 512 + 511 - at];
        }
        __syncthreads();
    }
}

// The first n of 128 values and zeros after them, copied 4 and 8 bytes at a time.
KERNEL(32) padded(In<float> x, Out<float> y, int n) {
    SHARED(float, single, 128);
    SHARED(float, pair, 128);
    const int lane = threadIdx.x;
    for (int at = lane; at < 128; at += 32) {
        const int there = min(at, max(n - 1, 0));
        copy_async4(single + at, x + there, at < n ? 4 : 0);
    }
    for (int at = lane * 2; at < 128; at += 64) {
        copy_async8(pair + at, x + at, max(0, min(n - at, 2)) * 4);
    }
    copy_async_commit();
    copy_async_wait<0>();
    __syncwarp();
    for (int at = lane; at < 128; at += 32) {
        y[at] = single[at];
        y[128 + at] = pair[127 - at];
    }
}
