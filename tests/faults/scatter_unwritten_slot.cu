// scatter: which was never written
#include "layoutc.cuh"

KERNEL(64) warp_scan(In<int> x, Out<int> y) {
    SHARED(int, sums, 64);
    const int thread = threadIdx.x;
    const int lane = thread % 32;
    sums[thread] = x[blockIdx.x * 64 + thread];
    __syncwarp();
    for (int step = 1; step < 32; step *= 2) {
        const int before = lane >= step ? sums[thread - step] : 0;
        __syncwarp();
        sums[thread] += before;
        __syncwarp();
    }
    y[blockIdx.x * 64 + thread] = sums[thread];
}

// out[rank[i]] = v[i] within each 128; of several that bring one rank any arrives, and 0 where none does.
KERNEL(128) scatter(In<int> v, In<int> rank, Out<int> out) {
    SHARED(int, slots, 128);
    const int thread = threadIdx.x;
    const int to = rank[blockIdx.x * 128 + thread];
    if (within(to, 128)) {
        store_any(slots + to, v[blockIdx.x * 128 + thread]);
    }
    __syncthreads();
    out[blockIdx.x * 128 + thread] = slots[thread];
}
