// tests, schedule: chosen by the compiler
// some, every, how_many, times: tile i 32; 512 threads, 1 output each, ((32,16),1):((1,0),1)
// 16 threads an output; they meet in shared memory
// blocks that share an output: maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1); the last one joins what all have
// x: global memory
// shared memory: 7169 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512, 2) tests(
    In<float> x, Index x_stride_0,
    Out<bool> some,
    Out<bool> every,
    Out<i64> how_many,
    Out<float> times,
    Index H, Index W,
    Parts<bool> tests_found,
    Parts<bool> tests_held,
    Parts<i64> tests_count,
    Parts<float> tests_product,
    Out<unsigned> tests_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(minimum(264 / maximum((H + 31) / 32, 1), (W + 63) / 64), 1);
    const Index blocks_i = (H + 31) / 32;
    const Index part = block / blocks_i;
    const Index i = block % blocks_i * 32 + thread % 32;
    const int worker = thread / 32;
    bool found = false;
    bool held = true;
    i64 count = 0ll;
    float product = 1.0f;
    const Index j_end = i < H ? W : 0;
    UNROLL_BY(8)
    for (Index j = part * 16 + worker; j < j_end; j += parts * 16) {
        found = found || x[i * x_stride_0 + j] > 0.0f;
        held = held && x[i * x_stride_0 + j] > 0.0f;
        count = add(count, i64(x[i * x_stride_0 + j] > 0.0f));
        product = product * x[i * x_stride_0 + j];
    }

    SHARED(bool, found_of_group, 16 * 32);
    SHARED(bool, held_of_group, 16 * 32);
    SHARED(i64, count_of_group, 16 * 32);
    SHARED(float, product_of_group, 16 * 32);
    found_of_group[thread / 32 * 32 + thread % 32] = found;
    held_of_group[thread / 32 * 32 + thread % 32] = held;
    count_of_group[thread / 32 * 32 + thread % 32] = count;
    product_of_group[thread / 32 * 32 + thread % 32] = product;
    __syncthreads();
    if (worker == 0) {
        found = found_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const bool found_there = found_of_group[group * 32 + thread % 32];
            found = found || found_there;
        }
        held = held_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const bool held_there = held_of_group[group * 32 + thread % 32];
            held = held && held_there;
        }
        count = count_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const i64 count_there = count_of_group[group * 32 + thread % 32];
            count = add(count, count_there);
        }
        product = product_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 16; ++group) {
            const float product_there = product_of_group[group * 32 + thread % 32];
            product = product * product_there;
        }
    }
    if (worker == 0 && i < H) {
        if (parts == 1) {
            some[i] = found;
            every[i] = held;
            how_many[i] = count;
            times[i] = product;
        } else {
            tests_found[part * H + i] = found;
            tests_held[part * H + i] = held;
            tests_count[part * H + i] = count;
            tests_product[part * H + i] = product;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(tests_arrived + block % blocks_i, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            bool found_2 = false;
            bool held_2 = true;
            i64 count_2 = 0ll;
            float product_2 = 1.0f;
            const Index part_end = i < H ? parts : 0;
            UNROLL_BY(8)
            for (Index part_2 = worker; part_2 < part_end; part_2 += 16) {
                const bool found_there = fetch(tests_found + (part_2 * H + i));
                found_2 = found_2 || found_there;
                const bool held_there = fetch(tests_held + (part_2 * H + i));
                held_2 = held_2 && held_there;
                const i64 count_there = fetch(tests_count + (part_2 * H + i));
                count_2 = add(count_2, count_there);
                const float product_there = fetch(tests_product + (part_2 * H + i));
                product_2 = product_2 * product_there;
            }
            found_of_group[thread / 32 * 32 + thread % 32] = found_2;
            held_of_group[thread / 32 * 32 + thread % 32] = held_2;
            count_of_group[thread / 32 * 32 + thread % 32] = count_2;
            product_of_group[thread / 32 * 32 + thread % 32] = product_2;
            __syncthreads();
            if (worker == 0) {
                found_2 = found_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const bool found_there = found_of_group[group * 32 + thread % 32];
                    found_2 = found_2 || found_there;
                }
                held_2 = held_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const bool held_there = held_of_group[group * 32 + thread % 32];
                    held_2 = held_2 && held_there;
                }
                count_2 = count_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const i64 count_there = count_of_group[group * 32 + thread % 32];
                    count_2 = add(count_2, count_there);
                }
                product_2 = product_of_group[thread % 32];
                UNROLL
                for (int group = 1; group < 16; ++group) {
                    const float product_there = product_of_group[group * 32 + thread % 32];
                    product_2 = product_2 * product_there;
                }
            }
            if (worker == 0 && i < H) {
                some[i] = found_2;
                every[i] = held_2;
                how_many[i] = count_2;
                times[i] = product_2;
            }
        }
    }
}
