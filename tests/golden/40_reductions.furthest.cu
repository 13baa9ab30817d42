// furthest, schedule: chosen by the compiler
// at, low, high: tile one output; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output, 8 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(132, floor_div(W / 8 * i64(H) + 2047, 2048)), floor_div(W / 8 * i64(H) + 8191, 8192)), 1); the last one joins what all have
// x: global memory
// shared memory: 257 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(512) furthest(
    In<i16> x, Index x_stride_0,
    Out<i64> at,
    Out<i16> low,
    Out<i16> high,
    Index H, Index W,
    Parts<int> furthest_best,
    Parts<i64> furthest_place,
    Parts<i16> furthest_least,
    Parts<i16> furthest_greatest,
    Out<unsigned> furthest_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(132, floor_div(W / 8 * i64(H) + 2047, 2048)),
        floor_div(W / 8 * i64(H) + 8191, 8192)), 1);
    int best_run[8];
    i64 place_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        best_run[element] = (-2147483647 - 1);
        place_run[element] = 9223372036854775807ll;
    }

    i16 least_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        least_run[element] = 32767;
    }

    i16 greatest_run[8];
    UNROLL
    for (int element = 0; element < 8; ++element) {
        greatest_run[element] = -32768;
    }

    const Index j_whole = W / 8 * 8;
    const Index j_count = j_whole / 8;
    const Index runs = H * j_count;
    const Index first = block * 512 + thread;
    const Index step = parts * 512;
    Index i = first / maximum(j_count, 1);
    const Index i_step = step / maximum(j_count, 1);
    Index j_run = first % maximum(j_count, 1);
    const Index j_run_step = step % maximum(j_count, 1);
    UNROLL_BY(4)
    for (Index run = first; run < runs; run += step) {
        const Index j = j_run * 8;
        const Pack<i16, 8> x_run = load<8>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 8; ++element) {
            const int best_there = absolute(int(x_run[element]));
            const i64 place_there = i64(i * W + j + element);
            if (first_greatest(best_there, place_there, best_run[element], place_run[element])) {
                best_run[element] = best_there;
                place_run[element] = place_there;
            }
            least_run[element] = minimum(least_run[element], x_run[element]);
            greatest_run[element] = maximum(greatest_run[element], x_run[element]);
        }
        i = i + i_step;
        j_run = j_run + j_run_step;
        if (j_run >= j_count) {
            j_run = j_run - j_count;
            i = i + 1;
        }
    }
    if (j_whole < W) {
        const Index j_count_2 = W - j_whole;
        const Index runs_2 = H * j_count_2;
        Index i_2 = first / maximum(j_count_2, 1);
        const Index i_2_step = step / maximum(j_count_2, 1);
        Index j_place = first % maximum(j_count_2, 1);
        const Index j_place_step = step % maximum(j_count_2, 1);
        for (Index run = first; run < runs_2; run += step) {
            const Index j = j_whole + j_place;
            const int best_there = absolute(int(x[i_2 * x_stride_0 + j]));
            const i64 place_there = i64(i_2 * W + j);
            if (first_greatest(best_there, place_there, best_run[0], place_run[0])) {
                best_run[0] = best_there;
                place_run[0] = place_there;
            }
            least_run[0] = minimum(least_run[0], x[i_2 * x_stride_0 + j]);
            greatest_run[0] = maximum(greatest_run[0], x[i_2 * x_stride_0 + j]);
            i_2 = i_2 + i_2_step;
            j_place = j_place + j_place_step;
            if (j_place >= j_count_2) {
                j_place = j_place - j_count_2;
                i_2 = i_2 + 1;
            }
        }
    }

    int best = best_run[0];
    i64 place = place_run[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        if (first_greatest(best_run[element], place_run[element], best, place)) {
            best = best_run[element];
            place = place_run[element];
        }
    }

    i16 least = least_run[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        least = minimum(least, least_run[element]);
    }

    i16 greatest = greatest_run[0];
    UNROLL
    for (int element = 1; element < 8; ++element) {
        greatest = maximum(greatest, greatest_run[element]);
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const int best_there = shuffle(0xffffffffu, best, lane ^ distance, 32);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 32);
        if (first_greatest(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
        const i16 least_there = shuffle(0xffffffffu, least, lane ^ distance, 32);
        least = minimum(least, least_there);
        const i16 greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 32);
        greatest = maximum(greatest, greatest_there);
    }

    SHARED(int, best_of_warp, 16);
    SHARED(i64, place_of_warp, 16);
    SHARED(i16, least_of_warp, 16);
    SHARED(i16, greatest_of_warp, 16);
    if (lane == 0) {
        best_of_warp[thread / 32] = best;
        place_of_warp[thread / 32] = place;
        least_of_warp[thread / 32] = least;
        greatest_of_warp[thread / 32] = greatest;
    }
    __syncthreads();
    best = best_of_warp[lane % 16];
    place = place_of_warp[lane % 16];
    least = least_of_warp[lane % 16];
    greatest = greatest_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const int best_there = shuffle(0xffffffffu, best, lane ^ distance, 16);
        const i64 place_there = shuffle(0xffffffffu, place, lane ^ distance, 16);
        if (first_greatest(best_there, place_there, best, place)) {
            best = best_there;
            place = place_there;
        }
        const i16 least_there = shuffle(0xffffffffu, least, lane ^ distance, 16);
        least = minimum(least, least_there);
        const i16 greatest_there = shuffle(0xffffffffu, greatest, lane ^ distance, 16);
        greatest = maximum(greatest, greatest_there);
    }
    if (thread == 0) {
        if (parts == 1) {
            at[0] = place;
            low[0] = least;
            high[0] = greatest;
        } else {
            furthest_best[block] = best;
            furthest_place[block] = place;
            furthest_least[block] = least;
            furthest_greatest[block] = greatest;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(furthest_arrived, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            int best_2 = (-2147483647 - 1);
            i64 place_2 = 9223372036854775807ll;
            i16 least_2 = 32767;
            i16 greatest_2 = -32768;
            UNROLL_BY(4)
            for (Index part = thread; part < parts; part += 512) {
                const int best_there = fetch(furthest_best + part);
                const i64 place_there = fetch(furthest_place + part);
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
                const i16 least_there = fetch(furthest_least + part);
                least_2 = minimum(least_2, least_there);
                const i16 greatest_there = fetch(furthest_greatest + part);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const int best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 32);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 32);
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
                const i16 least_there = shuffle(0xffffffffu, least_2, lane ^ distance, 32);
                least_2 = minimum(least_2, least_there);
                const i16 greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 32);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (lane == 0) {
                best_of_warp[thread / 32] = best_2;
                place_of_warp[thread / 32] = place_2;
                least_of_warp[thread / 32] = least_2;
                greatest_of_warp[thread / 32] = greatest_2;
            }
            __syncthreads();
            best_2 = best_of_warp[lane % 16];
            place_2 = place_of_warp[lane % 16];
            least_2 = least_of_warp[lane % 16];
            greatest_2 = greatest_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const int best_there = shuffle(0xffffffffu, best_2, lane ^ distance, 16);
                const i64 place_there = shuffle(0xffffffffu, place_2, lane ^ distance, 16);
                if (first_greatest(best_there, place_there, best_2, place_2)) {
                    best_2 = best_there;
                    place_2 = place_there;
                }
                const i16 least_there = shuffle(0xffffffffu, least_2, lane ^ distance, 16);
                least_2 = minimum(least_2, least_there);
                const i16 greatest_there = shuffle(0xffffffffu, greatest_2, lane ^ distance, 16);
                greatest_2 = maximum(greatest_2, greatest_there);
            }
            if (thread == 0) {
                at[0] = place_2;
                low[0] = least_2;
                high[0] = greatest_2;
            }
        }
    }
}
