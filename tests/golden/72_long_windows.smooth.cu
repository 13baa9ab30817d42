// smooth, schedule: chosen by the compiler
// y: tile i 64, j 128; 256 threads, 32 outputs each, ((32,8),(4,8)):((4,1024),(1,128))
// w: 15 in registers
// g: 1 x 4 in registers; halo i [7, 7], j [0, 0]
// x: 78 x 142 in shared memory; halo i [7, 7], j [7, 7]
// shared memory: 44928 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(256) smooth(
    In<float> x, Index x_stride_0,
    In<float> w,
    Out<float> y, Index y_stride_0,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (W + 127) / 128;
    const Index tile_i = block / blocks_j * 64;
    const Index tile_j = block % blocks_j * 128;
    float w_held[15];
    UNROLL
    for (int at = 0; at < 15; ++at) {
        w_held[at] = w[at];
    }

    const int warp = thread / 32;
    const int lane = thread % 32;
    SHARED(float, x_tile, 78 * 144);
    const bool interior = tile_i + 71 <= H && tile_j + 136 <= W && tile_i - 7 >= 0 && tile_j - 8 >= 0;
    if (interior) {
        for (int row = warp; row < 78; row += 8) {
            const Index x_i = tile_i + row - 7;
            copy_async16(x_tile + (row * 144 + lane * 4), x + (x_i * x_stride_0 + tile_j + lane * 4 - 8));
            if (lane < 4) {
                copy_async16(x_tile + (row * 144 + lane * 4 + 128),
                    x + (x_i * x_stride_0 + tile_j + lane * 4 + 120));
            }
        }
        copy_async_commit();
        copy_async_wait<0>();
    } else {
        for (int row = warp; row < 78; row += 8) {
            const Index x_i = tile_i + row - 7;
            for (int at = lane; at < 144; at += 32) {
                const Index x_j = tile_j + at - 8;
                const Index x_i_read = reflect(x_i, H);
                x_tile[row * 144 + at] = x[x_i_read * x_stride_0 + reflect(x_j, W)];
            }
        }
    }
    __syncwarp();
    // each warp makes rows of g in the place of those of x
    UNROLL_BY(1)
    for (int row = warp; row < 78; row += 8) {
        float x_row[20];
        float g_row[4];
        UNROLL
        for (int piece = 0; piece < 5; ++piece) {
            const Pack<float, 4> part = load<4>(x_tile + (row * 144 + (lane + piece) * 4));
            UNROLL
            for (int k = 0; k < 4; ++k) {
                x_row[piece * 4 + k] = part[k];
            }
        }
        UNROLL
        for (int at_1 = 0; at_1 < 4; ++at_1) {
            float sum = 0.0f;
            UNROLL
            for (int v = 0; v < 15; ++v) {
                sum = fma(w_held[v], x_row[at_1 + v + 1], sum);
            }
            g_row[at_1] = sum;
        }
        Pack<float, 4> part = Pack<float, 4>();
        UNROLL
        for (int k = 0; k < 4; ++k) {
            part[k] = g_row[k];
        }
        __syncwarp();
        store(x_tile + (row * 144 + lane * 4), part);
    }
    __syncthreads();

    const Index first_i = tile_i + warp * 8;
    const Index j = tile_j + lane * 4;
    float g_row[4];
    float y_sum[60];
    UNROLL
    for (int k = 0; k < 60; ++k) {
        y_sum[k] = 0.0f;
    }
    UNROLL_BY(22)
    for (int turn = 0; turn < 22; ++turn) {
        const Index i = first_i + turn - 14;
        const Pack<float, 4> part = load<4>(x_tile + (warp * 1152 + turn * 144 + lane * 4));
        UNROLL
        for (int k = 0; k < 4; ++k) {
            g_row[k] = part[k];
        }
        UNROLL
        for (int u = 0; u < 15; ++u) {
            UNROLL
            for (int item = 0; item < 4; ++item) {
                y_sum[item - u * 4 + 56] = fma(w_held[u], g_row[item], y_sum[item - u * 4 + 56]);
            }
        }
        if (turn >= 14) {
            if (interior || (i < H && j + 3 < W)) {
                Pack<float, 4> part = Pack<float, 4>();
                UNROLL
                for (int k = 0; k < 4; ++k) {
                    part[k] = y_sum[k];
                }
                store(y + (i * y_stride_0 + j), part);
            } else {
                UNROLL
                for (int item = 0; item < 4; ++item) {
                    if (i < H && j + item < W) {
                        y[i * y_stride_0 + j + item] = y_sum[item];
                    }
                }
            }
        }
        // the rows move on
        UNROLL
        for (int k = 0; k < 56; ++k) {
            y_sum[k] = y_sum[k + 4];
        }
        UNROLL
        for (int k = 0; k < 4; ++k) {
            y_sum[k + 56] = 0.0f;
        }
    }
}
