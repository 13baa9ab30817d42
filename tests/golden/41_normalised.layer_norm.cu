// layer_norm, schedule: chosen by the compiler
// y: tile b 1, c 512; 512 threads, 1 output each, ((512,1),1):((1,512),0)
// 512 threads for the outputs that share a reduction, 8 elements side by side; they meet by shuffles, then through shared memory
// x: global memory
// scale: global memory; halo c [0, 0]
// shift: global memory; halo c [0, 0]
// shared memory: 128 bytes
// y: tile b 16, c 32; 512 threads, 1 output each, ((32,16),1):((1,32),0)
// up to 16 runs of elements a thread: 32 threads for the outputs that share a reduction, 8 elements side by side; they meet by shuffles
// x: global memory
// scale: global memory; halo c [0, 0]
// shift: global memory; halo c [0, 0]
#include "layoutc.cuh"

using Index = int;

KERNEL(512) layer_norm(
    In<f16> x, Index x_stride_0,
    In<float> scale,
    In<float> shift,
    Out<f16> y, Index y_stride_0,
    Index B, Index C
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index b = block;
    float sum_run[8];
    float lost_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run[element] = 0.0f;
        lost_run[element] = 0.0f;
    }

    const Index c_whole = C / 8 * 8;
    UNROLL_BY(4)
    for (Index c = thread * 8; c < c_whole; c += 4096) {
        const Pack<f16, 8> x_run = load<8>(x + (b * x_stride_0 + c));
        UNROLL
        for (int element = 0; element < 8; ++element) {
            sum_run[element] = add_compensated(sum_run[element], float(x_run[element]) / float(i64(C)),
                lost_run[element]);
        }
    }
    for (Index c = c_whole + thread; c < C; c += 512) {
        sum_run[0] = add_compensated(sum_run[0], float(x[b * x_stride_0 + c]) / float(i64(C)), lost_run[0]);
    }

    float sum = sum_run[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        sum = sum + sum_run[element];
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
        sum = sum + sum_there;
    }

    SHARED(float, sum_of_warp, 16);
    if (lane == 0) {
        sum_of_warp[thread / 32] = sum;
    }
    __syncthreads();
    sum = sum_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 16);
        sum = sum + sum_there;
    }

    float sum_run_2[8];
    float lost_run_2[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run_2[element] = 0.0f;
        lost_run_2[element] = 0.0f;
    }
    UNROLL_BY(4)
    for (Index c = thread * 8; c < c_whole; c += 4096) {
        const Pack<f16, 8> x_run = load<8>(x + (b * x_stride_0 + c));
        UNROLL
        for (int element = 0; element < 8; ++element) {
            const float square_of = float(x_run[element]) - sum;
            sum_run_2[element] = add_compensated(sum_run_2[element], square_of * square_of / float(i64(C)),
                lost_run_2[element]);
        }
    }
    for (Index c = c_whole + thread; c < C; c += 512) {
        const float square_of = float(x[b * x_stride_0 + c]) - sum;
        sum_run_2[0] = add_compensated(sum_run_2[0], square_of * square_of / float(i64(C)), lost_run_2[0]);
    }

    float sum_2 = sum_run_2[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        sum_2 = sum_2 + sum_run_2[element];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 32);
        sum_2 = sum_2 + sum_there;
    }

    SHARED(float, sum_of_warp_2, 16);
    if (lane == 0) {
        sum_of_warp_2[thread / 32] = sum_2;
    }
    __syncthreads();
    sum_2 = sum_of_warp_2[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 16);
        sum_2 = sum_2 + sum_there;
    }
    UNROLL_BY(4)
    for (Index c = thread; c < C; c += 512) {
        y[b * y_stride_0 + c] =
            f16((float(x[b * x_stride_0 + c]) - sum) * rsqrt(sum_2 + 1e-05f) * scale[c] + shift[c]);
    }
}

KERNEL(512) layer_norm_short(
    In<f16> x, Index x_stride_0,
    In<float> scale,
    In<float> shift,
    Out<f16> y, Index y_stride_0,
    Index B, Index C
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index b = block * 16 + thread / 32;
    const int worker = thread % 32;
    float sum_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run[element] = 0.0f;
    }

    const Index c_whole = C / 8 * 8;
    const Index c_end = b < B ? c_whole : 0;
    UNROLL_BY(4)
    for (Index c = worker * 8; c < c_end; c += 256) {
        const Pack<f16, 8> x_run = load<8>(x + (b * x_stride_0 + c));
        UNROLL
        for (int element = 0; element < 8; ++element) {
            sum_run[element] = sum_run[element] + float(x_run[element]) / float(i64(C));
        }
    }

    const Index c_end_2 = b < B ? C : c_whole;
    for (Index c = c_whole + worker; c < c_end_2; c += 32) {
        sum_run[0] = sum_run[0] + float(x[b * x_stride_0 + c]) / float(i64(C));
    }

    float sum = sum_run[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        sum = sum + sum_run[element];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, worker ^ distance, 32);
        sum = sum + sum_there;
    }

    float sum_run_2[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        sum_run_2[element] = 0.0f;
    }
    UNROLL_BY(4)
    for (Index c = worker * 8; c < c_end; c += 256) {
        const Pack<f16, 8> x_run = load<8>(x + (b * x_stride_0 + c));
        UNROLL
        for (int element = 0; element < 8; ++element) {
            const float square_of = float(x_run[element]) - sum;
            sum_run_2[element] = sum_run_2[element] + square_of * square_of / float(i64(C));
        }
    }
    for (Index c = c_whole + worker; c < c_end_2; c += 32) {
        const float square_of = float(x[b * x_stride_0 + c]) - sum;
        sum_run_2[0] = sum_run_2[0] + square_of * square_of / float(i64(C));
    }

    float sum_2 = sum_run_2[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        sum_2 = sum_2 + sum_run_2[element];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum_2, worker ^ distance, 32);
        sum_2 = sum_2 + sum_there;
    }

    const Index c_end_3 = b < B ? C : 0;
    UNROLL_BY(4)
    for (Index c = worker; c < c_end_3; c += 32) {
        y[b * y_stride_0 + c] =
            f16((float(x[b * x_stride_0 + c]) - sum) * rsqrt(sum_2 + 1e-05f) * scale[c] + shift[c]);
    }
}
