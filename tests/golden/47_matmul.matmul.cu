// matmul, schedule: default
// c: tile i 32, j 32, k 8; 64 threads, 16 outputs each, (64,(4,4)):(4,(1,256))
// a: 32 x 8 in shared memory, twice; halo i [0, 0], k [0, 0]
// b: 8 x 32 in shared memory, twice; halo k [0, 0], j [0, 0]
// shared memory: 4096 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(64) matmul(
    In<float> a, Index a_stride_0,
    In<float> b, Index b_stride_0,
    Out<float> c, Index c_stride_0,
    Index M, Index K, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_j = (N + 31) / 32;
    const Index tile_i = block / blocks_j * 32;
    const Index tile_j = block % blocks_j * 32;
    SHARED(float, a_tile, 2 * 32 * 8);
    SHARED(float, b_tile, 2 * 8 * 32);
    float sum[16];
    UNROLL
    for (int item = 0; item < 16; ++item) {
        sum[item] = 0.0f;
    }

    const Index chunks = (K + 7) / 8;
    for (Index chunk = 0; chunk < chunks + 1; ++chunk) {
        copy_async_wait<0>();
        __syncthreads();
        if (chunk < chunks) {
            const int buffer = chunk % 2;
            const Index chunk_k = chunk * 8;
            for (int at = thread; at < 32 * 2; at += 64) {
                const Index a_i = tile_i + at / 2;
                const Index a_k = chunk_k + at % 2 * 4;
                if (within(a_i, M) && a_k + 4 <= K) {
                    copy_async16(a_tile + (buffer * 256 + at * 4), a + (a_i * a_stride_0 + a_k));
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        a_tile[buffer * 256 + at * 4 + element] = a_i < M && a_k + element < K
                            ? a[a_i * a_stride_0 + a_k + element] : 0.0f;
                    }
                }
            }
            for (int at = thread; at < 8 * 8; at += 64) {
                const Index b_k = chunk_k + at / 8;
                const Index b_j = tile_j + at % 8 * 4;
                if (within(b_k, K) && b_j + 4 <= N) {
                    copy_async16(b_tile + (buffer * 256 + at * 4), b + (b_k * b_stride_0 + b_j));
                } else {
                    UNROLL
                    for (int element = 0; element < 4; ++element) {
                        b_tile[buffer * 256 + at * 4 + element] = b_k < K && b_j + element < N
                            ? b[b_k * b_stride_0 + b_j + element] : 0.0f;
                    }
                }
            }
            copy_async_commit();
        }
        if (chunk > 0) {
            const int buffer = (chunk + 1) % 2;
            const Index chunk_k = chunk * 8 - 8;
            const int count_k = minimum(chunk_k + 8, K) - chunk_k;
            for (int item_k = 0; item_k < count_k; ++item_k) {
                float left[4];
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    const int item_i = part * 8 + thread / 8;
                    left[part] = a_tile[(buffer * 32 + item_i) * 8 + item_k];
                }
                float right[4];
                UNROLL
                for (int part = 0; part < 4; ++part) {
                    const int item_j = thread % 8 * 4 + part;
                    right[part] = b_tile[(buffer * 8 + item_k) * 32 + item_j];
                }
                UNROLL
                for (int item = 0; item < 16; ++item) {
                    sum[item] = fma(left[item / 4], right[item % 4], sum[item]);
                }
            }
        }
    }
    UNROLL
    for (int item = 0; item < 16; ++item) {
        const int item_i = item / 4 * 8 + thread / 8;
        const int item_j = thread % 8 * 4 + item % 4;
        const Index i = tile_i + item_i;
        const Index j = tile_j + item_j;
        if (i < M && j < N) {
            c[i * c_stride_0 + j] = sum[item];
        }
    }
}
