// row_sum: access to memory that is not its own
#include "layoutc.cuh"

KERNEL(256) row_sum(In<float> x, Out<float> s, int W) {
    SHARED(float, partial, 8);
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    const i64 row = blockIdx.x;
    float sum = *reinterpret_cast<volatile float*>(i64(W));
    for (int j = thread; j < W; j += 256) {
        sum += x[row * W + j];
    }
    UNROLL
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    }
    if (lane == 0) {
        partial[thread / 32] = sum;
    }
    __syncthreads();
    if (thread < 32) {
        sum = lane < 8 ? partial[lane] : 0.0f;
        UNROLL
        for (int step = 4; step > 0; step /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        }
        sum = __shfl_sync(0xffffffffu, sum, 0);
        if (lane == 0) {
            s[row] = sum;
        }
    }
}

KERNEL(128) rotate(In<double> x, Out<double> y, int n) {
    const int i = blockIdx.x * 128 + threadIdx.x;
    double value = i < n ? x[i] : 0.0;
    value = __shfl_sync(0xffffffffu, value, threadIdx.x + 1, 8);
    if (i < n) {
        y[i] = value;
    }
}

// The positions, within its warp, of the lanes whose number is odd; and the number of lane - 1.
KERNEL(64) odd_lanes(In<int> x, Out<unsigned> odd, Out<int> before) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    const int value = x[i];
    odd[i] = __ballot_sync(0xffffffffu, value % 2 != 0);
    before[i] = __shfl_up_sync(0xffffffffu, value, 1);
}
