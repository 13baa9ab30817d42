// centred_columns, schedule: chosen by the compiler
// y: tile i 16, j 32; 512 threads, 1 output each, ((32,16),1):((1,32),1)
// 16 threads for the outputs that share a reduction; they meet in shared memory
// x: global memory
// shared memory: 4096 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) centred_columns(
    In<double> x, Index x_stride_0,
    Out<double> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index j = block * 32 + thread % 32;
    const int worker = thread / 32;
    double sum = 0.0;
    double lost = 0.0;
    const Index k_end = j < W ? H : 0;
    UNROLL_BY(8)
    for (Index k = worker; k < k_end; k += 16) {
        sum = add_compensated(sum, x[k * x_stride_0 + j], lost);
    }

    SHARED(double, sum_of_group, 16 * 32);
    sum_of_group[thread / 32 * 32 + thread % 32] = sum;
    __syncthreads();
    sum = sum_of_group[thread % 32];
    UNROLL
    for (int group = 1; group < 16; ++group) {
        const double sum_there = sum_of_group[group * 32 + thread % 32];
        sum = sum + sum_there;
    }

    const Index i_end = j < W ? H : 0;
    UNROLL_BY(8)
    for (Index i = worker; i < i_end; i += 16) {
        y[i * y_stride_0 + j] = x[i * x_stride_0 + j] - sum / double(i64(H));
    }
}
