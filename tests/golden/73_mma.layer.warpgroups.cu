// layer, schedule: warpgroups
// y: tile n × i × j 64, m 64, c 64, u 1, v 1; 128 threads, 32 outputs each, (((4,8),4),(2,2,8)):(((2,64),1024),(1,512,8))
// 1 warpgroup, each 64 x 64 by wgmma m64n64k16, f16 into f32; 1 of 3 chunks on their way
// x: rows (of n, i, j the last fastest); 16-byte vectors at swizzle(3,0,3) of (64,8):(8,1)
// w: columns; 16-byte vectors at swizzle(3,0,3) of (64,8):(8,1)
// b: global memory; halo m [0, 0]
// w: 64 x 64 in shared memory, 3 times; halo m [0, 0], u [0, 0], v [0, 0], c [0, 0]
// x: 64 x 64 in shared memory, 3 times; halo n [0, 0], i [1, 1], j [1, 1], c [0, 0]
// shared memory: 49152 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128, 4) layer(
    In<f16> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    In<f16> w, Index w_stride_0, Index w_stride_1, Index w_stride_2,
    In<float> b,
    Out<f16> y, Index y_stride_0, Index y_stride_1, Index y_stride_2,
    Index N, Index H, Index W, Index C, Index M
) {
    PANEL_AT(f16, x_chunks, 0, 3 * 64 * 64);
    PANEL_AT(f16, w_chunks, 24576, 3 * 64 * 64);
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index extent_i = floor_div(H - 1, 2) + 1;
    const Index extent_j = floor_div(W - 1, 2) + 1;
    const Index blocks_of_columns = (M + 63) / 64;
    const Index tile_columns = block % blocks_of_columns * 64;
    const Index rows = N * extent_i * extent_j;
    const Index tile_rows = block / blocks_of_columns * 64;
    Index x_at[4];
    Index x_at_1[4];
    Index x_at_2[4];
    UNROLL
    for (int turn = 0; turn < 4; ++turn) {
        const Index row = minimum(tile_rows + thread / 8 + turn * 16, rows - 1);
        const Index n = row / extent_j / extent_i;
        const Index i = row / extent_j % extent_i;
        const Index j = row % extent_j;
        x_at[turn] = n * x_stride_0 + i * 2 * x_stride_1 + j * 2 * x_stride_2;
        x_at_1[turn] = i * 2;
        x_at_2[turn] = j * 2;
    }

    float sums[32];
    UNROLL
    for (int item = 0; item < 32; ++item) {
        sums[item] = 0.0f;
    }

    const Index chunks_of_c = (C + 63) / 64;
    const Index chunks = chunks_of_c * 9;
    const auto begin = [&](const Index chunk) {
        if (chunk < chunks) {
            const Index c = chunk / 9 * 64;
            const Index u = chunk / 3 % 3;
            const Index v = chunk % 3;
            const int into = chunk % 3;
            const Index x_from = (u - 1) * x_stride_1 + (v - 1) * x_stride_2 + c;
            UNROLL
            for (int turn = 0; turn < 4; ++turn) {
                const int line = turn * 16 + thread / 8;
                const Index x_1 = x_at_1[turn] + (u - 1);
                const Index x_2 = x_at_2[turn] + (v - 1);
                const Index at = x_at[turn] + (x_from + thread % 8 * 8);
                copy_async16(x_chunks + (into * 4096 + line * 64 + ((thread % 8) ^ (line % 8)) * 8), x + at,
                    within(x_1, H) && within(x_2, W)
                    ? minimum(maximum(C - c - thread % 8 * 8, 0), 8) * 2 : 0);
            }
            const Index w_from = u * w_stride_1 + v * w_stride_2 + c;
            UNROLL
            for (int turn = 0; turn < 4; ++turn) {
                const int line = turn * 16 + thread / 8;
                const Index at = w_from + (tile_columns + line) * w_stride_0 + thread % 8 * 8;
                copy_async16(w_chunks + (into * 4096 + line * 64 + ((thread % 8) ^ (line % 8)) * 8), w + at,
                    tile_columns + line < M ? minimum(maximum(C - c - thread % 8 * 8, 0), 8) * 2 : 0);
            }
        }
        copy_async_commit();
    };
    begin(0);
    for (Index chunk = 0; chunk < chunks; ++chunk) {
        copy_async_wait<0>();
        copy_async_show();
        __syncthreads();
        const int buffer = chunk % 3;
        wgmma_begin<32>(sums);
        UNROLL
        for (int step = 0; step < 4; ++step) {
            wgmma<64>(sums, x_chunks + (buffer * 4096 + step * 16), w_chunks + (buffer * 4096 + step * 16));
        }
        wgmma_commit();
        begin(chunk + 1);
        wgmma_wait<1>();
    }
    wgmma_end<32>(sums);
    UNROLL
    for (int part = 0; part < 2; ++part) {
        const Index row = tile_rows + thread / 4 % 8 + thread / 32 * 16 + part * 8;
        const Index n = row / extent_j / extent_i;
        const Index i = row / extent_j % extent_i;
        const Index j = row % extent_j;
        UNROLL
        for (int group = 0; group < 2; ++group) {
            Pack<f16, 8> y_run = Pack<f16, 8>();
            UNROLL
            for (int element = 0; element < 8; ++element) {
                const Index m = tile_columns + element % 2 + thread % 4 * 2 + group * 32 + element / 2 * 8;
                if (row < rows && m < M) {
                    y_run[element] = f16(maximum(b[m]
                        + sums[group * 16 + element / 2 * 4 + part * 2 + element % 2], 0.0f));
                }
            }
            exchange_parts<4>(y_run);
            const Index first = tile_columns + thread % 4 * 8 + group * 32;
            if (row < rows) {
                if (first + 7 < M) {
                    store(y + (n * y_stride_0 + i * y_stride_1 + j * y_stride_2 + first), y_run);
                } else {
                    UNROLL
                    for (int element = 0; element < 8; ++element) {
                        if (first + element < M) {
                            y[n * y_stride_0 + i * y_stride_1 + j * y_stride_2 + first + element] =
                                y_run[element];
                        }
                    }
                }
            }
        }
    }
}
