// block_exchange: not aligned to its 16 bytes
#include "layoutc.cuh"

DEVICE void b2s(Pack<float, 4>& held) {
    SHARED(float, stage, 512);
    const int thread = threadIdx.x;
    const int chunk = thread ^ (thread >> 3 & 7);
    store(stage + (chunk * 4 ^ 1), held);
    __syncthreads();
    UNROLL
    for (int item = 0; item < 4; ++item) {
        const int position = thread + item * 128;
        const int from = position / 4 ^ (position / 4 >> 3 & 7);
        held[item] = stage[from * 4 + position % 4];
    }
}

KERNEL(128) block_exchange(In<float> v, Out<float> out, int tiles) {
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        Pack<float, 4> held = load<4>(v + (tile * 128 + threadIdx.x) * 4);
        b2s(held);
        store(out + (tile * 128 + threadIdx.x) * 4, held);
        __syncthreads();
    }
}

KERNEL(128) warp_exchange(In<float> v, Out<float> out, int tiles) {
    SHARED(float, stage, 512);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int base = (tile * 128 + warp * 32) * 4;
        Pack<float, 4> held = load<4>(v + (base + lane * 4));
        store(stage + (warp * 128 + (lane ^ (lane >> 3)) * 4), held);
        __syncwarp();
        UNROLL
        for (int item = 0; item < 4; ++item) {
            const int position = lane + item * 32;
            const int from = position / 4 ^ (position / 4 >> 3);
            held[item] = stage[warp * 128 + from * 4 + position % 4];
        }
        __syncwarp();
        store(out + (base + lane * 4), held);
    }
}
