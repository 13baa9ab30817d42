// conv, schedule: default
// b: tile i 4; 4 threads, 1 output each, (4,1):(1,4)
// w: 3 in constant memory
// a: 6 in shared memory; halo i [0, 2]
// shared memory: 24 bytes
#include "layoutc.cuh"

using Index = int;

KERNEL(4) conv(
    In<float> a,
    CONSTANT_PARAM Constant<float, 3> w,
    Out<float> b,
    Index N
) {
    const int thread = threadIdx.x;
    const Index block = blockIdx.x;
    const Index tile_i = block * 4;
    SHARED(float, a_tile, 6);
    for (int at = thread; at < 6; at += 4) {
        const Index a_i = tile_i + at;
        a_tile[at] = a_i < N ? a[a_i] : 0.0f;
    }
    __syncthreads();

    const Index i = tile_i + thread;
    if (i < N) {
        float sum = 0.0f;
        UNROLL
        for (int u = 0; u < 3; ++u) {
            sum = fma(w[u], a_tile[thread + u], sum);
        }
        b[i] = sum;
    }
}
