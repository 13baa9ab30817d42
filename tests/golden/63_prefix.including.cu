// including, schedule: chosen by the compiler
// y: tile i 32; 512 threads, 1 output each, ((32,16),1):((1,0),1)
// 16 threads an output; they meet in shared memory
// blocks that share an output: maximum(minimum(264 / maximum((N + 31) / 32, 1), (N + 63) / 64), 1); the last one joins what all have
// x: global memory
// shared memory: 4097 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512, 2) including(
    In<int> x,
    Out<i64> y,
    Index N,
    Parts<i64> including_sum,
    Out<unsigned> including_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(minimum(264 / maximum((N + 31) / 32, 1), (N + 63) / 64), 1);
    const Index blocks_i = (N + 31) / 32;
    const Index part = block / blocks_i;
    const Index i = block % blocks_i * 32 + thread % 32;
    const int worker = thread / 32;
    i64 sum = 0ll;
    const Index j_end = i < N ? N : 0;
    UNROLL_BY(8)
    for (Index j = part * 16 + worker; j < j_end; j += parts * 16) {
        sum = add(sum, j <= i ? i64(x[j]) : 0ll);
    }

    SHARED(i64, sum_of_group, 16 * 32);
    sum_of_group[thread / 32 * 32 + thread % 32] = sum;
    __syncthreads();
    if (worker == 0) {
        sum = sum_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const i64 sum_there = sum_of_group[group * 32 + thread % 32];
            sum = add(sum, sum_there);
        }
    }
    if (worker == 0 && i < N) {
        if (parts == 1) {
            y[i] = sum;
        } else {
            including_sum[part * N + i] = sum;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(including_arrived + block % blocks_i, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            i64 sum_2 = 0ll;
            const Index part_end = i < N ? parts : 0;
            UNROLL_BY(8)
            for (Index part_2 = worker; part_2 < part_end; part_2 += 16) {
                const i64 sum_there = fetch(including_sum + (part_2 * N + i));
                sum_2 = add(sum_2, sum_there);
            }
            sum_of_group[thread / 32 * 32 + thread % 32] = sum_2;
            __syncthreads();
            if (worker == 0) {
                sum_2 = sum_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const i64 sum_there = sum_of_group[group * 32 + thread % 32];
                    sum_2 = add(sum_2, sum_there);
                }
            }
            if (worker == 0 && i < N) {
                y[i] = sum_2;
            }
        }
    }
}
