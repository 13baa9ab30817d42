// row_max, schedule: chosen by the compiler
// m: tile i 1; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output, 4 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(528 / maximum(H, 1), (W / 4 + 2047) / 2048), (W / 4 + 8191) / 8192), 1); the last one joins what all have
// x: global memory
// shared memory: 65 bytes
// m: tile i 16; 512 threads, 1 output each, ((32,16),1):((0,1),0)
// up to 16 runs of elements a thread: 32 threads an output, 4 elements side by side; they meet by shuffles
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(512) row_max(
    In<float> x, Index x_stride_0,
    Out<float> m,
    Index H, Index W,
    Parts<float> row_max_greatest,
    Out<unsigned> row_max_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(528 / maximum(H, 1), (W / 4 + 2047) / 2048),
        (W / 4 + 8191) / 8192), 1);
    const Index part = block % parts;
    const Index i = block / parts;
    float greatest_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        greatest_run[element] = -infinity<float>();
    }

    const Index j_whole = W / 4 * 4;
    UNROLL_BY(4)
    for (Index j = part * 2048 + thread * 4; j < j_whole; j += parts * 2048) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            greatest_run[element] = maximum(greatest_run[element], x_run[element]);
        }
    }
    for (Index j = j_whole + thread + part * 512; j < W; j += parts * 512) {
        greatest_run[0] = maximum(greatest_run[0], x[i * x_stride_0 + j]);
    }

    float greatest = greatest_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        greatest = maximum(greatest, greatest_run[element]);
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 32);
        greatest = maximum(greatest, greatest_there);
    }

    SHARED(float, greatest_of_warp, 16);
    if (lane == 0) {
        greatest_of_warp[thread / 32] = greatest;
    }
    __syncthreads();
    greatest = greatest_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 16);
        greatest = maximum(greatest, greatest_there);
    }
    if (thread == 0) {
        if (parts == 1) {
            m[i] = greatest;
        } else {
            row_max_greatest[i * parts + part] = greatest;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(row_max_arrived + block / parts, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float greatest_2 = -infinity<float>();
            UNROLL_BY(4)
            for (Index part_2 = thread; part_2 < parts; part_2 += 512) {
                const float greatest_there = fetch(row_max_greatest + (i * parts + part_2));
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 32);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (lane == 0) {
                greatest_of_warp[thread / 32] = greatest_2;
            }
            __syncthreads();
            greatest_2 = greatest_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const float greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 16);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (thread == 0) {
                m[i] = greatest_2;
            }
        }
    }
}

KERNEL(512) row_max_short(
    In<float> x, Index x_stride_0,
    Out<float> m,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index i = block * 16 + thread / 32;
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
    if (worker == 0 && i < H) {
        m[i] = greatest;
    }
}
