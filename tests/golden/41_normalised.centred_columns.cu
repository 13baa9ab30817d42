// centred_columns, schedule: chosen by the compiler
// y: tile i 512, j 1; 512 threads, 1 output each, ((512,1),1):((1,512),0)
// 512 threads for the outputs that share a reduction; they meet by shuffles, then through shared memory
// x: global memory
// shared memory: 128 bytes
// y: tile i 32, j 16; 512 threads, 1 output each, ((32,16),1):((1,32),0)
// up to 16 runs of elements a thread: 32 threads for the outputs that share a reduction; they meet by shuffles
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(512) centred_columns(
    In<double> x, Index x_stride_0,
    Out<double> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index j = block;
    double sum = 0.0;
    double lost = 0.0;
    UNROLL_BY(4)
    for (Index k = thread; k < H; k += 512) {
        sum = add_compensated(sum, x[k * x_stride_0 + j], lost);
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const double sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
        sum = sum + sum_there;
    }

    SHARED(double, sum_of_warp, 16);
    if (lane == 0) {
        sum_of_warp[thread / 32] = sum;
    }
    __syncthreads();
    sum = sum_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const double sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 16);
        sum = sum + sum_there;
    }
    UNROLL_BY(4)
    for (Index i = thread; i < H; i += 512) {
        y[i * y_stride_0 + j] = x[i * x_stride_0 + j] - sum / double(i64(H));
    }
}

KERNEL(512) centred_columns_short(
    In<double> x, Index x_stride_0,
    Out<double> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index j = block * 16 + thread / 32;
    const int worker = thread % 32;
    double sum = 0.0;
    const Index k_end = j < W ? H : 0;
    UNROLL_BY(4)
    for (Index k = worker; k < k_end; k += 32) {
        sum = sum + x[k * x_stride_0 + j];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const double sum_there = shuffle(0xffffffffu, sum, worker ^ distance, 32);
        sum = sum + sum_there;
    }

    const Index i_end = j < W ? H : 0;
    UNROLL_BY(4)
    for (Index i = worker; i < i_end; i += 32) {
        y[i * y_stride_0 + j] = x[i * x_stride_0 + j] - sum / double(i64(H));
    }
}
