// layer, schedule: small
// y: tile n × i × j 32, m 32, c 16, u 1, v 1; 64 threads, 16 outputs each, (((4,8),2),((2,2),2,2)):(((2,32),16),((1,256),8,512))
// 1 x 2 warps, each 32 x 16 by mma.sync m16n8k16, f16 into f32
// x: rows (of n, i, j the last fastest); 16-byte vectors at swizzle(1,0,3) of (32,2):(2,1), fragments mma_a ((4,8),(2,2,2)):((2,16),(1,128,8))
// w: columns; 16-byte vectors at swizzle(1,0,3) of (32,2):(2,1), fragments mma_b ((4,8),(2,2)):((16,1),(8,64))
// b: global memory; halo m [0, 0]
// w: 32 x 16 in shared memory, 4 times; halo m [0, 0], u [0, 0], v [0, 0], c [0, 0]
// x: 32 x 16 in shared memory, 4 times; halo n [0, 0], i [1, 1], j [1, 1], c [0, 0]
// shared memory: 8192 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(64) layer(
    In<f16> x, Index x_stride_0, Index x_stride_1, Index x_stride_2,
    In<f16> w, Index w_stride_0, Index w_stride_1, Index w_stride_2,
    In<float> b,
    Out<f16> y, Index y_stride_0, Index y_stride_1, Index y_stride_2,
    Index N, Index H, Index W, Index C, Index M
) {
    SHARED_AT(f16, x_chunks, 0, 4 * 32 * 16);
    SHARED_AT(f16, w_chunks, 4096, 4 * 32 * 16);
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index extent_i = floor_div(H - 1, 2) + 1;
    const Index extent_j = floor_div(W - 1, 2) + 1;
    const Index blocks_of_columns = (M + 31) / 32;
    const Index tile_columns = block % blocks_of_columns * 32;
    const Index rows = N * extent_i * extent_j;
    const Index tile_rows = block / blocks_of_columns * 32;
    Index x_at[1];
    Index x_at_1[1];
    Index x_at_2[1];
    const Index row = minimum(tile_rows + thread / 2, rows - 1);
    const Index n = row / extent_j / extent_i;
    const Index i = row / extent_j % extent_i;
    const Index j = row % extent_j;
    x_at[0] = n * x_stride_0 + i * 2 * x_stride_1 + j * 2 * x_stride_2;
    x_at_1[0] = i * 2;
    x_at_2[0] = j * 2;

    const int lane = thread % 32;
    const int warp_columns = thread / 32 * 16;
    const int x_line = lane % 16;
    const int x_lane = x_line * 16 + ((lane / 16) ^ (x_line / 4 % 2)) * 8;
    const int w_line = warp_columns + lane % 8 + lane / 16 * 8;
    const int w_lane = w_line * 16 + ((lane / 8 % 2) ^ (w_line / 4 % 2)) * 8;
    float sums[16];
    UNROLL
    for (int item = 0; item < 16; ++item) {
        sums[item] = 0.0f;
    }

    const Index chunks_of_c = (C + 15) / 16;
    const Index chunks = chunks_of_c * 9;
    for (Index chunk = 0; chunk < chunks + 3; ++chunk) {
        copy_async_wait<2>();
        __syncthreads();
        if (chunk < chunks) {
            const Index c = chunk / 9 * 16;
            const Index u = chunk / 3 % 3;
            const Index v = chunk % 3;
            const int into = chunk % 4;
            const Index x_from = (u - 1) * x_stride_1 + (v - 1) * x_stride_2 + c;
            const int line = thread / 2;
            const Index x_1 = x_at_1[0] + (u - 1);
            const Index x_2 = x_at_2[0] + (v - 1);
            const Index at = x_at[0] + (x_from + thread % 2 * 8);
            copy_async16(x_chunks + (into * 512 + line * 16 + ((thread % 2) ^ (line / 4 % 2)) * 8), x + at,
                within(x_1, H) && within(x_2, W) ? minimum(maximum(C - c - thread % 2 * 8, 0), 8) * 2 : 0);
            const Index w_from = u * w_stride_1 + v * w_stride_2 + c;
            const Index at_2 = w_from + (tile_columns + line) * w_stride_0 + thread % 2 * 8;
            copy_async16(w_chunks + (into * 512 + line * 16 + ((thread % 2) ^ (line / 4 % 2)) * 8), w + at_2,
                tile_columns + line < M ? minimum(maximum(C - c - thread % 2 * 8, 0), 8) * 2 : 0);
        }
        copy_async_commit();
        if (chunk >= 3) {
            const int buffer = (chunk + 1) % 4;
            Pack<unsigned, 4> w_parts[1];
            w_parts[0] = load_rows<8>(w_chunks + (w_lane + buffer * 512));
            UNROLL
            for (int row = 0; row < 2; ++row) {
                const auto x_part = load_rows<8>(x_chunks + (x_lane + buffer * 512 + row * 256));
                UNROLL
                for (int column = 0; column < 2; ++column) {
                    mma<f16, f16>(sums + (row * 8 + column * 4), x_part, w_parts[0][column * 2],
                        w_parts[0][column * 2 + 1]);
                }
            }
        }
    }
    UNROLL
    for (int part = 0; part < 4; ++part) {
        const Index row = tile_rows + thread / 4 % 8 + part % 2 * 8 + part / 2 * 16;
        if (row < rows) {
            const Index n = row / extent_j / extent_i;
            const Index i = row / extent_j % extent_i;
            const Index j = row % extent_j;
            UNROLL
            for (int pair = 0; pair < 2; ++pair) {
                const Index first = tile_columns + thread % 4 * 2 + thread / 32 * 16 + pair * 8;
                Pack<f16, 2> y_pair = Pack<f16, 2>();
                UNROLL
                for (int element = 0; element < 2; ++element) {
                    const Index m = first + element;
                    if (m < M) {
                        y_pair[element] = f16(maximum(b[m]
                            + sums[part / 2 * 8 + pair * 4 + part % 2 * 2 + element], 0.0f));
                    }
                }
                if (first + 1 < M) {
                    store(y + (n * y_stride_0 + i * y_stride_1 + j * y_stride_2 + first), y_pair);
                }
                if (first < M && first + 1 >= M) {
                    y[n * y_stride_0 + i * y_stride_1 + j * y_stride_2 + first] = y_pair[0];
                }
            }
        }
    }
}
