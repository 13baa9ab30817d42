// bits, schedule: chosen by the compiler
// quotient, rest, parity: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// n: global memory; halo i [0, 0]
// d: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) bits(
    In<i64> n,
    In<int> d,
    Out<i64> quotient,
    Out<i64> rest,
    Out<u8> parity,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            quotient[i] = floor_div(n[i], i64(d[0]));
            rest[i] = floor_mod(n[i], i64(d[0]));
            parity[i] = u8(floor_mod(n[i], 2ll));
        }
    }
}
