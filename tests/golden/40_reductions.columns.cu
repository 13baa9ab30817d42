// columns, schedule: chosen by the compiler
// s, some: tile j 256; 512 threads, 8 outputs each, ((32,16),8):((8,0),1)
// 16 threads an output, 8 elements side by side; they meet in shared memory
// blocks that share an output: maximum(minimum(132 / maximum((W + 255) / 256, 1), (H + 63) / 64), 1); the last one joins what all have
// x: global memory
// shared memory: 20481 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512, 1) columns(
    In<f16> x, Index x_stride_0,
    Out<float> s,
    Out<bool> some,
    Index H, Index W,
    Parts<float> columns_sum,
    Parts<bool> columns_found,
    Out<unsigned> columns_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(minimum(132 / maximum((W + 255) / 256, 1), (H + 63) / 64), 1);
    const Index blocks_j = (W + 255) / 256;
    const Index part = block / blocks_j;
    const Index j = block % blocks_j * 256 + thread % 32 * 8;
    const int worker = thread / 32;
    float sum_run[8];
    float lost_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run[element] = 0.0f;
        lost_run[element] = 0.0f;
    }

    bool found_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        found_run[element] = false;
    }
    if (j + 7 < W) {
        UNROLL_BY(8)
        for (Index i = part * 16 + worker; i < H; i += parts * 16) {
            const Pack<f16, 8> x_run = load<8>(x + (i * x_stride_0 + j));
            UNROLL
            for (int element = 0; element < 8; ++element) {
                sum_run[element] = add_compensated(sum_run[element], float(x_run[element]),
                    lost_run[element]);
                found_run[element] = found_run[element] || float(x_run[element]) > 0.0f;
            }
        }
    } else {
        UNROLL_BY(8)
        for (Index i = part * 16 + worker; i < H; i += parts * 16) {
            UNROLL
            for (int element = 0; element < 8; ++element) {
                if (j + element < W) {
                    sum_run[element] = add_compensated(sum_run[element],
                        float(x[i * x_stride_0 + j + element]), lost_run[element]);
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

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(columns_arrived + block % blocks_j, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float sum_run_2[8];
            float lost_run_2[8];
            UNROLL
            for (int element = 0; element < 8; ++element) {
                sum_run_2[element] = 0.0f;
                lost_run_2[element] = 0.0f;
            }
            bool found_run_2[8];
            UNROLL
            for (int element = 0; element < 8; ++element) {
                found_run_2[element] = false;
            }
            UNROLL_BY(8)
            for (Index part_2 = worker; part_2 < parts; part_2 += 16) {
                UNROLL
                for (int element = 0; element < 8; ++element) {
                    if (j + element < W) {
                        const float sum_there = fetch(columns_sum + (part_2 * W + j + element));
                        sum_run_2[element] = add_compensated(sum_run_2[element], sum_there,
                            lost_run_2[element]);
                        const bool found_there = fetch(columns_found + (part_2 * W + j + element));
                        found_run_2[element] = found_run_2[element] || found_there;
                    }
                }
            }
            UNROLL
            for (int element = 0; element < 8; ++element) {
                sum_of_group[thread / 32 * 256 + thread % 32 * 8 + element] = sum_run_2[element];
                found_of_group[thread / 32 * 256 + thread % 32 * 8 + element] = found_run_2[element];
            }
            __syncthreads();
            if (worker == 0) {
                UNROLL
                for (int element = 0; element < 8; ++element) {
                    sum_run_2[element] = sum_of_group[thread % 32 * 8 + element];
                    UNROLL
                    for (int group = 1; group < 16; ++group) {
                        const float sum_there = sum_of_group[group * 256 + thread % 32 * 8 + element];
                        sum_run_2[element] = sum_run_2[element] + sum_there;
                    }
                    found_run_2[element] = found_of_group[thread % 32 * 8 + element];
                    UNROLL
                    for (int group = 1; group < 16; ++group) {
                        const bool found_there = found_of_group[group * 256 + thread % 32 * 8 + element];
                        found_run_2[element] = found_run_2[element] || found_there;
                    }
                }
            }
            if (worker == 0) {
                UNROLL
                for (int element = 0; element < 8; ++element) {
                    if (j + element < W) {
                        s[j + element] = sum_run_2[element];
                        some[j + element] = found_run_2[element];
                    }
                }
            }
        }
    }
}
