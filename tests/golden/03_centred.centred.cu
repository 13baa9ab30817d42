// centred, schedule: chosen by the compiler
// y: tile i 1024; 256 threads, 4 outputs each, (256,4):(1,256)
// f: global memory
// x: global memory; halo i [1, 1]
#include "layoutc.cuh"

using Index = int;

KERNEL(256) centred(
    In<float> x,
    In<float> f,
    Out<float> y,
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
            float sum = 0.0f;
            UNROLL
            for (int u = -1; u < 2; ++u) {
                sum = fma(f[u + 1], within(i + u, N) ? x[i + u] : 0.0f, sum);
            }
            y[i] = sum;
        }
    }
}
