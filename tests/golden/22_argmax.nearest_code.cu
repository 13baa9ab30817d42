// nearest_code, schedule: chosen by the compiler
// which: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// x: global memory
// code: global memory
#include "layoutc.cuh"

using Index = int;

KERNEL(256) nearest_code(
    In<float> x, Index x_stride_0,
    In<float> code, Index code_stride_0,
    Out<i64> which,
    Index N, Index C, Index M
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 1024;
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int item_i = item * 256 + thread;
        const Index i = tile_i + item_i;
        if (i < N) {
            float best = 0.0f;
            i64 place = 0ll;
            bool none_yet = true;
            for (Index m = 0; m < M; ++m) {
                float sum = 0.0f;
                for (Index c = 0; c < C; ++c) {
                    const float square_of = x[i * x_stride_0 + c] - code[m * code_stride_0 + c];
                    sum = sum + square_of * square_of;
                }
                const float best_here = sum;
                if (none_yet || (best_here < best || is_nan(best_here) && !is_nan(best))) {
                    best = best_here;
                    place = i64(m);
                    none_yet = false;
                }
            }
            which[i] = place;
        }
    }
}
