// nearest_code, schedule: chosen by the compiler
// which: tile i 1; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(528 / maximum(N, 1), (M + 2047) / 2048), (M + 8191) / 8192), 1); the last one joins what all have
// x: global memory
// code: global memory
// shared memory: 193 bytes
// which: tile i 16; 512 threads, 1 output each, ((32,16),1):((0,1),0)
// up to 16 runs of elements a thread: 32 threads an output; they meet by shuffles
// x: global memory
// code: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(512) nearest_code(
    In<float> x, Index x_stride_0,
    In<float> code, Index code_stride_0,
    Out<i64> which,
    Index N, Index C, Index M,
    Parts<float> nearest_code_best,
    Parts<i64> nearest_code_place,
    Out<unsigned> nearest_code_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(528 / maximum(N, 1), (M + 2047) / 2048), (M + 8191) / 8192),
        1);
    const Index part = block % parts;
    const Index i = block / parts;
    float best = infinity<float>();
    i64 place = 9223372036854775807ll;
    for (Index m = part * 512 + thread; m < M; m += parts * 512) {
        float sum = 0.0f;
        for (Index c = 0; c < C; ++c) {
            const float square_of = x[i * x_stride_0 + c] - code[m * code_stride_0 + c];
            sum = sum + square_of * square_of;
        }
        const float best_there = sum;
        const i64 place_there = i64(m);
        if (first_least(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float best_there = shuffle(0xffffffffu, best, lane ^ distance, 32);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 32);
        if (first_least(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }

    SHARED(float, best_of_warp, 16);
    SHARED(i64, place_of_warp, 16);
    if (lane == 0) {
        best_of_warp[thread / 32] = best;
        place_of_warp[thread / 32] = place;
    }
    __syncthreads();
    best = best_of_warp[lane % 16];
    place = place_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const float best_there = shuffle(0xffffffffu, best, lane ^ distance, 16);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 16);
        if (first_least(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }
    if (thread == 0) {
        if (parts == 1) {
            which[i] = place;
        } else {
            nearest_code_best[i * parts + part] = best;
            nearest_code_place[i * parts + part] = place;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(nearest_code_arrived + block / parts, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float best_2 = infinity<float>();
            i64 place_2 = 9223372036854775807ll;
            UNROLL_BY(4)
            for (Index part_2 = thread; part_2 < parts; part_2 += 512) {
                const float best_there = fetch(nearest_code_best + (i * parts + part_2));
                const i64 place_there = fetch(nearest_code_place + (i * parts + part_2));
                if (first_least(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 32);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 32);
                if (first_least(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            if (lane == 0) {
                best_of_warp[thread / 32] = best_2;
                place_of_warp[thread / 32] = place_2;
            }
            __syncthreads();
            best_2 = best_of_warp[lane % 16];
            place_2 = place_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const float best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 16);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 16);
                if (first_least(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            if (thread == 0) {
                which[i] = place_2;
            }
        }
    }
}

KERNEL(512) nearest_code_short(
    In<float> x, Index x_stride_0,
    In<float> code, Index code_stride_0,
    Out<i64> which,
    Index N, Index C, Index M
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index i = block * 16 + thread / 32;
    const int worker = thread % 32;
    float best = infinity<float>();
    i64 place = 9223372036854775807ll;
    const Index m_end = i < N ? M : 0;
    for (Index m = worker; m < m_end; m += 32) {
        float sum = 0.0f;
        for (Index c = 0; c < C; ++c) {
            const float square_of = x[i * x_stride_0 + c] - code[m * code_stride_0 + c];
            sum = sum + square_of * square_of;
        }
        const float best_there = sum;
        const i64 place_there = i64(m);
        if (first_least(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float best_there = shuffle(0xffffffffu, best, worker ^ distance, 32);
        const i64 place_there = shuffle(0xffffffffu, place, worker ^ distance, 32);
        if (first_least(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }
    if (worker == 0 && i < N) {
        which[i] = place;
    }
}
