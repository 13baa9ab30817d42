// add_rows: a block is counted before all that its threads left is fenced
#include "layoutc.cuh"

KERNEL(64) add_rows(In<int> x, Out<int> s, Parts<int> part, Out<unsigned> arrived, int blocks) {
    SHARED(bool, is_last, 1);
    const int thread = threadIdx.x;
    part[blockIdx.x * 64 + thread] = x[blockIdx.x * 64 + thread];
    __syncthreads();
    if (thread == 0) {
        is_last[0] = comes_last(arrived, blocks);
    }
    __syncthreads();
    if (is_last[0]) {
        int sum = 0;
        for (int block = 0; block < blocks; ++block) {
            sum += fetch(part + (block * 64 + thread));
        }
        s[thread] = sum;
    }
}
