// turned, schedule: default
// y: tile j 8, i 32; 64 threads, 4 outputs each, ((32,2),4):((1,128),32)
// x: 1 x 4 in registers; halo i [0, 0], j [0, 0]
// x: loaded as (64,4):(1,64), then by turned_load_x
// shared memory: 1024 bytes
#include "layoutc.cuh"

using Index = int;

// turned_load_x: i32, (64,4):(1,64) -> ((32,2),(4,1)):((8,4),(1,8))
// Through 1024 bytes of shared memory: 1 item a store, 4 a load;
// wavefronts of the block: 8 to write (ideal 8), 8 to read (ideal 8).
// Call it with all of a one-dimensional block of 64 threads; thread t is threadIdx.x.
// It synchronises the block before it writes and before it reads: calls may follow one another,
// and nothing else need be synchronised for it.
inline constexpr int turned_load_x_shared_bytes = 1024;
DEVICE void turned_load_x(const int (&before)[4], int (&after)[4]) {
    const int thread = threadIdx.x;
    SHARED(int, turned_load_x_buffer, 256);
    __syncthreads();
    UNROLL
    for (int group = 0; group < 4; ++group) {
        turned_load_x_buffer[((group * 16 + thread / 4) ^ (thread / 32)) * 4 + thread % 4] = before[group];
    }
    __syncthreads();

    const Pack<int, 4> pack =
        load<4>(turned_load_x_buffer + ((thread % 32 * 2 + thread / 32) ^ (thread / 4 % 2)) * 4);
    UNROLL
    for (int element = 0; element < 4; ++element) {
        after[element] = pack[element];
    }
}

KERNEL(64) turned(
    In<int> x, Index x_stride_0,
    Out<int> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_i = (H + 31) / 32;
    const Index tile_j = block / blocks_i * 8;
    const Index tile_i = block % blocks_i * 32;
    int x_loaded[4];
    UNROLL
    for (int item = 0; item < 4; ++item) {
        x_loaded[item] = 0;
        const int at = thread + item * 64;
        const Index x_i = tile_i + at / 8;
        const Index x_j = tile_j + at % 8;
        if (x_i < H && x_j < W) {
            x_loaded[item] = x[x_i * x_stride_0 + x_j];
        }
    }

    int x_held[4];
    turned_load_x(x_loaded, x_held);
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_j = thread / 32 * 4 + item;
        const int item_i = thread % 32;
        const Index j = tile_j + item_j;
        const Index i = tile_i + item_i;
        if (j < W && i < H) {
            y[j * y_stride_0 + i] = x_held[item];
        }
    }
}
