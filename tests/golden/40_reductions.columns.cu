// columns, schedule: chosen by the compiler
// s, some: tile j 256; 512 threads, 8 outputs each, ((32,16),8):((8,0),1)
// 16 threads an output, 8 elements side by side; they meet in shared memory
// blocks that share an output: maximum((H + 511) / 512, 1)
// x: global memory
// shared memory: 20480 bytes
// s, some: tile j 32; 256 threads, 1 output each, ((32,8),1):((1,0),1)
// joins what several blocks have of an output: 8 threads an output; they meet in shared memory
// shared memory: 1280 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) columns(
    In<f16> x, Index x_stride_0,
    Out<float> s,
    Out<bool> some,
    Index H, Index W,
    Out<float> columns_sum,
    Out<bool> columns_found
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum((H + 511) / 512, 1);
    const Index blocks_j = (W + 255) / 256;
    const Index part = block / blocks_j;
    const Index j = block % blocks_j * 256 + thread % 32 * 8;
    const int worker = thread / 32;
    float sum_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run[element] = 0.0f;
    }
    bool found_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        found_run[element] = false;
    }
    if (j + 7 < W) {
        UNROLL_BY(4)
        for (Index i = part * 16 + worker; i < H; i += parts * 16) {
            const Pack<f16, 8> x_run = load<8>(x + (i * x_stride_0 + j));
            UNROLL
            for (int element = 0; element < 8; ++element) {
                sum_run[element] = sum_run[element] + float(x_run[element]);
                found_run[element] = found_run[element] || float(x_run[element]) > 0.0f;
            }
        }
    } else {
        UNROLL_BY(4)
        for (Index i = part * 16 + worker; i < H; i += parts * 16) {
            UNROLL
            for (int element = 0; element < 8; ++element) {
                if (j + element < W) {
                    sum_run[element] = sum_run[element] + float(x[i * x_stride_0 + j + element]);
                    found_run[element] = found_run[element] || float(x[i * x_stride_0 + j + element]) > 0.0f;
                }
            }
        }
    }
    SHARED(float, sum_of_group, 16 * 256);
    SHARED(bool, found_of_group, 16 * 256);
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_of_group[thread / 32 * 256 + thread % 32 * 8 + element] = sum_run[element];
        found_of_group[thread / 32 * 256 + thread % 32 * 8 + element] = found_run[element];
    }
    __syncthreads();
    if (worker == 0) {
        UNROLL
        for (int element = 0; element < 8; ++element) {
            sum_run[element] = sum_of_group[thread % 32 * 8 + element];
            UNROLL
            for (int group = 1; group < 16; ++group) {
                const float sum_there = sum_of_group[group * 256 + thread % 32 * 8 + element];
                sum_run[element] = sum_run[element] + sum_there;
            }
            found_run[element] = found_of_group[thread % 32 * 8 + element];
            UNROLL
            for (int group = 1; group < 16; ++group) {
                const bool found_there = found_of_group[group * 256 + thread % 32 * 8 + element];
                found_run[element] = found_run[element] || found_there;
            }
        }
    }
    if (worker == 0) {
        UNROLL
        for (int element = 0; element < 8; ++element) {
            if (j + element < W) {
                if (parts == 1) {
                    s[j + element] = sum_run[element];
                    some[j + element] = found_run[element];
                } else {
                    columns_sum[part * W + j + element] = sum_run[element];
                    columns_found[part * W + j + element] = found_run[element];
                }
            }
        }
    }
}

KERNEL(256) columns_joined(
    Out<float> s,
    Out<bool> some,
    Index H, Index W,
    In<float> columns_sum,
    In<bool> columns_found
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index j = block * 32 + thread % 32;
    const int worker = thread / 32;
    float sum = 0.0f;
    float lost = 0.0f;
    bool found = false;
    const Index parts = maximum((H + 511) / 512, 1);
    const Index part_end = j < W ? parts : 0;
    UNROLL_BY(4)
    for (Index part = worker; part < part_end; part += 8) {
        const float sum_there = columns_sum[part * W + j];
        sum = add_compensated(sum, sum_there, lost);
        const bool found_there = columns_found[part * W + j];
        found = found || found_there;
    }
    SHARED(float, sum_of_group, 8 * 32);
    SHARED(bool, found_of_group, 8 * 32);
    sum_of_group[thread / 32 * 32 + thread % 32] = sum;
    found_of_group[thread / 32 * 32 + thread % 32] = found;
    __syncthreads();
    if (worker == 0) {
        sum = sum_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 8; ++group) {
            const float sum_there = sum_of_group[group * 32 + thread % 32];
            sum = sum + sum_there;
        }
        found = found_of_group[thread % 32];
        UNROLL
        for (int group = 1; group < 8; ++group) {
            const bool found_there = found_of_group[group * 32 + thread % 32];
            found = found || found_there;
        }
    }
    if (worker == 0 && j < W) {
        s[j] = sum;
        some[j] = found;
    }
}
