// total, schedule: eight
// s: tile one output; 8 threads, 1 output each, ((8,1),1):((0,1),0)
// 8 threads an output; they meet by shuffles
// blocks that share an output: maximum((N + 127) / 128, 1)
// x: global memory
// s: tile one output; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// joins what several blocks have of an output: 512 threads an output; they meet by shuffles, then through shared memory
// shared memory: 64 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(8) total(
    In<float> x,
    Out<float> s,
    Index N,
    Out<float> total_sum
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum((N + 127) / 128, 1);
    float sum = 0.0f;
    UNROLL_BY(4)
    for (Index i = block * 8 + thread; i < N; i += parts * 8) {
        sum = sum + x[i];
    }
    UNROLL
    for (int distance = 4; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffu, sum, thread ^ distance, 8);
        sum = sum + sum_there;
    }
    if (thread == 0) {
        if (parts == 1) {
            s[0] = sum;
        } else {
            total_sum[block] = sum;
        }
    }
}

KERNEL(512) total_joined(
    Out<float> s,
    Index N,
    In<float> total_sum
) {
    const int thread = threadIdx.x;
    float sum = 0.0f;
    float lost = 0.0f;
    const Index parts = maximum((N + 127) / 128, 1);
    UNROLL_BY(4)
    for (Index part = thread; part < parts; part += 512) {
        const float sum_there = total_sum[part];
        sum = add_compensated(sum, sum_there, lost);
    }
    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
        sum = sum + sum_there;
    }
    SHARED(float, sum_of_warp, 16);
    if (lane == 0) {
        sum_of_warp[thread / 32] = sum;
    }
    __syncthreads();
    sum = sum_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 16);
        sum = sum + sum_there;
    }
    if (thread == 0) {
        s[0] = sum;
    }
}
