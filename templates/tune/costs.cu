// What the parts of a redistribution cost: loops of one kind of instruction, to be timed on a GPU that they fill.
#include "layoutc.cuh"

// 32 selects a round, by two tests that vary from lane to lane.
KERNEL(256) selects(int* out, int rounds) {
    int a[8];
    UNROLL
    for (int i = 0; i < 8; ++i) a[i] = out[i * 256 + threadIdx.x];
    NO_UNROLL
    for (int r = 0; r < rounds; ++r) {
        const int test = threadIdx.x ^ r;
        UNROLL
        for (int k = 0; k < 4; ++k) {
            int b[8];
            UNROLL
            for (int i = 0; i < 8; ++i) b[i] = (k & 1 ? test & 1 : test & 2) ? a[i] : a[(i + 1 + k) & 7];
            UNROLL
            for (int i = 0; i < 8; ++i) a[i] = b[i];
        }
    }
    UNROLL
    for (int i = 0; i < 8; ++i) out[i * 256 + threadIdx.x] = a[i];
}

// 32 shuffles of 32 bits a round.
KERNEL(256) shuffles(int* out, int rounds) {
    int a[8];
    UNROLL
    for (int i = 0; i < 8; ++i) a[i] = out[i * 256 + threadIdx.x];
    const int source = (threadIdx.x * 5 + 1) % 32;
    NO_UNROLL
    for (int r = 0; r < rounds; ++r) {
        UNROLL
        for (int k = 0; k < 4; ++k) {
            UNROLL
            for (int i = 0; i < 8; ++i) a[i] = __shfl_sync(0xffffffffu, a[i], source);
        }
    }
    UNROLL
    for (int i = 0; i < 8; ++i) out[i * 256 + threadIdx.x] = a[i];
}

DEVICE void meet(int kind) {
    if (kind == 1) __syncwarp();
    if (kind == 2) __syncthreads();
}

// Each round 16 bytes to shared memory by one access and back by four: 8 wavefronts a warp, two barriers of a kind.
template <int kind> DEVICE void exchange(int* out, int rounds) {
    __shared__ __align__(16) int buffer[1024];
    const unsigned thread = threadIdx.x;
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
    const unsigned to = base + thread * 16, from = base + (thread / 32 * 128 + thread % 32) * 4;
    int a[4];
    UNROLL
    for (int i = 0; i < 4; ++i) a[i] = out[i * 256 + threadIdx.x];
    for (int r = 0; r < rounds; ++r) {
        meet(kind);
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};"
                     :: "r"(to), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]) : "memory");
        meet(kind);
        UNROLL
        for (int i = 0; i < 4; ++i) {
            asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a[i]) : "r"(from + i * 128) : "memory");
        }
    }
    UNROLL
    for (int i = 0; i < 4; ++i) out[i * 256 + threadIdx.x] = a[i];
}

KERNEL(256) exchanges(int* out, int rounds) { exchange<0>(out, rounds); }
KERNEL(256) exchanges_of_warps(int* out, int rounds) { exchange<1>(out, rounds); }
KERNEL(256) exchanges_of_blocks(int* out, int rounds) { exchange<2>(out, rounds); }
