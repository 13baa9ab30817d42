// The vocabulary of layoutc's kernels on a GPU. cpu/layoutc.cuh gives the same names on a host.
//
// Needs nothing but arithmetic.h; compile with --fmad=false, so that every fused multiply-add is a written one.
#pragma once

// Threads of a block, and how many blocks' registers one multiprocessor must have room for, if that is said.
#define KERNEL(...)                  \
    extern "C" __global__ void       \
    LAYOUTC_BOUNDS(__VA_ARGS__, LAYOUTC_RESIDENT, LAYOUTC_THREADS, )(__VA_ARGS__)
#define LAYOUTC_BOUNDS(first, second, name, ...) name
#define LAYOUTC_THREADS(threads) __launch_bounds__(threads)
#define LAYOUTC_RESIDENT(threads, blocks) __launch_bounds__(threads, lc::resident(threads, blocks))
#define DEVICE __device__ __forceinline__
#define CONSTANT_PARAM const __grid_constant__

#define LAYOUTC_PRAGMA(text) _Pragma(#text)
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(times) LAYOUTC_PRAGMA(unroll times)
#define NO_UNROLL _Pragma("unroll 1")

// ---- What arithmetic.h builds on ----------------------------------------------------------------------------

namespace lc {

// Blocks of so many threads, no more than a multiprocessor has at once.
DEVICE constexpr int resident(int threads, int blocks) {
#if __CUDA_ARCH__ == 750
    const int most = 1024;
#elif __CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900
    const int most = 1536;
#else
    const int most = 2048;
#endif
    return blocks * threads > most ? most / threads : blocks;
}

DEVICE unsigned float_bits(float a) { return __float_as_uint(a); }
DEVICE float bits_float(unsigned a) { return __uint_as_float(a); }
DEVICE unsigned long long double_bits(double a) { return static_cast<unsigned long long>(__double_as_longlong(a)); }
DEVICE double bits_double(unsigned long long a) { return __longlong_as_double(static_cast<long long>(a)); }
DEVICE unsigned short half_bits(float a) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(a));
    return bits;
}
DEVICE float half_value(unsigned short bits) {
    float a;
    asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(bits));
    return a;
}
DEVICE unsigned short brain_bits(float a) {
#if __CUDA_ARCH__ >= 800
    unsigned short bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(a));
    return bits;
#else
    const unsigned bits = float_bits(a);
    return a != a ? 0x7fff : static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
#endif
}

// Written as the instruction: of a sum of products of bytes NVVM (CUDA 12.9 and 13.0) makes dp2a at times, and then
// takes two bytes of a word without extending their signs.
DEVICE unsigned product(unsigned a, unsigned b) {
    unsigned low;
    asm("mul.lo.u32 %0, %1, %2;" : "=r"(low) : "r"(a), "r"(b));
    return low;
}
DEVICE unsigned long long product(unsigned long long a, unsigned long long b) { return a * b; }

}  // namespace lc

#if __CUDA_ARCH__ >= 800
DEVICE float minimum(float a, float b) {
    float least;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
    return least;
}
DEVICE float maximum(float a, float b) {
    float most;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(most) : "f"(a), "f"(b));
    return most;
}
#else
DEVICE float minimum(float a, float b) { return a != a || b != b ? a + b : fminf(a, b); }
DEVICE float maximum(float a, float b) { return a != a || b != b ? a + b : fmaxf(a, b); }
#endif
DEVICE double minimum(double a, double b) { return a != a || b != b ? a + b : fmin(a, b); }
DEVICE double maximum(double a, double b) { return a != a || b != b ? a + b : fmax(a, b); }
DEVICE float minimum_number(float a, float b) { return fminf(a, b); }
DEVICE float maximum_number(float a, float b) { return fmaxf(a, b); }
DEVICE double minimum_number(double a, double b) { return fmin(a, b); }
DEVICE double maximum_number(double a, double b) { return fmax(a, b); }

#include "arithmetic.h"

// ---- Memory -------------------------------------------------------------------------------------------------

template <class T> using In = const T* __restrict__;
template <class T> using Out = T* __restrict__;
template <class T> using Parts = T*;                    // what blocks leave for one of them
template <class T> using Shared = T*;                   // a parameter that points into shared memory

#define SHARED(T, name, count) __shared__ __align__(16) T name[count]
// A region of the launch's dynamic shared memory; offset in bytes. Regions may reuse each other's bytes; a box is copied
// to a multiple of 128.
#define SHARED_AT(T, name, offset, count)                     \
    extern __shared__ __align__(128) unsigned char lc_memory[]; \
    T* const name = reinterpret_cast<T*>(lc_memory + (offset))
// The same of whole lines of 128 bytes whose 16-byte vectors change places by the line's number, swizzle(3, 0, 3): what
// warpgroups multiply from. Offsets are multiples of 1024.
#define PANEL_AT(T, name, offset, count)                        \
    extern __shared__ __align__(1024) unsigned char lc_panels[]; \
    T* const name = reinterpret_cast<T*>(lc_panels + (offset))

// N values held by a thread; up to 16 aligned bytes of them move by one access.
template <class T, int N> struct alignas(lc::alignment(sizeof(T) * N)) Pack {
    T item[N];
    DEVICE T& operator[](int k) { return item[k]; }
    DEVICE const T& operator[](int k) const { return item[k]; }
};
template <int N, class T> DEVICE Pack<T, N> load(const T* from) {
    return *reinterpret_cast<const Pack<T, N>*>(from);
}
// The same, sent where it is written: what is read turns later stays on its way as long.
template <int N, class T> DEVICE Pack<T, N> load_here(const T* from) {
    Pack<T, N> value;
    if constexpr (sizeof(value) == 16) {
        uint4 bits;
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w) : "l"(from));
        memcpy(&value, &bits, sizeof(value));
    } else if constexpr (sizeof(value) == 8) {
        uint2 bits;
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(bits.x), "=r"(bits.y) : "l"(from));
        memcpy(&value, &bits, sizeof(value));
    } else if constexpr (sizeof(value) == 4) {
        unsigned bits;
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(bits) : "l"(from));
        memcpy(&value, &bits, sizeof(value));
    } else {
        value = load<N>(from);
    }
    return value;
}
// The same of an input where it is there, else zeros: whole words are chosen, before they are taken apart.
template <int N, class T> DEVICE Pack<T, N> load_or_zero(bool there, const T* from) {
    Pack<T, N> value;
    if constexpr (sizeof(value) == 16) {
        uint4 bits = make_uint4(0, 0, 0, 0);
        if (there) bits = __ldg(reinterpret_cast<const uint4*>(from));
        memcpy(&value, &bits, sizeof(value));
    } else if constexpr (sizeof(value) == 8) {
        uint2 bits = make_uint2(0, 0);
        if (there) bits = __ldg(reinterpret_cast<const uint2*>(from));
        memcpy(&value, &bits, sizeof(value));
    } else {
        value = there ? load<N>(from) : Pack<T, N>();
    }
    return value;
}
// 16 bytes of an input, never split nor moved out of a loop: what fills a long loop's registers stays in it.
template <int N, class T> DEVICE Pack<T, N> load_whole(const T* from) {
    static_assert(sizeof(T) * N == 16, "a whole access is of 16 bytes");
    const uint4 bits = __ldg(reinterpret_cast<const uint4*>(from));
    Pack<T, N> value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
// 16 bytes of shared memory, read where it is written: what a loop reads at every turn does not fill its registers.
template <int N, class T> DEVICE Pack<T, N> load_line(const T* from) {
    static_assert(sizeof(T) * N == 16, "a whole access is of 16 bytes");
    uint4 bits;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(from))));
    Pack<T, N> value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}
// Asks for what is read later: it sets out for the second cache.
template <class T> DEVICE void prefetch(const T* from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }
template <class T, int N> DEVICE void store(T* to, const Pack<T, N>& value) {
    *reinterpret_cast<Pack<T, N>*>(to) = value;
}

// Blocks leave parts, and the one that comes last joins them. fence(): what the thread has left is there for all;
// comes_last, of one thread a block: as many blocks are counted, and the count begins anew; fetch reads what others left.
DEVICE void fence() { __threadfence(); }
DEVICE bool comes_last(unsigned* count, unsigned blocks) {
    const bool last = atomicInc(count, blocks - 1) == blocks - 1;
    __threadfence();
    return last;
}
template <class T> DEVICE T fetch(const T* from) { return *static_cast<const volatile T*>(from); }

// A small array passed by value: every launch has its own.
template <class T, int N> struct Constant {
    T item[N];
    DEVICE const T& operator[](int k) const { return item[k]; }
};

// Copies 4, 8 or 16 bytes to shared memory in the background; of them the first `bytes` are read, the rest
// become 0. Below sm_80 the copy is made at once.
namespace lc {
template <int size, class T> DEVICE void copy_async(T* shared, const T* global, int bytes) {
#if __CUDA_ARCH__ >= 800
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if (size == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(size), "r"(bytes)
                     : "memory");
    }
#else
    constexpr int count = size / int(sizeof(T));
    Pack<T, count> value;
    UNROLL
    for (int k = 0; k < count; ++k) {
        value[k] = k * int(sizeof(T)) < bytes ? global[k] : T();
    }
    store(shared, value);
#endif
}
}  // namespace lc
template <class T> DEVICE void copy_async4(T* to, const T* from, int bytes = 4) { lc::copy_async<4>(to, from, bytes); }
template <class T> DEVICE void copy_async8(T* to, const T* from, int bytes = 8) { lc::copy_async<8>(to, from, bytes); }
template <class T> DEVICE void copy_async16(T* to, const T* from, int bytes = 16) {
    lc::copy_async<16>(to, from, bytes);
}
// The same of 4, 8 or 16 bytes that are there, or else become 0.
namespace lc {
template <int size, class T> DEVICE void copy_async_if(bool there, T* shared, const T* global) {
#if __CUDA_ARCH__ >= 800
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if (size == 16) {
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %2, 0; cp.async.cg.shared.global [%0], [%1], 16, p; }"
                     ::"r"(to), "l"(global), "r"(unsigned(there)) : "memory");
    } else {
        asm volatile("{ .reg .pred p; setp.eq.u32 p, %3, 0; cp.async.ca.shared.global [%0], [%1], %2, p; }"
                     ::"r"(to), "l"(global), "n"(size), "r"(unsigned(there)) : "memory");
    }
#else
    copy_async<size>(shared, global, there ? size : 0);
#endif
}
}  // namespace lc
template <class T> DEVICE void copy_async4_if(bool there, T* to, const T* from) { lc::copy_async_if<4>(there, to, from); }
template <class T> DEVICE void copy_async8_if(bool there, T* to, const T* from) { lc::copy_async_if<8>(there, to, from); }
template <class T> DEVICE void copy_async16_if(bool there, T* to, const T* from) {
    lc::copy_async_if<16>(there, to, from);
}
// Closes a group of this thread's copies.
DEVICE void copy_async_commit() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits for all but this thread's newest `groups` groups.
template <int groups> DEVICE void copy_async_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

// Where several threads may store to one element between two barriers, and any of the values may stay.
template <class T> DEVICE void store_any(T* to, lc::Same<T> value) { *to = value; }

// ---- Boxes --------------------------------------------------------------------------------------------------

// Barriers in shared memory at which threads arrive, and bytes of copies. A phase is over when as many threads have
// arrived as were said and all bytes that they told of are there; phases are told apart by their parity, from 0 on.
struct Barrier {
    unsigned long long state;
};
#define BARRIERS(name, count) __shared__ Barrier name[count]

// A tensor as the engine that copies boxes of it knows it; made by the host, passed by value.
struct alignas(64) TensorMap {
    unsigned long long words[16];
};

namespace lc {
DEVICE unsigned shared_at(const void* place) { return static_cast<unsigned>(__cvta_generic_to_shared(place)); }
}  // namespace lc

// Before a barrier is used: one thread says how many arrive in a phase, then the block meets.
DEVICE void barrier_begin(Barrier* barrier, int arrivals) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(lc::shared_at(barrier)), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
    __trap();
#endif
}
DEVICE void barrier_arrive(Barrier* barrier) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(lc::shared_at(barrier)) : "memory");
#endif
}
// Arrives, and tells of bytes that copies will bring in this phase.
DEVICE void barrier_expect(Barrier* barrier, int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(lc::shared_at(barrier)), "r"(bytes)
                 : "memory");
#endif
}
// Until the phase of this parity is over: at once where the phase now is of the other one.
DEVICE void barrier_wait(Barrier* barrier, int parity) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n.reg .pred over;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@!over bra again;\n}"
        ::"r"(lc::shared_at(barrier)), "r"(parity) : "memory");
#endif
}

// Brings the box of a tensor that begins at these subscripts, the last at whole 16 bytes; outside the tensor is 0.
template <class T, class... At> DEVICE void copy_box(T* to, const TensorMap& from, Barrier* barrier, At... subscripts) {
#if __CUDA_ARCH__ >= 900
    constexpr int rank = sizeof...(At);
    static_assert(2 <= rank && rank <= 5, "a box has two to five axes");
    const int at[] = {int(subscripts)...};
    const unsigned place = lc::shared_at(to), full = lc::shared_at(barrier);
    if constexpr (rank == 2) {
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4}], [%2];"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[1]), "r"(at[0]) : "memory");
    } else if constexpr (rank == 3) {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5}], [%2];"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[2]), "r"(at[1]), "r"(at[0]) : "memory");
    } else if constexpr (rank == 4) {
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5, %6}], [%2];"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]) : "memory");
    } else {
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5, %6, %7}], [%2];"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0])
                     : "memory");
    }
#endif
}
// Brings what stands at one tap of windows side by side, line after line and image after image: `numbers` are the
// subscripts of the first window's first tap, then along each axis of a window how far from it the tap is.
template <class T, class... At> DEVICE void copy_taps(T* to, const TensorMap& from, Barrier* barrier, At... numbers) {
#if __CUDA_ARCH__ >= 900
    constexpr int axes = (int(sizeof...(At)) - 2) / 2;       // of a window
    static_assert(1 <= axes && axes <= 3 && sizeof...(At) == 2 + 2 * axes, "a window has one to three axes");
    const int at[] = {int(numbers)...};
    const unsigned place = lc::shared_at(to), full = lc::shared_at(barrier);
    const auto by = [&](int axis) { return static_cast<unsigned short>(at[axes + 2 + axis]); };
    if constexpr (axes == 1) {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5}], [%2], {%6};"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[2]), "r"(at[1]), "r"(at[0]), "h"(by(0)) : "memory");
    } else if constexpr (axes == 2) {
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8};"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
                       "h"(by(1)), "h"(by(0)) : "memory");
    } else {
        asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10};"
                     ::"r"(place), "l"(&from), "r"(full), "r"(at[4]), "r"(at[3]), "r"(at[2]), "r"(at[1]), "r"(at[0]),
                       "h"(by(2)), "h"(by(1)), "h"(by(0)) : "memory");
    }
#endif
}

// ---- Warps --------------------------------------------------------------------------------------------------

// The value that lane `source` of each `width` lanes holds; of any type of 1, 2, 4 or 8 bytes.
template <class T> DEVICE T shuffle(unsigned mask, T value, int source, int width) {
    if constexpr (sizeof(T) == 8) {
        unsigned long long bits;
        memcpy(&bits, &value, sizeof(T));
        bits = __shfl_sync(mask, bits, source, width);
        memcpy(&value, &bits, sizeof(T));
    } else {
        unsigned bits = 0;
        memcpy(&bits, &value, sizeof(T));
        bits = __shfl_sync(mask, bits, source, width);
        memcpy(&value, &bits, sizeof(T));
    }
    return value;
}
// Small items side by side in 32 bits, the first in the low ones.
template <class T, int N> DEVICE unsigned word_of(const Pack<T, N>& items) {
    static_assert(sizeof(items) <= 4, "a word is of 4 bytes");
    unsigned word = 0;
    if constexpr (sizeof(T) == 2) {
        unsigned short halves[N];
        memcpy(halves, &items, sizeof(items));
        word = N == 2 ? halves[0] | static_cast<unsigned>(halves[N - 1]) << 16 : halves[0];
    } else {
        memcpy(&word, &items, sizeof(items));
    }
    return word;
}
template <class T, int N> DEVICE void store_words(T* to, const Pack<unsigned, N>& words) {
    *reinterpret_cast<Pack<unsigned, N>*>(to) = words;
}
// The word of items that lie side by side in a thread's array.
template <class T> DEVICE unsigned word_at(const T* items) {
    unsigned word;
    memcpy(&word, items, 4);
    return word;
}
template <int N, class T> DEVICE auto load_words(const T* from) {
    return *reinterpret_cast<const Pack<unsigned, N * int(sizeof(T)) / 4>*>(from);
}
// N items of a pack, or of words, into a thread's array: word by word.
template <int N, int first = 0, class T, class P, int count> DEVICE void put(T* items, const Pack<P, count>& pack) {
    constexpr int left = N * int(sizeof(T)) - first, bytes = left < 4 ? left : 4;
    unsigned word;
    memcpy(&word, &pack.item[first / int(sizeof(P))], bytes);
    memcpy(items + first / int(sizeof(T)), &word, bytes);
    if constexpr (left > 4) put<N, first + 4>(items, pack);
}
template <class T> DEVICE T part_of(unsigned word, int k) {
    T item;
    word >>= k * 8 * int(sizeof(T));
    memcpy(&item, &word, sizeof(T));
    return item;
}

// The items of each lane fall into as many parts as `lanes` lanes side by side: part k of lane l and part l of lane k
// change places. Parts are of whole words.
template <int lanes, class T, int N> DEVICE void exchange_parts(Pack<T, N>& items) {
    constexpr int count = N * int(sizeof(T)) / 4, part = count / lanes;
    unsigned words[count];
    memcpy(words, &items, sizeof(items));
    UNROLL
    for (int bit = 1; bit < lanes; bit *= 2) {
        const bool second = threadIdx.x & bit;
        UNROLL
        for (int k = 0; k < count; ++k) {
            if (k / part & bit) continue;
            unsigned &near = words[k], &far = words[k + part * bit];
            const unsigned came = __shfl_xor_sync(0xffffffffu, second ? near : far, bit);
            (second ? near : far) = came;
        }
    }
    memcpy(&items, words, sizeof(items));
}

// Matrices of 8 x 8 elements of 16 bits in shared memory, by a whole warp. Lane l names row l % 8 of matrix l / 8, 16
// aligned bytes, and has column l / 4 of rows l % 4 * 2 and the next of each matrix: two items, one word. Items of 8 bits
// are loaded only, two of them an element: its first is an even lane's, its second the next lane's. Of eight or more
// items a lane, even and odd lanes name the rows of one half each and exchange; of fewer, both name the same rows.
namespace lc {
// Of the bytes of two words every second one is this lane's, the others the next lane's.
template <class T> DEVICE void exchange_bytes(unsigned first, unsigned second, T* items) {
    const bool odd = threadIdx.x % 2;
    const unsigned sent = __byte_perm(first, second, odd ? 0x6420 : 0x7531);
    const unsigned came = __shfl_xor_sync(0xffffffffu, sent, 1);
    first = __byte_perm(first, came, odd ? 0x3154 : 0x5420);
    second = __byte_perm(second, came, odd ? 0x3176 : 0x7620);
    memcpy(items, &first, 4);
    memcpy(items + 4, &second, 4);
}
}  // namespace lc
template <int N, class T> DEVICE auto load_columns(const T* row) {
    constexpr bool exchanged = sizeof(T) == 1 && N % 8 == 0;
    constexpr int count = exchanged ? N / 4 : N / 2;
    Pack<unsigned, count> words;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (count == 4) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(at) : "memory");
    } else if constexpr (count == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1]) : "r"(at) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(words[0]) : "r"(at) : "memory");
    }
    if constexpr (sizeof(T) == 2) {
        return words;
    } else {
        Pack<T, N> items;
        if constexpr (exchanged) {
            lc::exchange_bytes(words[0], words[1], &items.item[0]);
            if constexpr (count == 4) lc::exchange_bytes(words[2], words[3], &items.item[8]);
        } else {
            const unsigned own = __byte_perm(words[0], words[count - 1], threadIdx.x % 2 ? 0x7531 : 0x6420);
            memcpy(&items, &own, N);
        }
        return items;
    }
}
template <class T, int N> DEVICE void store_columns(T* row, const Pack<unsigned, N>& words) {
    static_assert(sizeof(T) == 2, "items are of 16 bits");
#if __CUDA_ARCH__ >= 900
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (N == 4) {
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0, %1, %2, %3};"
                     :: "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(at) : "memory");
    } else if constexpr (N == 2) {
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%2], {%0, %1};"
                     :: "r"(words[0]), "r"(words[1]), "r"(at) : "memory");
    } else {
        asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%1], {%0};" :: "r"(words[0]), "r"(at) : "memory");
    }
#else
    UNROLL
    for (int k = 0; k < 2 * N; ++k) {
        const int naming = k / 2 * 8 + threadIdx.x % 4 * 2 + k % 2;
        const auto at = __shfl_sync(0xffffffffu, reinterpret_cast<unsigned long long>(row), naming);
        memcpy(reinterpret_cast<T*>(at) + threadIdx.x % 32 / 4, reinterpret_cast<const T*>(&words) + k, sizeof(T));
    }
#endif
}

// Words of those matrices as they lie: lane l has items l % 4 * (4 / size) and the next of row l / 4 of each.
template <int N, class T> DEVICE auto load_rows(const T* row) {
    constexpr int count = N * int(sizeof(T)) / 4;
    Pack<unsigned, count> words;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (count == 4) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3]) : "r"(at) : "memory");
    } else if constexpr (count == 2) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                     : "=r"(words[0]), "=r"(words[1]) : "r"(at) : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(words[0]) : "r"(at) : "memory");
    }
    return words;
}

// ---- Tensor cores -------------------------------------------------------------------------------------------

// sums += a * b by a warp, all in the fragments of PTX's mma.sync: 16 x 16 times 16 x 8 of f16 or of bf16 into float,
// 16 x 32 times 32 x 8 of i8 or u8 into int, modulo 2^32. Below sm_80 by shuffles, in the order of the products.
namespace lc {
DEVICE float multiplied_and_added(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE int multiplied_and_added(int a, int b, int c) { return int(unsigned(a) * unsigned(b) + unsigned(c)); }

template <class A, class B, class S>
DEVICE void mma_by_shuffles(S* sums, const Pack<unsigned, 4>& a, unsigned b_first, unsigned b_second) {
    const int lane = threadIdx.x % 32;
    UNROLL
    for (int k = 0; k < 8; ++k) {
        const int row = lane / 4 * 4 + k % 4, column = lane % 4 * 8 + k % 4;
        const unsigned b = k < 4 ? b_first : b_second;
        const unsigned factors[4] = {
            __shfl_sync(0xffffffffu, a[k / 4 * 2], row), __shfl_sync(0xffffffffu, a[k / 4 * 2 + 1], row),
            __shfl_sync(0xffffffffu, b, column), __shfl_sync(0xffffffffu, b, column + 4)};
        UNROLL
        for (int item = 0; item < 4 / int(sizeof(A)); ++item) {
            UNROLL
            for (int n = 0; n < 4; ++n) {
                sums[n] = multiplied_and_added(
                    S(part_of<A>(factors[n / 2], item)), S(part_of<B>(factors[2 + n % 2], item)), sums[n]);
            }
        }
    }
}
}  // namespace lc

template <class A, class B, class S>
DEVICE void mma(S* sums, const Pack<unsigned, 4>& a, unsigned b_first, unsigned b_second);
#if __CUDA_ARCH__ >= 800
#define LAYOUTC_MMA(A, B, S, constraint, form)                                                                    \
    template <> DEVICE void mma<A, B, S>(S * sums, const Pack<unsigned, 4>& a, unsigned b_first, unsigned b_second) { \
        asm("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
            : "+" constraint(sums[0]), "+" constraint(sums[1]), "+" constraint(sums[2]), "+" constraint(sums[3])     \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b_first), "r"(b_second));                             \
    }
#else
#define LAYOUTC_MMA(A, B, S, constraint, form)                                                                    \
    template <> DEVICE void mma<A, B, S>(S * sums, const Pack<unsigned, 4>& a, unsigned b_first, unsigned b_second) { \
        lc::mma_by_shuffles<A, B>(sums, a, b_first, b_second);                                                       \
    }
#endif
LAYOUTC_MMA(f16, f16, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
LAYOUTC_MMA(bf16, bf16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
LAYOUTC_MMA(i8, i8, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")
LAYOUTC_MMA(i8, u8, int, "r", "m16n8k32.row.col.s32.s8.u8.s32")
LAYOUTC_MMA(u8, i8, int, "r", "m16n8k32.row.col.s32.u8.s8.s32")
LAYOUTC_MMA(u8, u8, int, "r", "m16n8k32.row.col.s32.u8.u8.s32")

// ---- Warpgroups ---------------------------------------------------------------------------------------------

// sums += a * b by four warps side by side, in the background: 64 lines of one panel times N lines of another, 32 bytes
// of each. `a` and `b` point to those bytes of their first lines, as if no vector had changed its place. Warp w has rows
// 16 * w and on, a lane of them what mma.sync's fragments of 16 x 8 give it, one after another. On sm_90a by wgmma; else
// at once, by each thread, in the order of the products.
namespace lc {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// PTX's matrix descriptor: lines of 128 bytes, groups of eight 1024 bytes apart, vectors swizzled among 128 bytes.
DEVICE unsigned long long matrix_at(const void* panel) {
    const unsigned at = shared_at(panel);
    return (at & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
template <int N, class A, class B, class S> DEVICE void wgmma(S* sums, unsigned long long a, unsigned long long b);
#define LAYOUTC_NAMES_0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LAYOUTC_NAMES_1 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LAYOUTC_NAMES_2 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LAYOUTC_NAMES_3 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LAYOUTC_SUMS_8(c, k)                                                                                 \
    "+" c(sums[k]), "+" c(sums[k + 1]), "+" c(sums[k + 2]), "+" c(sums[k + 3]), "+" c(sums[k + 4]), "+" c(sums[k + 5]), \
        "+" c(sums[k + 6]), "+" c(sums[k + 7])
#define LAYOUTC_SUMS_32(c, k) \
    LAYOUTC_SUMS_8(c, k), LAYOUTC_SUMS_8(c, k + 8), LAYOUTC_SUMS_8(c, k + 16), LAYOUTC_SUMS_8(c, k + 24)
#define LAYOUTC_SUMS_64(c, k) LAYOUTC_SUMS_32(c, k), LAYOUTC_SUMS_32(c, k + 32)
#define LAYOUTC_WGMMA(N, A, B, S, form, names, ends, ...)                                                          \
    template <> DEVICE void wgmma<N, A, B, S>(S * sums, unsigned long long a, unsigned long long b) {              \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N form " {" names "}, " ends ";" : __VA_ARGS__ : "l"(a), "l"(b)); \
    }
#define LAYOUTC_WGMMAS(A, B, S, c, form, last)                                                                     \
    LAYOUTC_WGMMA(64, A, B, S, form, LAYOUTC_NAMES_0, "%32, %33, " last, LAYOUTC_SUMS_32(c, 0))                    \
    LAYOUTC_WGMMA(128, A, B, S, form, LAYOUTC_NAMES_0 ", " LAYOUTC_NAMES_1, "%64, %65, " last, LAYOUTC_SUMS_64(c, 0)) \
    LAYOUTC_WGMMA(256, A, B, S, form,                                                                              \
                  LAYOUTC_NAMES_0 ", " LAYOUTC_NAMES_1 ", " LAYOUTC_NAMES_2 ", " LAYOUTC_NAMES_3,                  \
                  "%128, %129, " last, LAYOUTC_SUMS_64(c, 0), LAYOUTC_SUMS_64(c, 64))
LAYOUTC_WGMMAS(f16, f16, float, "f", "k16.f32.f16.f16", "1, 1, 1, 0, 0")
LAYOUTC_WGMMAS(bf16, bf16, float, "f", "k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
LAYOUTC_WGMMAS(i8, i8, int, "r", "k32.s32.s8.s8", "1")
LAYOUTC_WGMMAS(i8, u8, int, "r", "k32.s32.s8.u8", "1")
LAYOUTC_WGMMAS(u8, i8, int, "r", "k32.s32.u8.s8", "1")
LAYOUTC_WGMMAS(u8, u8, int, "r", "k32.s32.u8.u8", "1")
// The compiler moves nothing that makes or reads a sum past this.
DEVICE void settle(float& sum) { asm volatile("" : "+f"(sum)::"memory"); }
DEVICE void settle(int& sum) { asm volatile("" : "+r"(sum)::"memory"); }
#else
// Item k of a line's 32 bytes.
template <class T> DEVICE T item_at(const T* panel, int line, int k) {
    const unsigned long long at = reinterpret_cast<unsigned long long>(panel + k), vector = at / 16 % 8;
    return *reinterpret_cast<const T*>(at - vector * 16 + line * 128 + (vector ^ line % 8) * 16);
}
#endif
}  // namespace lc

template <int N, class S, class A, class B> DEVICE void wgmma(S* sums, const A* a, const B* b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    lc::wgmma<N, A, B, S>(sums, lc::matrix_at(a), lc::matrix_at(b));
#else
    NO_UNROLL
    for (int n = 0; n < N / 2; ++n) {
        const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4 + n / 2 % 2 * 8;
        const int column = n / 4 * 8 + threadIdx.x % 4 * 2 + n % 2;
        NO_UNROLL
        for (int k = 0; k < 32 / int(sizeof(A)); ++k) {
            sums[n] = lc::multiplied_and_added(S(lc::item_at(a, row, k)), S(lc::item_at(b, column, k)), sums[n]);
        }
    }
#endif
}
// Before a group of them: what was done to the sums is done.
template <int count, class S> DEVICE void wgmma_begin(S* sums) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    UNROLL
    for (int n = 0; n < count; ++n) lc::settle(sums[n]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
// Closes a group of them.
DEVICE void wgmma_commit() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
// Waits for all but the newest `groups` groups: their panels may be filled again.
template <int groups> DEVICE void wgmma_wait() {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
#endif
}
// Waits for all of them: the sums are there.
template <int count, class S> DEVICE void wgmma_end(S* sums) {
    wgmma_wait<0>();
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    UNROLL
    for (int n = 0; n < count; ++n) lc::settle(sums[n]);
#endif
}
// After the next barrier wgmma sees what copies that this thread has waited for brought.
DEVICE void copy_async_show() {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}
