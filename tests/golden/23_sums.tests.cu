// tests, schedule: chosen by the compiler
// some, every, how_many, times: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) tests(
    In<float> x, Index x_stride_0,
    Out<bool> some,
    Out<bool> every,
    Out<i64> how_many,
    Out<float> times,
    Index H, Index W
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < H) {
            bool found = false;
            for (Index j = 0; j < W; ++j) {
                found = found || x[i * x_stride_0 + j] > 0.0f;
            }
            bool held = true;
            for (Index j = 0; j < W; ++j) {
                held = held && x[i * x_stride_0 + j] > 0.0f;
            }
            i64 count = 0ll;
            for (Index j = 0; j < W; ++j) {
                count = count + i64(x[i * x_stride_0 + j] > 0.0f);
            }
            float product = 1.0f;
            for (Index j = 0; j < W; ++j) {
                product = product * x[i * x_stride_0 + j];
            }
            some[i] = found;
            every[i] = held;
            how_many[i] = count;
            times[i] = product;
        }
    }
}
