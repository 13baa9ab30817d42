// Products by warpgroups: asked for, committed and waited for as on a GPU, and made when they are waited for.
#pragma once

namespace lc {

// Item k of a line's 32 bytes in a panel: the 16-byte vectors of a line change places by its number.
template <class T> LC_INLINE T item_at(const u8* panel, u32 line, u32 k) {
    const u64 at = reinterpret_cast<u64>(panel) + k * sizeof(T), vector = at / 16 % 8;
    T item;
    __builtin_memcpy(&item, reinterpret_cast<const u8*>(at - vector * 16 + line * 128 + (vector ^ line % 8) * 16), sizeof(T));
    return item;
}

// A warp's 16 rows times all columns; the sum is taken exactly, or in double and rounded once.
template <class A, class B, class S> void multiply(void** sums, const u8* rows, const u8* columns, u32 count, u32 warp) {
    const u32 depth = 32 / sizeof(A);
    typedef decltype(factor_of(S())) Wide;
    static Wide a[16][depth], b[256][depth];        // a thread has little stack, and one runs at a time
    for (u32 k = 0; k < depth; ++k) {
        for (u32 i = 0; i < 16; ++i) a[i][k] = factor_of(S(item_at<A>(rows, warp * 16 + i, k)));
        for (u32 j = 0; j < count * 2; ++j) b[j][k] = factor_of(S(item_at<B>(columns, j, k)));
    }
    for (u32 t = 0; t < 32; ++t) {
        for (u32 n = 0; n < count; ++n) {
            S& sum = static_cast<S*>(sums[t])[n];
            const u32 i = t / 4 + n / 2 % 2 * 8, j = n / 4 * 8 + t % 4 * 2 + n % 2;
            Wide wide = factor_of(sum);
            for (u32 k = 0; k < depth; ++k) wide += a[i][k] * b[j][k];
            sum = S(wide);
        }
    }
}

}  // namespace lc

#ifdef LC_UNCHECKED
namespace lc {

template <class A, class B, class S> struct AtOnce {
    S* sums;
    const u8 *rows, *columns;
    u32 count;
    static void make(void** lane, u32) {
        void* sums[32];
        for (u32 t = 0; t < 32; ++t) sums[t] = static_cast<AtOnce*>(lane[t])->sums;
        const AtOnce& first = *static_cast<AtOnce*>(lane[0]);
        multiply<A, B, S>(sums, first.rows, first.columns, first.count, state->warp % 4);
    }
};

}  // namespace lc

template <int N, class S, class A, class B> LC_INLINE void wgmma(S* sums, const A* a, const B* b, LC_LINE) {
    lc::AtOnce<A, B, S> mine = {sums, reinterpret_cast<const lc::u8*>(a), reinterpret_cast<const lc::u8*>(b), N / 2};
    lc::state->collective(0xffffffffu, lc::WGMMA, &mine, lc::AtOnce<A, B, S>::make, line);
}
template <int count, class S> LC_INLINE void wgmma_begin(S*) {}
LC_INLINE void wgmma_commit() {}
template <int groups> LC_INLINE void wgmma_wait() {}
template <int count, class S> LC_INLINE void wgmma_end(S*) {}
LC_INLINE void copy_async_show() {}
#else
template <int N, class S, class A, class B>
LC_INLINE void wgmma(S* sums, const Shared<A>& a, const Shared<B>& b, LC_LINE) {
    lc::PanelProduct mine = {sums, N / 2, {a.region, b.region}, {a.at, b.at}, lc::multiply<A, B, S>};
    lc::state->wgmma(&mine, line);
}
template <int count, class S> LC_INLINE void wgmma_begin(S*, LC_LINE) { lc::state->wgmma_begin(line); }
LC_INLINE void wgmma_commit(LC_LINE) { lc::state->wgmma_commit(line); }
template <int groups> LC_INLINE void wgmma_wait(LC_LINE) { lc::state->wgmma_wait(groups, line); }
template <int count, class S> LC_INLINE void wgmma_end(S*, LC_LINE) { lc::state->wgmma_wait(0, line); }
LC_INLINE void copy_async_show() { lc::state->copy_show(); }
#endif
