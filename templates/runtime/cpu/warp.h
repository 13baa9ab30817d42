// Threads, barriers, what the lanes of a warp do together.
#pragma once

#define threadIdx (lc::state->thread_idx)
#define blockIdx (lc::state->block_idx)
#define blockDim (lc::state->block_dim)
#define gridDim (lc::state->grid_dim)

LC_INLINE void __syncthreads(LC_LINE) { lc::state->barrier(line); }
LC_INLINE void __syncwarp(unsigned mask = 0xffffffffu, LC_LINE) { lc::state->warp_barrier(mask, line); }

namespace lc {

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
namespace lc {

template <class T, int N> LC_INLINE Pack<T, N * 4 / int(sizeof(T))> items_of(const Pack<unsigned, N>& words) {
    Pack<T, N * 4 / int(sizeof(T))> items;
    __builtin_memcpy(&items, &words, sizeof(items));
    return items;
}

template <class T, int N> LC_INLINE auto words_of(const Pack<T, N>& items) {
    Pack<unsigned, (N * int(sizeof(T)) + 3) / 4> words = {};
    __builtin_memcpy(&words, &items, sizeof(items));
    return words;
}

}  // namespace lc

template <int N, class T> LC_INLINE auto load_words(const T* from) { return lc::words_of(load<N>(from)); }
template <class T, int N> LC_INLINE void store_words(T* to, const Pack<unsigned, N>& words) {
    store(to, lc::items_of<T>(words));
}
#ifndef LC_UNCHECKED
template <int N, class T> LC_INLINE auto load_words(const Shared<T>& from, LC_LINE) {
    return lc::words_of(load<N>(from, line));
}
template <class T, int N> LC_INLINE void store_words(const Shared<T>& to, const Pack<unsigned, N>& words, LC_LINE) {
    store(to, lc::items_of<T>(words), line);
}
#endif
// Byte k of the result is the one that the k-th digit of the selector names: 0 to 3 of a, 4 to 7 of b.
LC_INLINE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    const lc::u64 both = a | lc::u64(b) << 32;
    unsigned word = 0;
    for (int k = 0; k < 4; ++k) word |= unsigned(both >> (selector >> 4 * k & 7) * 8 & 0xff) << 8 * k;
    return word;
}
template <class T> LC_INLINE unsigned word_at(const T* items) {
    unsigned word;
    __builtin_memcpy(&word, items, 4);
    return word;
}
template <int N, class T, int count> LC_INLINE void put(T* items, const Pack<unsigned, count>& words) {
    static_assert(N * sizeof(T) <= sizeof(words), "words hold the items");
    __builtin_memcpy(items, &words, N * sizeof(T));
}
template <class T> LC_INLINE T part_of(unsigned word, int k) {
    T item;
    word >>= k * 8 * int(sizeof(T));
    __builtin_memcpy(&item, &word, sizeof(T));
    return item;
}

template <int lanes, class T, int N> LC_INLINE void exchange_parts(Pack<T, N>& items, LC_LINE) {
    static_assert(N * sizeof(T) % (4 * lanes) == 0, "parts are of whole words");
    const int part = N / lanes, own = lc::lane() % lanes;
    const Pack<T, N> before = items;
    for (int by = 0; by < lanes; ++by)          // every lane gives what the one so far from it asks for
        for (int k = 0; k < part; ++k)
            items.item[(own ^ by) * part + k] =
                lc::shuffle(lc::SHUFFLE_XOR, 0xffffffffu, before.item[(own ^ by) * part + k], lc::lane() ^ by, line);
}

// ---- Matrices by columns

namespace lc {

// The address of item k in shared memory, in bytes, where each lane names a row.
template <int N, class T> LC_INLINE i64 column_item(Shared<T> row, int k, int line) {
    const int pair = 2 / int(sizeof(T));
    const bool exchanged = sizeof(T) == 1 && N % 8 == 0;
    if (lane() < (exchanged ? N * 2 : N * 4)) check_row(row, line);
    const int naming = exchanged ? k / 4 * 8 + (lane() % 4 / 2 * 2 + k / 2 % 2) * 2 + k % 2
                                 : k / 2 * 8 + lane() % 4 * 2 + k % 2;
    const i64 at = shuffle(COLUMNS, 0xffffffffu, shared_address(row), naming, line);
    return at + (lane() / 4 * pair + lane() % pair) * i64(sizeof(T));
}

}  // namespace lc

template <int N, class T> LC_INLINE auto load_columns(Shared<T> row, LC_LINE) {
    Pack<T, N> items;
    const lc::Place first = lc::first_place(line);
    for (int k = 0; k < N; ++k) {
        items.item[k] = lc::shared_at(row, lc::column_item<N>(row, k, line))[first];
    }
    return lc::words_of(items);
}
template <class T, int N> LC_INLINE void store_columns(Shared<T> row, const Pack<unsigned, N>& words, LC_LINE) {
    const auto items = lc::items_of<T>(words);
    const lc::Place first = lc::first_place(line);
    for (int k = 0; k < 2 * N; ++k) {
        lc::shared_at(row, lc::column_item<2 * N>(row, k, line))[first] = items.item[k];
    }
}

// ---- Matrices by rows

namespace lc {

struct Rows {
    i64 named, read[4];         // in bytes: the row that a lane names, those of which it takes a word
};
inline void rows_of(void** lane, u32) {
    for (int t = 0; t < 32; ++t)
        for (int word = 0; word < 4; ++word)
            static_cast<Rows*>(lane[t])->read[word] = static_cast<Rows*>(lane[word * 8 + t / 4])->named;
}

}  // namespace lc

template <int N, class T> LC_INLINE auto load_rows(Shared<T> row, LC_LINE) {
    const int pair = 4 / int(sizeof(T));            // items of a word
    if (lc::lane() < N / pair * 8) lc::check_row(row, line);
    lc::Rows rows = {lc::shared_address(row), {}};
    lc::state->collective(0xffffffffu, lc::ROWS, &rows, lc::rows_of, line);
    Pack<T, N> items;
    const lc::Place first = lc::first_place(line);
    for (int k = 0; k < N; ++k) {
        const lc::i64 place = (lc::lane() % 4 * pair + k % pair) * lc::i64(sizeof(T));
        items.item[k] = lc::shared_at(row, rows.read[k / pair] + place)[first];
    }
    return lc::words_of(items);
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
template <class To, class From> LC_INLINE void copy_async4_if(bool there, const To& to, const From& from, LC_LINE) {
    lc::copy_async<4>(to, from, there ? 4 : 0, line);
}
template <class To, class From> LC_INLINE void copy_async8_if(bool there, const To& to, const From& from, LC_LINE) {
    lc::copy_async<8>(to, from, there ? 8 : 0, line);
}
template <class To, class From> LC_INLINE void copy_async16_if(bool there, const To& to, const From& from, LC_LINE) {
    lc::copy_async<16>(to, from, there ? 16 : 0, line);
}
LC_INLINE void copy_async_commit() { lc::state->copy_commit(); }
template <int groups> LC_INLINE void copy_async_wait() { lc::state->copy_wait(groups); }

// ---- Tensor cores

namespace lc {

struct Fragments {
    void* sums;
    const u32* a;
    u32 b[2];
};
LC_INLINE double factor_of(float value) { return value; }
LC_INLINE i64 factor_of(int value) { return value; }

// PTX's layout of the fragments; the sum is taken exactly, or in double and rounded once.
template <class A, class B, class S> void mma(void** lane, u32) {
    const int pair = 4 / int(sizeof(A));            // items of a word
    typedef decltype(factor_of(S())) Wide;
    Wide a[16][32], b[32][8];
    for (int t = 0; t < 32; ++t) {
        const Fragments& mine = *static_cast<Fragments*>(lane[t]);
        for (int word = 0; word < 4; ++word)
            for (int k = 0; k < pair; ++k) {
                const int depth = (t % 4 + word / 2 * 4) * pair + k;
                a[t / 4 + word % 2 * 8][depth] = factor_of(S(part_of<A>(mine.a[word], k)));
                if (word < 2) b[(t % 4 + word * 4) * pair + k][t / 4] = factor_of(S(part_of<B>(mine.b[word], k)));
            }
    }
    for (int t = 0; t < 32; ++t) {
        S* sums = static_cast<S*>(static_cast<Fragments*>(lane[t])->sums);
        for (int i = 0; i < 4; ++i) {
            Wide sum = factor_of(sums[i]);
            for (int k = 0; k < 8 * pair; ++k) sum += a[t / 4 + i / 2 * 8][k] * b[k][t % 4 * 2 + i % 2];
            sums[i] = S(sum);
        }
    }
}

}  // namespace lc

template <class A, class B, class S>
LC_INLINE void mma(S* sums, const Pack<unsigned, 4>& a, unsigned b_first, unsigned b_second, LC_LINE) {
    lc::Fragments mine = {sums, a.item, {b_first, b_second}};
    lc::state->collective(0xffffffffu, lc::MMA, &mine, lc::mma<A, B, S>, line);
}
