// Arrays and shared memory whose every access is checked.
#pragma once
#include "cells.h"

namespace lc {

static State* state;

// An index, and the line on which it was written.
struct Place {
    i64 value;
    int line;
    template <class I> LC_INLINE Place(const I& i, LC_LINE) : value(i64(static_cast<const I&&>(i))), line(line) {}
};

constexpr u32 log2_of(u32 n) { return n < 2 ? 0 : 1 + log2_of(n / 2); }

LC_INLINE void outside_values(Place k, int count) {
    if (LC_UNLIKELY(u64(k.value) >= u64(count))) state->fail("index outside the values held", k.line);
}

}  // namespace lc

// ---- Several values

template <class T, int N> struct alignas(lc::alignment(sizeof(T) * N)) Pack {
    T item[N];
    LC_INLINE T& operator[](lc::Place k) { lc::outside_values(k, N); return item[k.value]; }
    LC_INLINE const T& operator[](lc::Place k) const { lc::outside_values(k, N); return item[k.value]; }
};
template <class T, int N> struct Constant {
    T item[N];
    LC_INLINE const T& operator[](lc::Place k) const { lc::outside_values(k, N); return item[k.value]; }
};

// ---- Global memory

namespace lc {

template <class T> LC_INLINE T* element(const ArrayView& a, i64 i) { return static_cast<T*>(a.data) + i; }

template <class T> LC_INLINE ArrayView moved(const ArrayView& a, i64 i) {
    return {static_cast<u8*>(a.data) + i * i64(sizeof(T)), a.low - i, a.high - i, a.owner, a.name, a.shift + i};
}
template <class T, int N> LC_INLINE void check_alignment(const ArrayView& a, int line) {
    if (LC_UNLIKELY(u64(a.data) % alignof(Pack<T, N>) != 0)) state->misaligned(a.name, sizeof(Pack<T, N>), line);
}
LC_CALLED void check_range(const ArrayView& a, i64 i, int count, bool write, int line) {
    state->last_line = u32(line);
    if (LC_UNLIKELY(i < a.low || i + count > a.high)) state->outside_array(&a, i, count, write, line);
}
LC_CALLED void check_read(const ArrayView& a, i64 i, int count, int line) {
    check_range(a, i, count, false, line);
    if (LC_UNLIKELY(a.owner != nullptr))
        for (i64 k = i; k < i + count; ++k)
            if (a.owner[k - a.low] == FORBIDDEN) state->outside_array(&a, k, 1, false, line);
}
LC_CALLED void note_store(const ArrayView& a, i64 i, int line) {
    if (!a.owner) return;
    u32& owner = a.owner[i - a.low];
    if (LC_UNLIKELY(owner != 0 && owner != state->identity)) state->written_twice(&a, i, line);
    owner = state->identity;
}

}  // namespace lc

template <class T> struct In {
    lc::ArrayView view;
    LC_INLINE T operator[](lc::Place i) const {
        lc::check_read(view, i.value, 1, i.line);
        return *lc::element<const T>(view, i.value);
    }
    LC_INLINE In operator+(lc::i64 i) const { return {lc::moved<const T>(view, i)}; }
};

namespace lc {

template <class T> struct OutElement {
    const ArrayView& view;
    i64 i;
    int line;
    LC_INLINE void operator=(T value) const {
        check_range(view, i, 1, true, line);
        note_store(view, i, line);
        *element<T>(view, i) = value;
    }
};

}  // namespace lc

template <class T> struct Out {
    lc::ArrayView view;
    LC_INLINE lc::OutElement<T> operator[](lc::Place i) const { return {view, i.value, i.line}; }
    LC_INLINE Out operator+(lc::i64 i) const { return {lc::moved<T>(view, i)}; }
};

template <int N, class T> LC_INLINE Pack<T, N> load(const In<T>& from, LC_LINE) {
    lc::check_read(from.view, 0, N, line);
    lc::check_alignment<T, N>(from.view, line);
    return *lc::element<const Pack<T, N>>(from.view, 0);
}
template <int N, class T> LC_INLINE Pack<T, N> load_whole(const In<T>& from, LC_LINE) { return load<N>(from, line); }
template <int N, class T> LC_INLINE Pack<T, N> load_or_zero(bool there, const In<T>& from, LC_LINE) {
    return there ? load<N>(from, line) : Pack<T, N>();
}
template <int N, class T> LC_INLINE Pack<T, N> load_here(const In<T>& from, LC_LINE) { return load<N>(from, line); }
template <class T> LC_INLINE void prefetch(const In<T>& from, LC_LINE) { lc::check_read(from.view, 0, 1, line); }
template <class T, int N> LC_INLINE void store(const Out<T>& to, const Pack<T, N>& value, LC_LINE) {
    lc::check_range(to.view, 0, N, true, line);
    lc::check_alignment<T, N>(to.view, line);
    for (int k = 0; k < N; ++k) lc::note_store(to.view, k, line);
    *lc::element<Pack<T, N>>(to.view, 0) = value;
}

// ---- Parts that blocks leave for one of them

namespace lc {

static u64 not_fenced[1024];    // per thread the block in which it has left something since its last fence
static u64 counted;             // the block that was counted last

LC_INLINE u64 this_block() { return state->launch << 32 | state->base; }

template <class T> struct PartElement {
    const ArrayView& view;
    i64 i;
    int line;
    LC_INLINE void operator=(T value) const {
        check_range(view, i, 1, true, line);
        note_store(view, i, line);
        if (LC_UNLIKELY(counted == this_block())) state->fail("a part is left after its block was counted", line);
        not_fenced[state->thread] = this_block();
        *element<T>(view, i) = value;
    }
};

}  // namespace lc

template <class T> struct Parts {
    lc::ArrayView view;
    LC_INLINE Parts(const Out<T>& array) : view(array.view) {}
    LC_INLINE lc::PartElement<T> operator[](lc::Place i) const { return {view, i.value, i.line}; }
    LC_INLINE Parts operator+(lc::i64 i) const { return Out<T>{lc::moved<T>(view, i)}; }
};

LC_INLINE void fence() { lc::not_fenced[lc::state->thread] = 0; }
LC_INLINE bool comes_last(const Out<unsigned>& count, lc::i64 blocks, LC_LINE) {
    lc::check_range(count.view, 0, 1, true, line);
    for (lc::u32 k = 0; k < lc::state->block_dim.x; ++k)
        if (LC_UNLIKELY(lc::not_fenced[k] == lc::this_block()))
            lc::state->fail("a block is counted before all that its threads left is fenced", line);
    if (count.view.owner) count.view.owner[-count.view.low] = lc::state->identity;
    lc::counted = lc::this_block();
    unsigned& now = *lc::element<unsigned>(count.view, 0);
    if (LC_UNLIKELY(now >= lc::u64(blocks))) lc::state->fail("more blocks are counted than there are", line);
    now = now + 1 == lc::u64(blocks) ? 0 : now + 1;
    return now == 0;
}
template <class T> LC_INLINE T fetch(const Parts<T>& from, LC_LINE) {
    lc::check_range(from.view, 0, 1, false, line);
    if (LC_UNLIKELY(from.view.owner && from.view.owner[-from.view.low] == 0))
        lc::state->fail("a part is read that no block has left", line);
    return *lc::element<const T>(from.view, 0);
}

// ---- Shared memory

namespace lc {

template <bool write> LC_CALLED void note_access(Region* region, i64 at, u32 bytes, int line) {      // at: in bytes
    state->last_line = u32(line);
    if (LC_UNLIKELY(at < 0 || at + bytes > region->bytes)) state->outside_region(region, at, bytes, line);
    const u32 first = u32(at) >> region->shift;
    const u32 count = bytes >> region->shift;
    for (u32 k = first; k < first + count; ++k) {
        if (write) note_write(*state, region, region->cells[k], line);
        else note_read(*state, region, region->cells[k], line);
        if (LC_UNLIKELY(region->content != nullptr)) {
            if (write) region->content[k] = region;
            else if (region->content[k] != region) state->stale(region, at, region->content[k], line);
        }
    }
}
template <class T> LC_INLINE T* granules(Region* region, i64 at) { return reinterpret_cast<T*>(region->data + at); }

// An element of shared memory: read where it becomes a T, written where it is assigned to.
template <class T> struct Element {
    Region* region;
    i64 at;
    int line;
    LC_INLINE operator T() const&& {
        note_access<false>(region, at, sizeof(T), line);
        return *granules<const T>(region, at);
    }
    // f16 and bf16 become a float in one step, as they do on a GPU
    template <class U, class Half = T, class = typename HalfType<Half>::type> LC_INLINE explicit operator U() const&& {
        return U(T(static_cast<const Element&&>(*this)));
    }
    LC_INLINE T operator=(T value) const {
        note_access<true>(region, at, sizeof(T), line);
        return *granules<T>(region, at) = value;
    }
    LC_INLINE T operator=(const Element& other) const { return *this = T(static_cast<const Element&&>(other)); }
    LC_INLINE T operator+=(T value) const { return *this = T(T(static_cast<const Element&&>(*this)) + value); }
    void operator&() const = delete;
};

LC_INLINE Region* open_region(Region* region) {
    if (LC_UNLIKELY(region->launch != state->launch)) state->open_region(region);
    return region;
}

}  // namespace lc

template <class T> struct Shared {
    lc::Region* region;
    lc::i64 at;                 // of element 0, in bytes
    LC_INLINE lc::Element<T> operator[](lc::Place i) const {
        return {region, at + i.value * lc::i64(sizeof(T)), i.line};
    }
    LC_INLINE Shared operator+(lc::i64 i) const { return {region, at + i * lc::i64(sizeof(T))}; }
};

#define LC_REGION(T, name, offset, count, is_panel)                                                        \
    static lc::Region name##_lc_region = {lc::u32((count) * sizeof(T)), lc::log2_of(sizeof(T)), #name, __LINE__, \
                                       offset, 0, nullptr, nullptr, nullptr, is_panel};                    \
    const Shared<T> name = {lc::open_region(&name##_lc_region), 0}
#define SHARED(T, name, count) LC_REGION(T, name, -1, count, false)
#define SHARED_AT(T, name, offset, count) LC_REGION(T, name, offset, count, false)
#define PANEL_AT(T, name, offset, count) LC_REGION(T, name, offset, count, true)

template <int N, class T> LC_INLINE Pack<T, N> load(const Shared<T>& from, LC_LINE) {
    if (LC_UNLIKELY(lc::u64(from.at) % alignof(Pack<T, N>) != 0))
        lc::state->misaligned(from.region->name, sizeof(Pack<T, N>), line);
    lc::note_access<false>(from.region, from.at, sizeof(Pack<T, N>), line);
    return *lc::granules<const Pack<T, N>>(from.region, from.at);
}
template <int N, class T> LC_INLINE Pack<T, N> load_line(const Shared<T>& from, LC_LINE) { return load<N>(from, line); }
template <class T, int N> LC_INLINE void store(const Shared<T>& to, const Pack<T, N>& value, LC_LINE) {
    if (LC_UNLIKELY(lc::u64(to.at) % alignof(Pack<T, N>) != 0))
        lc::state->misaligned(to.region->name, sizeof(Pack<T, N>), line);
    lc::note_access<true>(to.region, to.at, sizeof(Pack<T, N>), line);
    *lc::granules<Pack<T, N>>(to.region, to.at) = value;
}
namespace lc {

// Where a place in shared memory is, in bytes, and the place at such an address of the same array.
template <class T> LC_INLINE i64 shared_address(const Shared<T>& place) { return place.at; }
LC_INLINE Place first_place(int line) { return Place(0, line); }
template <class T> LC_INLINE Shared<T> shared_at(const Shared<T>& of, i64 at) { return {of.region, at}; }
template <class T> LC_INLINE void check_row(const Shared<T>& row, int line) {
    if (LC_UNLIKELY(u64(row.at) % 16 != 0)) state->misaligned(row.region->name, 16, line);
}

}  // namespace lc
// A store that may meet others of its kind: their traces are wiped first, its own is marked.
template <class T> LC_INLINE void store_any(const Shared<T>& to, lc::Same<T> value, LC_LINE) {
    for (lc::u32 k = 0; k < sizeof(T) && to.at >= 0 && to.at < to.region->bytes; k += 1u << to.region->shift) {
        lc::Cell& c = to.region->cells[(to.at + k) >> to.region->shift];
        if (c.write_epoch == lc::state->epoch && (c.writer & lc::COLLIDING)) c.writer = lc::u16(lc::state->thread);
    }
    to[lc::Place(0, line)] = value;
    for (lc::u32 k = 0; k < sizeof(T); k += 1u << to.region->shift)
        to.region->cells[(to.at + k) >> to.region->shift].writer |= lc::COLLIDING;
}

namespace lc {

template <int size, class T> LC_INLINE void copy_async(const Shared<T>& to, const In<T>& from, int bytes, int line) {
    if (bytes) check_read(from.view, 0, bytes / int(sizeof(T)), line);
    if (LC_UNLIKELY((u64(to.at) | u64(from.view.data)) % size != 0)) state->misaligned(to.region->name, size, line);
    state->copy_async(to.region, to.at, from.view.data, bytes, size, line);
}

}  // namespace lc
