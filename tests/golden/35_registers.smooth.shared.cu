// smooth, schedule: shared
// y: tile i 512; 128 threads, 4 outputs each, (128,4):(4,1)
// w: global memory
// x: 514 in shared memory; halo i [1, 1]
// x: loaded as ((32,4),5):((1,160),32)
// y: stored as ((32,4),4):((1,128),32), after smooth_store_y
// shared memory: 4104 bytes
#include "layoutc.cuh"

using Index = int;

// smooth_store_y: f32, (128,4):(4,1) -> ((32,4),4):((1,128),32)
// Through 2048 bytes of shared memory: 4 items a store, 1 a load;
// wavefronts of the block: 16 to write (ideal 16), 16 to read (ideal 16).
// Call it with all of a one-dimensional block of 128 threads; thread t is threadIdx.x.
// No value leaves its warp: it synchronises each warp before it writes and before it reads;
// calls may follow one another, and nothing else need be synchronised for it.
inline constexpr int smooth_store_y_shared_bytes = 2048;
DEVICE void smooth_store_y(const float (&before)[4], float (&after)[4]) {
    const int thread = threadIdx.x;
    SHARED(float, smooth_store_y_buffer, 512);
    __syncwarp();
    store(smooth_store_y_buffer + thread * 4, Pack<float, 4>{{before[0], before[1], before[2], before[3]}});
    __syncwarp();
    UNROLL
    for (int group = 0; group < 4; ++group) {
        after[group] = smooth_store_y_buffer[thread % 32 + thread / 32 * 128 + group * 32];
    }
}

KERNEL(128) smooth(
    In<float> x,
    In<float> w,
    Out<float> y,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 512;
    SHARED(float, x_tile, 514);
    UNROLL
    for (int item = 0; item < 5; ++item) {
        const int at = thread % 32 + thread / 32 * 160 + item * 32;
        if (at < 514) {
            const Index x_i = tile_i + at - 1;
            x_tile[at] = x[nearest(x_i, N)];
        }
    }
    __syncthreads();

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
                sum = fma(w[u], x_tile[item_i + u], sum);
            }
            y_made[item] = sum;
        }
    }

    float y_stored[4];
    smooth_store_y(y_made, y_stored);
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int at = thread % 32 + thread / 32 * 128 + item * 32;
        const Index y_i = tile_i + at;
        if (y_i < N) {
            y[y_i] = y_stored[item];
        }
    }
}
