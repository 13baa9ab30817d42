// turn, schedule: default
// records: tile i 64, f 3; 64 threads, 3 outputs each, (64,3):(1,64)
// fields: 3 x 64 in shared memory; halo f [0, 0], i [0, 0]
// shared memory: 1536 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(64) turn(
    In<double> fields, Index fields_stride_0,
    Out<double> records, Index records_stride_0,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 64;
    SHARED(double, fields_tile, 3 * 64);
    for (int at = thread; at < 3 * 64; at += 64) {
        const Index fields_f = at / 64;
        const Index fields_i = tile_i + at % 64;
        if (fields_f < 3 && fields_i < N) {
            fields_tile[at] = fields[fields_f * fields_stride_0 + fields_i];
        }
    }
    __syncthreads();
    UNROLL
    for (int item = 0; item < 3; ++item) {
        const int item_i = (item * 64 + thread) / 3;
        const int item_f = (item * 64 + thread) % 3;
        const Index i = tile_i + item_i;
        const Index f = item_f;
        if (i < N) {
            records[i * records_stride_0 + f] = fields_tile[item_f * 64 + item_i];
        }
    }
}
