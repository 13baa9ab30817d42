// total, schedule: chosen by the compiler
// s: tile one output; 1024 threads, 1 output each, ((1024,1),1):((0,1),0)
// 1024 threads an output, 4 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(264, (N / 4 + 4095) / 4096), (N / 4 + 16383) / 16384), 1); the last one joins what all have
// x: global memory
// shared memory: 129 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(1024) total(
    In<float> x,
    Out<float> s,
    Index N,
    Parts<float> total_sum,
    Out<unsigned> total_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(264, (N / 4 + 4095) / 4096), (N / 4 + 16383) / 16384), 1);
    float sum_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        sum_run[element] = 0.0f;
    }

    const Index i_whole = N / 4 * 4;
    UNROLL_BY(4)
    for (Index i = block * 4096 + thread * 4; i < i_whole; i += parts * 4096) {
        const Pack<float, 4> x_run = load<4>(x + i);
        UNROLL
        for (int element = 0; element < 4; ++element) {
            sum_run[element] = sum_run[element] + x_run[element];
        }
    }
    for (Index i = i_whole + thread + block * 1024; i < N; i += parts * 1024) {
        sum_run[0] = sum_run[0] + x[i];
    }

    float sum = sum_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        sum = sum + sum_run[element];
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
        sum = sum + sum_there;
    }

    SHARED(float, sum_of_warp, 32);
    if (lane == 0) {
        sum_of_warp[thread / 32] = sum;
    }
    __syncthreads();
    sum = sum_of_warp[lane];
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
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
            for (Index part = thread; part < parts; part += 1024) {
                const float sum_there = fetch(total_sum + part);
                sum_2 = add_compensated(sum_2, sum_there, lost);
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 32);
                sum_2 = sum_2 + sum_there;
            }
            if (lane == 0) {
                sum_of_warp[thread / 32] = sum_2;
            }
            __syncthreads();
            sum_2 = sum_of_warp[lane];
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 32);
                sum_2 = sum_2 + sum_there;
            }
            if (thread == 0) {
                s[0] = sum_2;
            }
        }
    }
}
