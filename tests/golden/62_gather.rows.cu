// rows, schedule: default
// y: tile n 8, d 32; 64 threads, 4 outputs each, (64,4):(4,1)
// at: global memory; halo n [0, 0]
// table: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(64) rows(
    In<float> table, Index table_stride_0,
    In<int> at,
    Out<float> y, Index y_stride_0,
    Index M, Index D, Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index blocks_d = (D + 31) / 32;
    const Index tile_n = block / blocks_d * 8;
    const Index tile_d = block % blocks_d * 32;
    const int item_n = thread / 8;
    const int item_d = thread % 8 * 4;
    const Index n = tile_n + item_n;
    const Index d = tile_d + item_d;
    Pack<float, 4> y_run = Pack<float, 4>();
    UNROLL
    for (int element = 0; element < 4; ++element) {
        if (n < N && d + element < D) {
            const i64 at_2 = i64(at[n]);
            y_run[element] = within(at_2, i64(M)) ? table[at_2 * table_stride_0 + d + element] : 0.0f;
        }
    }
    if (n < N && d + 3 < D) {
        store(y + (n * y_stride_0 + d), y_run);
    } else {
        UNROLL
        for (int element = 0; element < 4; ++element) {
            if (n < N && d + element < D) {
                y[n * y_stride_0 + d + element] = y_run[element];
            }
        }
    }
}
