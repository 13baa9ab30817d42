// transpose, schedule: chosen by the compiler
// y: tile i 64, j 64; 256 threads, 16 outputs each, ((16,16),(4,4)):((4,256),(1,64))
// x: 4 x 4 in registers; halo j [0, 0], i [0, 0]
// shared memory: 16384 bytes
#include "layoutc.cuh"

using Index = int;

// A thread takes 4 rows of 4 columns; interior: all that it reads and writes is there.
template <bool interior>
DEVICE void transpose_walk(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index W, Index H,
    Shared<float> y_tile,
    Index first_i, Index j
) {
    float x_row[16];
    if (interior) {
        UNROLL
        for (int x_at_j = 0; x_at_j < 4; ++x_at_j) {
            const Pack<float, 4> part = load<4>(x + ((j + x_at_j) * x_stride_0 + first_i));
            UNROLL
            for (int element = 0; element < 4; ++element) {
                x_row[x_at_j * 4 + element] = part[element];
            }
        }
    } else {
        UNROLL
        for (int x_at_j = 0; x_at_j < 4; ++x_at_j) {
            if (j + x_at_j < W && first_i + 4 <= H) {
                const Pack<float, 4> part = load<4>(x + ((j + x_at_j) * x_stride_0 + first_i));
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_row[x_at_j * 4 + element] = part[element];
                }
            } else {
                UNROLL
                for (int element = 0; element < 4; ++element) {
                    x_row[x_at_j * 4 + element] = j + x_at_j < W && first_i + element < H
                        ? x[(j + x_at_j) * x_stride_0 + first_i + element] : 0.0f;
                }
            }
        }
    }
    UNROLL_BY(4)
    for (int row = 0; row < 4; ++row) {
        float y_row[4];
        UNROLL
        for (int item = 0; item < 4; ++item) {
            y_row[item] = x_row[item * 4 + row];
        }
        Pack<float, 4> part = Pack<float, 4>();
        UNROLL
        for (int k = 0; k < 4; ++k) {
            part[k] = y_row[k];
        }
        store(y_tile + row * 64, part);
    }
}

KERNEL(256) transpose(
    In<float> x, Index x_stride_0,
    Out<float> y, Index y_stride_0,
    Index W, Index H
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 63) / 64;
    const Index tile_i = block / blocks_j * 64;
    const Index tile_j = block % blocks_j * 64;
    SHARED(float, y_tile, 64 * 64);
    const Index first_i = tile_i + thread % 16 * 4;
    const Index j = tile_j + thread / 16 * 4;
    const bool interior = tile_i + 64 <= H && tile_j + 64 <= W;
    if (interior) {
        transpose_walk<true>(x, x_stride_0, y, y_stride_0, W, H,
            y_tile + (thread % 16 * 256 + ((thread / 16) ^ (thread % 16)) * 4), first_i, j);
    } else {
        transpose_walk<false>(x, x_stride_0, y, y_stride_0, W, H,
            y_tile + (thread % 16 * 256 + ((thread / 16) ^ (thread % 16)) * 4), first_i, j);
    }
    __syncthreads();
    UNROLL
    for (int row = 0; row < 4; ++row) {
        const Index i_stored = tile_i + row + thread / 16 * 4;
        const Index j_stored = tile_j + thread % 16 * 4;
        const Pack<float, 4> y_row =
            load<4>(y_tile + (thread / 16 * 256 + row * 64 + ((thread % 16) ^ (thread / 16)) * 4));
        if (interior || (i_stored < H && j_stored + 3 < W)) {
            store(y + (i_stored * y_stride_0 + j_stored), y_row);
        } else {
            UNROLL
            for (int item = 0; item < 4; ++item) {
                if (i_stored < H && j_stored + item < W) {
                    y[i_stored * y_stride_0 + j_stored + item] = y_row[item];
                }
            }
        }
    }
}
