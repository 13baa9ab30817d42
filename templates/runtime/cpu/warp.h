// Threads, barriers, what the lanes of a warp do together.
#pragma once

#define threadIdx (lc::state->thread_idx)
#define blockIdx (lc::state->block_idx)
#define blockDim (lc::state->block_dim)
#define gridDim (lc::state->grid_dim)

LC_INLINE void __syncthreads(LC_LINE) { lc::state->barrier(line); }
LC_INLINE void __syncwarp(unsigned mask = 0xffffffffu, LC_LINE) { lc::state->warp_barrier(mask, line); }

namespace lc {

enum { WARP_BARRIER, SHUFFLE, SHUFFLE_XOR, SHUFFLE_DOWN, SHUFFLE_UP, BALLOT, MMA };

LC_INLINE int lane() { return int(state->thread & 31); }

template <class T> struct Exchange {
    T value, result;
    int source;
    bool lost;
};
template <class T> void exchange(void** lane, u32 mask) {
    for (u32 k = 0; k < 32; ++k) {
        if (!(mask >> k & 1)) continue;
        Exchange<T>& mine = *static_cast<Exchange<T>*>(lane[k]);
        mine.lost = !(mask >> mine.source & 1);
        if (!mine.lost) mine.result = static_cast<Exchange<T>*>(lane[mine.source])->value;
    }
}
template <class T> LC_INLINE T shuffle(int kind, u32 mask, T held, int source, int line) {
    Exchange<T> mine = {held, held, source, false};
    state->collective(mask, kind, &mine, exchange<T>, line);
    if (LC_UNLIKELY(mine.lost)) state->fail("shuffle from a lane that does not take part", line);
    return mine.result;
}

struct Vote { u32 bit, result; };
inline void ballot(void** lane, u32 mask) {
    u32 result = 0;
    for (u32 k = 0; k < 32; ++k)
        if (mask >> k & 1) result |= static_cast<Vote*>(lane[k])->bit << k;
    for (u32 k = 0; k < 32; ++k)
        if (mask >> k & 1) static_cast<Vote*>(lane[k])->result = result;
}

}  // namespace lc

template <class V> LC_INLINE auto __shfl_sync(unsigned mask, const V& value, int source, int width = 32, LC_LINE) {
    const int group = lc::lane() & ~(width - 1);
    return lc::shuffle(lc::SHUFFLE, mask, lc::value(value), group | (source & (width - 1)), line);
}
template <class T> LC_INLINE T shuffle(unsigned mask, T value, int source, int width, LC_LINE) {
    return __shfl_sync(mask, value, source, width, line);
}
template <class V> LC_INLINE auto __shfl_xor_sync(unsigned mask, const V& value, int bits, int width = 32, LC_LINE) {
    const int lane = lc::lane();
    const int source = lane ^ bits;
    return lc::shuffle(lc::SHUFFLE_XOR, mask, lc::value(value), source > (lane | (width - 1)) ? lane : source, line);
}
template <class V> LC_INLINE auto __shfl_down_sync(unsigned mask, const V& value, unsigned by, int width = 32, LC_LINE) {
    const int lane = lc::lane();
    const bool past = (lane & (width - 1)) + int(by) >= width;
    return lc::shuffle(lc::SHUFFLE_DOWN, mask, lc::value(value), past ? lane : lane + int(by), line);
}
template <class V> LC_INLINE auto __shfl_up_sync(unsigned mask, const V& value, unsigned by, int width = 32, LC_LINE) {
    const int lane = lc::lane();
    const bool before = (lane & (width - 1)) < int(by);
    return lc::shuffle(lc::SHUFFLE_UP, mask, lc::value(value), before ? lane : lane - int(by), line);
}
LC_INLINE unsigned __ballot_sync(unsigned mask, int predicate, LC_LINE) {
    lc::Vote mine = {predicate != 0, 0};
    lc::state->collective(mask, lc::BALLOT, &mine, lc::ballot, line);
    return mine.result;
}

template <class T, int N> LC_INLINE unsigned word_of(const Pack<T, N>& items) {
    static_assert(sizeof(items) <= 4, "a word is of 4 bytes");
    unsigned word = 0;
    __builtin_memcpy(&word, &items, sizeof(items));
    return word;
}
template <class T> LC_INLINE T part_of(unsigned word, int k) {
    T item;
    word >>= k * 8 * int(sizeof(T));
    __builtin_memcpy(&item, &word, sizeof(T));
    return item;
}

// ---- Asynchronous copies

template <class To, class From> LC_INLINE void copy_async4(const To& to, const From& from, int bytes = 4, LC_LINE) {
    lc::copy_async<4>(to, from, bytes, line);
}
template <class To, class From> LC_INLINE void copy_async8(const To& to, const From& from, int bytes = 8, LC_LINE) {
    lc::copy_async<8>(to, from, bytes, line);
}
template <class To, class From> LC_INLINE void copy_async16(const To& to, const From& from, int bytes = 16, LC_LINE) {
    lc::copy_async<16>(to, from, bytes, line);
}
LC_INLINE void copy_async_commit() { lc::state->copy_commit(); }
template <int groups> LC_INLINE void copy_async_wait() { lc::state->copy_wait(groups); }

// ---- Tensor cores

namespace lc {

struct Fragments {
    float* d;
    const u32* a;
    const u32* b;
    const float* c;
};
LC_INLINE float half_of(u32 pair, int k) { return half_value(u16(pair >> (k % 2 * 16))); }

// PTX's layout of the fragments; the sum is taken in double and rounded once.
inline void mma_16816(void** lane, u32) {
    float a[16][16], b[16][8];
    for (int t = 0; t < 32; ++t) {
        const Fragments& mine = *static_cast<Fragments*>(lane[t]);
        const int group = t / 4, quad = t % 4 * 2;
        for (int k = 0; k < 8; ++k) a[group + k / 2 % 2 * 8][quad + k % 2 + k / 4 * 8] = half_of(mine.a[k / 2], k);
        for (int k = 0; k < 4; ++k) b[quad + k % 2 + k / 2 * 8][group] = half_of(mine.b[k / 2], k);
    }
    for (int t = 0; t < 32; ++t) {
        const Fragments& mine = *static_cast<Fragments*>(lane[t]);
        for (int i = 0; i < 4; ++i) {
            double sum = mine.c[i];
            for (int k = 0; k < 16; ++k) sum += double(a[t / 4 + i / 2 * 8][k]) * b[k][t % 4 * 2 + i % 2];
            mine.d[i] = float(sum);
        }
    }
}

}  // namespace lc

LC_INLINE void mma_m16n8k16_f16(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2], const float (&c)[4],
                                LC_LINE) {
    float result[4];                    // d may be c, which another lane's sum does not read, but its own does
    lc::Fragments mine = {result, a, b, c};
    lc::state->collective(0xffffffffu, lc::MMA, &mine, lc::mma_16816, line);
    for (int i = 0; i < 4; ++i) d[i] = result[i];
}
