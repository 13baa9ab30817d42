// row_max, schedule: chosen by the compiler
// m: tile i 32; 512 threads, 1 output each, ((32,16),1):((1,0),1)
// 16 threads an output; they meet in shared memory
// blocks that share an output: maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1); the last one joins what all have
// x: global memory
// shared memory: 2049 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512, 2) row_max(
    In<float> x, Index x_stride_0,
    Out<float> m,
    Index H, Index W,
    Parts<float> row_max_greatest,
    Out<unsigned> row_max_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1);
    const Index blocks_i = (H + 31) / 32;
    const Index part = block / blocks_i;
    const Index i = block % blocks_i * 32 + thread % 32;
    const int worker = thread / 32;
    float greatest = -infinity<float>();
    const Index j_end = i < H ? W : 0;
    UNROLL_BY(8)
    for (Index j = part * 16 + worker; j < j_end; j += parts * 16) {
        greatest = maximum(greatest, x[i * x_stride_0 + j]);
    }

    SHARED(float, greatest_of_group, 16 * 32);
    greatest_of_group[thread / 32 * 32 + thread % 32] = greatest;
    __syncthreads();
    if (worker == 0) {
        greatest = greatest_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const float greatest_there = greatest_of_group[group * 32 + thread % 32];
            greatest = maximum(greatest, greatest_there);
        }
    }
    if (worker == 0 && i < H) {
        if (parts == 1) {
            m[i] = greatest;
        } else {
            row_max_greatest[part * H + i] = greatest;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(row_max_arrived + block % blocks_i, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float greatest_2 = -infinity<float>();
            const Index part_end = i < H ? parts : 0;
            UNROLL_BY(8)
            for (Index part_2 = worker; part_2 < part_end; part_2 += 16) {
                const float greatest_there = fetch(row_max_greatest + (part_2 * H + i));
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            greatest_of_group[thread / 32 * 32 + thread % 32] = greatest_2;
            __syncthreads();
            if (worker == 0) {
                greatest_2 = greatest_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const float greatest_there = greatest_of_group[group * 32 + thread % 32];
                    greatest_2 = maximum(greatest_2, greatest_there);
                }
            }
            if (worker == 0 && i < H) {
                m[i] = greatest_2;
            }
        }
    }
}
