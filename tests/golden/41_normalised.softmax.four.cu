// softmax, schedule: four
// y: tile i 4, j 32; 128 threads, 1 output each, ((32,4),1):((1,32),0)
// 32 threads for the outputs that share a reduction, 4 elements side by side; they meet by shuffles
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(128) softmax(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index i = block * 4 + thread / 32;
    const int worker = thread % 32;
    float greatest_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        greatest_run[element] = -infinity<float>();
    }

    const Index j_whole = W / 4 * 4;
    const Index j_end = i < H ? j_whole : 0;
    UNROLL_BY(4)
    for (Index j = worker * 4; j < j_end; j += 128) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            greatest_run[element] = maximum(greatest_run[element], x_run[element]);
        }
    }

    const Index j_end_2 = i < H ? W : j_whole;
    for (Index j = j_whole + worker; j < j_end_2; j += 32) {
        greatest_run[0] = maximum(greatest_run[0], x[i * x_stride_0 + j]);
    }

    float greatest = greatest_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        greatest = maximum(greatest, greatest_run[element]);
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, worker ^ distance, 32);
        greatest = maximum(greatest, greatest_there);
    }

    float sum_run[4];
    float lost_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        sum_run[element] = 0.0f;
        lost_run[element] = 0.0f;
    }
    UNROLL_BY(4)
    for (Index j = worker * 4; j < j_end; j += 128) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            const float e = exp(x_run[element] - greatest);
            sum_run[element] = add_compensated(sum_run[element], e, lost_run[element]);
        }
    }
    for (Index j = j_whole + worker; j < j_end_2; j += 32) {
        const float e = exp(x[i * x_stride_0 + j] - greatest);
        sum_run[0] = add_compensated(sum_run[0], e, lost_run[0]);
    }

    float sum = sum_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        sum = sum + sum_run[element];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, worker ^ distance, 32);
        sum = sum + sum_there;
    }

    const Index j_end_3 = i < H ? W : 0;
    UNROLL_BY(4)
    for (Index j = worker; j < j_end_3; j += 32) {
        const float e = exp(x[i * x_stride_0 + j] - greatest);
        y[i * y_stride_0 + j] = e / sum;
    }
}
