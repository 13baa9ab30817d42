// layer, schedule: warpgroups
// y: tile n × i × j 64, m 64, c 64, u 1, v 1; 128 threads, 32 outputs each, (((4,8),4),(2,2,8)):(((2,64),1024),(1,512,8))
// 1 warpgroup, each 64 x 64 by wgmma m64n64k16, f16 into f32; 2 of 3 chunks on their way, as boxes that one thread asks for
// x: rows (of n, i, j the last fastest); 16-byte vectors at swizzle(3,0,3) of (64,8):(8,1)
// w: columns; 16-byte vectors at swizzle(3,0,3) of (64,8):(8,1)
// b: global memory; halo m [0, 0]
// w: 64 x 64 in shared memory, 3 times; halo m [0, 0], u [0, 0], v [0, 0], c [0, 0]
// x: 64 x 64 in shared memory, 3 times; halo n [0, 0], i [1, 1], j [1, 1], c [0, 0]
// shared memory: 49152 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(128, 4) layer(
    CONSTANT_PARAM TensorMap x,
    CONSTANT_PARAM TensorMap w,
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
    const Index rows = N * extent_i * extent_j;
    const Index blocks_of_rows = (rows + 63) / 64;
    const Index first_block = block / (blocks_of_columns * 16) * 16;
    const Index blocks_beside = minimum(blocks_of_rows - first_block, 16);
    const Index blocks_after = block % (blocks_of_columns * 16);
    const Index tile_columns = blocks_after / blocks_beside * 64;
    const Index tile_rows = (first_block + blocks_after % blocks_beside) * 64;
    BARRIERS(full, 3);
    BARRIERS(empty, 3);
    if (thread == 0) {
        for (int buffer = 0; buffer < 3; ++buffer) {
            barrier_begin(full + buffer, 1);
            barrier_begin(empty + buffer, 4);
        }
    }
    __syncthreads();

    const Index tile_n = tile_rows / extent_j / extent_i;
    const Index tile_i = tile_rows / extent_j % extent_i;
    const Index tile_j = tile_rows % extent_j;
    float sums[32];
    UNROLL
    for (int item = 0; item < 32; ++item) {
        sums[item] = 0.0f;
    }

    const Index chunks_of_c = (C + 63) / 64;
    const Index chunks = chunks_of_c * 9;
    const auto begin = [&](const Index chunk) {
        const Index c = chunk / 9 * 64;
        const Index u = chunk / 3 % 3;
        const Index v = chunk % 3;
        const int into = chunk % 3;
        barrier_expect(full + into, 16384);
        copy_taps(x_chunks + into * 4096, x, full + into, tile_n, tile_i * 2 - 1, tile_j * 2 - 1, c, u, v);
        copy_box(w_chunks + into * 4096, w, full + into, tile_columns, u, v, c);
    };
    if (thread == 0) {
        for (Index chunk = 0; chunk < minimum(3, chunks); ++chunk) {
            begin(chunk);
        }
    }
    for (Index chunk = 0; chunk < chunks; ++chunk) {
        const int buffer = chunk % 3;
        barrier_wait(full + buffer, chunk / 3 % 2);
        wgmma_begin<32>(sums);
        UNROLL
        for (int step = 0; step < 4; ++step) {
            wgmma<64>(sums, x_chunks + (buffer * 4096 + step * 16), w_chunks + (buffer * 4096 + step * 16));
        }
        wgmma_commit();
        wgmma_wait<1>();
        if (chunk > 0) {
            const int left = (chunk + 2) % 3;
            if (thread % 32 == 0) {
                barrier_arrive(empty + left);
            }
            if (thread == 0 && chunk + 2 < chunks) {
                barrier_wait(empty + left, ((chunk + 2) / 3 + 1) % 2);
                begin(chunk + 2);
            }
            __syncwarp();
        }
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
