// smooth, schedule: default
// y: tile i 512; 128 threads, 4 outputs each, (128,4):(4,1)
// w: 3 in constant memory
// x: 6 in registers; halo i [1, 1]
// x: loaded as (128,5):(1,128), then by smooth_load_x
// y: stored as (128,4):(1,128), after smooth_store_y
// shared memory: 4608 bytes
#include "layoutc.cuh"

using Index = int;

// smooth_load_x: f32, (128,5):(1,128) -> (128,6):(4,1)
// Through 2560 bytes of shared memory: 1 item a store, 2 a load;
// wavefronts of the block: 20 to write (ideal 20), 24 to read (ideal 24).
// Call it with all of a one-dimensional block of 128 threads; thread t is threadIdx.x.
// It synchronises the block before it writes and before it reads: calls may follow one another,
// and nothing else need be synchronised for it.
inline constexpr int smooth_load_x_shared_bytes = 2560;
DEVICE void smooth_load_x(const float (&before)[5], float (&after)[6]) {
    const int thread = threadIdx.x;
    SHARED(float, smooth_load_x_buffer, 640);
    __syncthreads();
    UNROLL
    for (int group = 0; group < 5; ++group) {
        smooth_load_x_buffer[((group * 64 + thread / 2) ^ (thread / 4 % 16)) * 2 + thread % 2] =
            before[group];
    }
    __syncthreads();
    UNROLL
    for (int group = 0; group < 3; ++group) {
        const Pack<float, 2> pack =
            load<2>(smooth_load_x_buffer + ((thread * 2 + group) ^ ((thread + group / 2) % 16)) * 2);
        UNROLL
        for (int element = 0; element < 2; ++element) {
            after[group * 2 + element] = pack[element];
        }
    }
}

// smooth_store_y: f32, (128,4):(4,1) -> (128,4):(1,128)
// Through 2048 bytes of shared memory: 4 items a store, 1 a load;
// wavefronts of the block: 16 to write (ideal 16), 16 to read (ideal 16).
// Call it with all of a one-dimensional block of 128 threads; thread t is threadIdx.x.
// It synchronises the block before it writes and before it reads: calls may follow one another,
// and nothing else need be synchronised for it.
inline constexpr int smooth_store_y_shared_bytes = 2048;
DEVICE void smooth_store_y(const float (&before)[4], float (&after)[4]) {
    const int thread = threadIdx.x;
    SHARED(float, smooth_store_y_buffer, 512);
    __syncthreads();
    store(smooth_store_y_buffer + thread * 4, Pack<float, 4>{{before[0], before[1], before[2], before[3]}});
    __syncthreads();
    UNROLL
    for (int group = 0; group < 4; ++group) {
        after[group] = smooth_store_y_buffer[thread + group * 128];
    }
}

KERNEL(128) smooth(
    In<float> x,
    CONSTANT_PARAM Constant<float, 3> w,
    Out<float> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 512;
    float x_loaded[5];
    UNROLL
    for (int item = 0; item < 5; ++item) {
        x_loaded[item] = 0.0f;
        const int at = thread + item * 128;
        if (at < 514) {
            const Index x_i = tile_i + at - 1;
            x_loaded[item] = x[nearest(x_i, N)];
        }
    }

    float x_held[6];
    smooth_load_x(x_loaded, x_held);

    float y_made[4];
    UNROLL
    for (int item = 0; item < 4; ++item) {
        y_made[item] = 0.0f;
    }
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = thread * 4 + item;
        const Index i = tile_i + item_i;
        if (i < N) {
            float sum = 0.0f;
            UNROLL
            for (int u = 0; u < 3; ++u) {
                sum = fma(w[u], x_held[item + u], sum);
            }
            y_made[item] = sum;
        }
    }

    float y_stored[4];
    smooth_store_y(y_made, y_stored);
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int at = thread + item * 128;
        const Index y_i = tile_i + at;
        if (y_i < N) {
            y[y_i] = y_stored[item];
        }
    }
}
