// regions: does not come to an end: it synchronises
#include "layoutc.cuh"

KERNEL(64) regions(In<double> x, Out<i16> y) {
    SHARED_AT(double, sums, 0, 64);
    SHARED_AT(i16, rounded, 0, 64);
    const int thread = threadIdx.x;
    sums[thread] = x[blockIdx.x * 64 + thread];
    __syncthreads();
    for (int step = 1; step < 64; step *= 1) {
        const double before = thread >= step ? sums[thread - step] : 0.0;
        __syncthreads();
        sums[thread] += before;
        __syncthreads();
    }
    const double sum = sums[thread];
    __syncthreads();
    rounded[thread] = convert<i16>(sum);
    __syncthreads();
    y[blockIdx.x * 64 + thread] = rounded[63 - thread];
}
