// tests, schedule: chosen by the compiler
// some, every, how_many, times: tile i 1; 512 threads, 1 output each, ((512,1),1):((0,1),0)
// 512 threads an output, 4 elements side by side; they meet by shuffles, then through shared memory
// blocks that share an output: maximum(maximum(minimum(264 / maximum(H, 1), (W / 4 + 2047) / 2048), (W / 4 + 8191) / 8192), 1); the last one joins what all have
// x: global memory
// shared memory: 225 bytes
// some, every, how_many, times: tile i 16; 512 threads, 1 output each, ((32,16),1):((0,1),0)
// up to 16 runs of elements a thread: 32 threads an output, 4 elements side by side; they meet by shuffles
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(512) tests(
    In<float> x, Index x_stride_0,
    Out<bool> some,
    Out<bool> every,
    Out<i64> how_many,
    Out<float> times,
    Index H, Index W,
    Parts<bool> tests_found,
    Parts<bool> tests_held,
    Parts<i64> tests_count,
    Parts<float> tests_product,
    Out<unsigned> tests_arrived
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index parts = maximum(maximum(minimum(264 / maximum(H, 1), (W / 4 + 2047) / 2048),
        (W / 4 + 8191) / 8192), 1);
    const Index part = block % parts;
    const Index i = block / parts;
    bool found_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        found_run[element] = false;
    }

    bool held_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        held_run[element] = true;
    }

    i64 count_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        count_run[element] = 0ll;
    }

    float product_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        product_run[element] = 1.0f;
    }

    const Index j_whole = W / 4 * 4;
    UNROLL_BY(4)
    for (Index j = part * 2048 + thread * 4; j < j_whole; j += parts * 2048) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            found_run[element] = found_run[element] || x_run[element] > 0.0f;
            held_run[element] = held_run[element] && x_run[element] > 0.0f;
            count_run[element] = add(count_run[element], i64(x_run[element] > 0.0f));
            product_run[element] = product_run[element] * x_run[element];
        }
    }
    for (Index j = j_whole + thread + part * 512; j < W; j += parts * 512) {
        found_run[0] = found_run[0] || x[i * x_stride_0 + j] > 0.0f;
        held_run[0] = held_run[0] && x[i * x_stride_0 + j] > 0.0f;
        count_run[0] = add(count_run[0], i64(x[i * x_stride_0 + j] > 0.0f));
        product_run[0] = product_run[0] * x[i * x_stride_0 + j];
    }

    bool found = found_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        found = found || found_run[element];
    }

    bool held = held_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        held = held && held_run[element];
    }

    i64 count = count_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        count = add(count, count_run[element]);
    }

    float product = product_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        product = product * product_run[element];
    }

    const int lane = thread % 32;
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const bool found_there = shuffle(0xffffffffu, found, lane ^ distance, 32);
        found = found || found_there;
        const bool held_there = shuffle(0xffffffffu, held, lane ^ distance, 32);
        held = held && held_there;
        const i64 count_there = shuffle(0xffffffffu, count, lane ^ distance, 32);
        count = add(count, count_there);
        const float product_there = shuffle(0xffffffffu, product, lane ^ distance, 32);
        product = product * product_there;
    }

    SHARED(bool, found_of_warp, 16);
    SHARED(bool, held_of_warp, 16);
    SHARED(i64, count_of_warp, 16);
    SHARED(float, product_of_warp, 16);
    if (lane == 0) {
        found_of_warp[thread / 32] = found;
        held_of_warp[thread / 32] = held;
        count_of_warp[thread / 32] = count;
        product_of_warp[thread / 32] = product;
    }
    __syncthreads();
    found = found_of_warp[lane % 16];
    held = held_of_warp[lane % 16];
    count = count_of_warp[lane % 16];
    product = product_of_warp[lane % 16];
    UNROLL
    for (int distance = 8; distance > 0; distance /= 2) {
        const bool found_there = shuffle(0xffffffffu, found, lane ^ distance, 16);
        found = found || found_there;
        const bool held_there = shuffle(0xffffffffu, held, lane ^ distance, 16);
        held = held && held_there;
        const i64 count_there = shuffle(0xffffffffu, count, lane ^ distance, 16);
        count = add(count, count_there);
        const float product_there = shuffle(0xffffffffu, product, lane ^ distance, 16);
        product = product * product_there;
    }
    if (thread == 0) {
        if (parts == 1) {
            some[i] = found;
            every[i] = held;
            how_many[i] = count;
            times[i] = product;
        } else {
            tests_found[i * parts + part] = found;
            tests_held[i * parts + part] = held;
            tests_count[i * parts + part] = count;
            tests_product[i * parts + part] = product;
        }
    }

    SHARED(bool, is_last, 1);
    if (parts > 1) {
        if (thread == 0) {
            fence();
        }
        __syncthreads();
        if (thread == 0) {
            is_last[0] = comes_last(tests_arrived + block / parts, parts);
        }
        __syncthreads();
        if (is_last[0]) {
            bool found_2 = false;
            bool held_2 = true;
            i64 count_2 = 0ll;
            float product_2 = 1.0f;
            UNROLL_BY(4)
            for (Index part_2 = thread; part_2 < parts; part_2 += 512) {
                const bool found_there = fetch(tests_found + (i * parts + part_2));
                found_2 = found_2 || found_there;
                const bool held_there = fetch(tests_held + (i * parts + part_2));
                held_2 = held_2 && held_there;
                const i64 count_there = fetch(tests_count + (i * parts + part_2));
                count_2 = add(count_2, count_there);
                const float product_there = fetch(tests_product + (i * parts + part_2));
                product_2 = product_2 * product_there;
            }
            UNROLL
            for (int distance = 16; distance > 0; distance /= 2) {
                const bool found_there = shuffle(0xffffffffu, found_2, lane ^ distance, 32);
                found_2 = found_2 || found_there;
                const bool held_there = shuffle(0xffffffffu, held_2, lane ^ distance, 32);
                held_2 = held_2 && held_there;
                const i64 count_there = shuffle(0xffffffffu, count_2, lane ^ distance, 32);
                count_2 = add(count_2, count_there);
                const float product_there = shuffle(0xffffffffu, product_2, lane ^ distance, 32);
                product_2 = product_2 * product_there;
            }
            if (lane == 0) {
                found_of_warp[thread / 32] = found_2;
                held_of_warp[thread / 32] = held_2;
                count_of_warp[thread / 32] = count_2;
                product_of_warp[thread / 32] = product_2;
            }
            __syncthreads();
            found_2 = found_of_warp[lane % 16];
            held_2 = held_of_warp[lane % 16];
            count_2 = count_of_warp[lane % 16];
            product_2 = product_of_warp[lane % 16];
            UNROLL
            for (int distance = 8; distance > 0; distance /= 2) {
                const bool found_there = shuffle(0xffffffffu, found_2, lane ^ distance, 16);
                found_2 = found_2 || found_there;
                const bool held_there = shuffle(0xffffffffu, held_2, lane ^ distance, 16);
                held_2 = held_2 && held_there;
                const i64 count_there = shuffle(0xffffffffu, count_2, lane ^ distance, 16);
                count_2 = add(count_2, count_there);
                const float product_there = shuffle(0xffffffffu, product_2, lane ^ distance, 16);
                product_2 = product_2 * product_there;
            }
            if (thread == 0) {
                some[i] = found_2;
                every[i] = held_2;
                how_many[i] = count_2;
                times[i] = product_2;
            }
        }
    }
}

KERNEL(512) tests_short(
    In<float> x, Index x_stride_0,
    Out<bool> some,
    Out<bool> every,
    Out<i64> how_many,
    Out<float> times,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index i = block * 16 + thread / 32;
    const int worker = thread % 32;
    bool found_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        found_run[element] = false;
    }

    bool held_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        held_run[element] = true;
    }

    i64 count_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        count_run[element] = 0ll;
    }

    float product_run[4];
    UNROLL
    for (int element = 0; element < 4; ++element) {
        product_run[element] = 1.0f;
    }

    const Index j_whole = W / 4 * 4;
    const Index j_end = i < H ? j_whole : 0;
    UNROLL_BY(4)
    for (Index j = worker * 4; j < j_end; j += 128) {
        const Pack<float, 4> x_run = load<4>(x + (i * x_stride_0 + j));
        UNROLL
        for (int element = 0; element < 4; ++element) {
            found_run[element] = found_run[element] || x_run[element] > 0.0f;
            held_run[element] = held_run[element] && x_run[element] > 0.0f;
            count_run[element] = add(count_run[element], i64(x_run[element] > 0.0f));
            product_run[element] = product_run[element] * x_run[element];
        }
    }

    const Index j_end_2 = i < H ? W : j_whole;
    for (Index j = j_whole + worker; j < j_end_2; j += 32) {
        found_run[0] = found_run[0] || x[i * x_stride_0 + j] > 0.0f;
        held_run[0] = held_run[0] && x[i * x_stride_0 + j] > 0.0f;
        count_run[0] = add(count_run[0], i64(x[i * x_stride_0 + j] > 0.0f));
        product_run[0] = product_run[0] * x[i * x_stride_0 + j];
    }

    bool found = found_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        found = found || found_run[element];
    }

    bool held = held_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        held = held && held_run[element];
    }

    i64 count = count_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        count = add(count, count_run[element]);
    }

    float product = product_run[0];
    UNROLL
    for (int element = 1; element < 4; ++element) {
        product = product * product_run[element];
    }
    UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
        const bool found_there = shuffle(0xffffffffu, found, worker ^ distance, 32);
        found = found || found_there;
        const bool held_there = shuffle(0xffffffffu, held, worker ^ distance, 32);
        held = held && held_there;
        const i64 count_there = shuffle(0xffffffffu, count, worker ^ distance, 32);
        count = add(count, count_there);
        const float product_there = shuffle(0xffffffffu, product, worker ^ distance, 32);
        product = product * product_there;
    }
    if (worker == 0 && i < H) {
        some[i] = found;
        every[i] = held;
        how_many[i] = count;
        times[i] = product;
    }
}
