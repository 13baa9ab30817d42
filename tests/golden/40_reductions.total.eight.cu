// total, schedule: eight
// s: tile one output; 8 threads, 1 output each, ((8,1),1):((0,1),0)
// 8 threads an output; they meet by shuffles
// blocks that share an output: maximum(maximum(minimum(33792, (N + 31) / 32), (N + 127) / 128), 1); the last one joins what all have
// x: global memory
// shared memory: 1 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(8) total(
    In<float> x,
    Out<float> s,
    Index N,
    Parts<float> total_sum,
    Out<unsigned> total_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(33792, (N + 31) / 32), (N + 127) / 128), 1);
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

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(total_arrived, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float sum_2 = 0.0f;
            float lost = 0.0f;
            UNROLL_BY(4)
            for (Index part = thread; part < parts; part += 8) {
                const float sum_there = fetch(total_sum + part);
                sum_2 = add_compensated(sum_2, sum_there, lost);
            }
            UNROLL
            for (int distance = 4; distance > 0; distance /= 2) {
                const float sum_there = shuffle(0xffu, sum_2, thread ^ distance, 8);
                sum_2 = sum_2 + sum_there;
            }
            if (thread == 0) {
                s[0] = sum_2;
            }
        }
    }
}
