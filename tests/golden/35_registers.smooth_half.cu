// smooth_half, schedule: default
// y: tile i 128; 32 threads, 4 outputs each, (32,4):(4,1)
// x: 6 in registers; halo i [1, 1]
// x: loaded as (32,5):(1,32), then by smooth_half_load_x
// y: stored as (32,4):(1,32), after smooth_half_store_y
// shared memory: 576 bytes
#include "layoutc.cuh"

using Index = int;

// smooth_half_load_x: f16, (32,5):(1,32) -> (32,6):(4,1)
// Through 320 bytes of shared memory: 1 item a store, 2 a load;
// wavefronts of the block: 5 to write (ideal 5), 3 to read (ideal 3).
// Call it with all of a one-dimensional block of 32 threads; thread t is threadIdx.x.
// No value leaves its warp: it synchronises each warp before it writes and before it reads;
// calls may follow one another, and nothing else need be synchronised for it.
inline constexpr int smooth_half_load_x_shared_bytes = 320;
DEVICE void smooth_half_load_x(const f16 (&before)[5], f16 (&after)[6]) {
    const int thread = threadIdx.x;
    SHARED(f16, smooth_half_load_x_buffer, 160);
    __syncwarp();
    UNROLL
    for (int group = 0; group < 5; ++group) {
        smooth_half_load_x_buffer[((group * 16 + thread / 2) ^ (group / 2 % 2)) * 2 + thread % 2] =
            before[group];
    }
    __syncwarp();
    UNROLL
    for (int group = 0; group < 3; ++group) {
        put<2>(after + group * 2,
            load_words<2>(smooth_half_load_x_buffer
            + ((thread * 2 + group) ^ ((thread * 2 + group) / 32 % 2)) * 2));
    }
}

// smooth_half_store_y: f16, (32,4):(4,1) -> (32,4):(1,32)
// Through 256 bytes of shared memory: 4 items a store, 1 a load;
// wavefronts of the block: 2 to write (ideal 2), 4 to read (ideal 4).
// Call it with all of a one-dimensional block of 32 threads; thread t is threadIdx.x.
// No value leaves its warp: it synchronises each warp before it writes and before it reads;
// calls may follow one another, and nothing else need be synchronised for it.
inline constexpr int smooth_half_store_y_shared_bytes = 256;
DEVICE void smooth_half_store_y(const f16 (&before)[4], f16 (&after)[4]) {
    const int thread = threadIdx.x;
    SHARED(f16, smooth_half_store_y_buffer, 128);
    __syncwarp();
    store_words(smooth_half_store_y_buffer + thread * 4,
        Pack<unsigned, 2>{{word_of(Pack<f16, 2>{{before[0], before[1]}}),
        word_of(Pack<f16, 2>{{before[2], before[3]}})}});
    __syncwarp();
    UNROLL
    for (int group = 0; group < 4; ++group) {
        after[group] = smooth_half_store_y_buffer[thread + group * 32];
    }
}

KERNEL(32) smooth_half(
    In<f16> x,
    Out<f16> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 128;
    f16 x_loaded[5];
    UNROLL
    for (int item = 0; item < 5; ++item) {
        x_loaded[item] = f16();
        const int at = thread + item * 32;
        if (at < 130) {
            const Index x_i = tile_i + at - 1;
            x_loaded[item] = within(x_i, N) ? x[x_i] : f16(0.0f);
        }
    }

    f16 x_held[6];
    smooth_half_load_x(x_loaded, x_held);

    f16 y_made[4];
    UNROLL
    for (int item = 0; item < 4; ++item) {
        y_made[item] = f16();
    }
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = thread * 4 + item;
        const Index i = tile_i + item_i;
        if (i < N) {
            y_made[item] = f16(float(x_held[item]) / 4.0f + float(x_held[item + 1]) / 2.0f
                + float(x_held[item + 2]) / 4.0f);
        }
    }

    f16 y_stored[4];
    smooth_half_store_y(y_made, y_stored);
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int at = thread + item * 32;
        const Index y_i = tile_i + at;
        if (y_i < N) {
            y[y_i] = y_stored[item];
        }
    }
}
