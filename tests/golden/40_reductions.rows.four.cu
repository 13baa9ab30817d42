// rows, schedule: four
// mean, at: tile i 4; 256 threads, 1 output each, ((64,4),1):((0,1),0)
// 64 threads an output, 4 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(660 / maximum((H + 3) / 4, 1), (W / 4 + 255) / 256), (W / 4 + 1023) / 1024), 1); the last one joins what all have
// x: global memory
// shared memory: 129 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) rows(
    In<float> x, Index x_stride_0,
    Out<float> mean,
    Out<i64> at,
    Index H, Index W,
    Parts<float> rows_sum,
    Parts<float> rows_best,
    Parts<i64> rows_place,
    Out<unsigned> rows_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(660 / maximum((H + 3) / 4, 1), (W / 4 + 255) / 256),
        (W / 4 + 1023) / 1024), 1);
    const Index part = block % parts;
    const Index i = block / parts * 4 + thread / 64;
    const int worker = thread % 64;
    float sum_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        sum_run[element] = 0.0f;
    }

    float best_run[4];
    i64 place_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        best_run[element] = -infinity<float>();
        place_run[element] = 9223372036854775807ll;
    }

    const Index j_whole = W / 4 * 4;
    const Index j_end = i < H ? j_whole : 0;
    UNROLL_BY(4)
    for (Index j = part * 256 + worker * 4; j < j_end; j += parts * 256) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            sum_run[element] = sum_run[element] + x_run[element] / float(i64(W));
            const float best_there = x_run[element];
            const i64 place_there = i64(j + element);
            if (first_greatest(best_there, place_there, best_run[element], place_run[element])) {
                best_run[element] = best_there;
                place_run[element] = place_there;
            }
        }
    }

    const Index j_end_2 = i < H ? W : j_whole;
    for (Index j = j_whole + worker + part * 64; j < j_end_2; j += parts * 64) {
        sum_run[0] = sum_run[0] + x[i * x_stride_0 + j] / float(i64(W));
        const float best_there = x[i * x_stride_0 + j];
        const i64 place_there = i64(j);
        if (first_greatest(best_there, place_there, best_run[0], place_run[0])) {
            best_run[0] = best_there;
            place_run[0] = place_there;
        }
    }

    float sum = sum_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        sum = sum + sum_run[element];
    }

    float best = best_run[0];
    i64 place = place_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        if (first_greatest(best_run[element], place_run[element], best, place)) {
            best = best_run[element];
            place = place_run[element];
        }
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 32);
        sum = sum + sum_there;
        const float best_there = shuffle(0xffffffffu, best, lane ^ distance, 32);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 32);
        if (first_greatest(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }

    SHARED(float, sum_of_warp, 8);
    SHARED(float, best_of_warp, 8);
    SHARED(i64, place_of_warp, 8);
    if (lane == 0) {
        sum_of_warp[thread / 32] = sum;
        best_of_warp[thread / 32] = best;
        place_of_warp[thread / 32] = place;
    }
    __syncthreads();
    sum = sum_of_warp[thread / 64 * 2 + lane % 2];
    best = best_of_warp[thread / 64 * 2 + lane % 2];
    place = place_of_warp[thread / 64 * 2 + lane % 2];
    UNROLL
    for (int distance = 1; distance > 0; distance /= 2) {
        const float sum_there = shuffle(0xffffffffu, sum, lane ^ distance, 2);
        sum = sum + sum_there;
        const float best_there = shuffle(0xffffffffu, best, lane ^ distance, 2);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 2);
        if (first_greatest(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
    }
    if (worker == 0 && i < H) {
        if (parts == 1) {
            mean[i] = sum;
            at[i] = place;
        } else {
            rows_sum[i * parts + part] = sum;
            rows_best[i * parts + part] = best;
            rows_place[i * parts + part] = place;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (worker == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(rows_arrived + block / parts, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            float sum_2 = 0.0f;
            float lost = 0.0f;
            float best_2 = -infinity<float>();
            i64 place_2 = 9223372036854775807ll;
            const Index part_end = i < H ? parts : 0;
            UNROLL_BY(4)
            for (Index part_2 = worker; part_2 < part_end; part_2 += 64) {
                const float sum_there = fetch(rows_sum + (i * parts + part_2));
                sum_2 = add_compensated(sum_2, sum_there, lost);
                const float best_there = fetch(rows_best + (i * parts + part_2));
                const i64 place_there = fetch(rows_place + (i * parts + part_2));
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 32);
                sum_2 = sum_2 + sum_there;
                const float best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 32);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 32);
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            if (lane == 0) {
                sum_of_warp[thread / 32] = sum_2;
                best_of_warp[thread / 32] = best_2;
                place_of_warp[thread / 32] = place_2;
            }
            __syncthreads();
            sum_2 = sum_of_warp[thread / 64 * 2 + lane % 2];
            best_2 = best_of_warp[thread / 64 * 2 + lane % 2];
            place_2 = place_of_warp[thread / 64 * 2 + lane % 2];
            UNROLL
            for (int distance = 1; distance > 0; distance /= 2) {
                const float sum_there = shuffle(0xffffffffu, sum_2, lane ^ distance, 2);
                sum_2 = sum_2 + sum_there;
                const float best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 2);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 2);
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
            }
            if (worker == 0 && i < H) {
                mean[i] = sum_2;
                at[i] = place_2;
            }
        }
    }
}
