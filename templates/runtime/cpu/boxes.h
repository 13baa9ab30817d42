// Barriers at which bytes arrive too, and the engine that copies boxes of tensors.
#pragma once

typedef lc::TensorMap TensorMap;

// One barrier of a set, or a place to count from.
struct Barrier {
    lc::BarrierSet* set;
    lc::i64 index;
    LC_INLINE Barrier operator+(lc::i64 by) const { return {set, index + by}; }
};

#define BARRIERS(name, count)                                                          \
    static lc::BarrierSet name##_lc_barriers = {lc::u32(count), 0, #name, __LINE__, 0}; \
    const Barrier name = {&name##_lc_barriers, 0}

LC_INLINE void barrier_begin(const Barrier& barrier, int arrivals, LC_LINE) {
    lc::state->barrier_begin(barrier.set, barrier.index, arrivals, line);
}
LC_INLINE void barrier_arrive(const Barrier& barrier, LC_LINE) {
    lc::state->barrier_arrive(barrier.set, barrier.index, 0, line);
}
LC_INLINE void barrier_expect(const Barrier& barrier, int bytes, LC_LINE) {
    lc::state->barrier_arrive(barrier.set, barrier.index, bytes, line);
}
LC_INLINE void barrier_wait(const Barrier& barrier, int parity, LC_LINE) {
    lc::state->barrier_wait(barrier.set, barrier.index, parity, line);
}

namespace lc {

template <int count, class T> LC_INLINE BoxCopy box_copy(const Barrier& barrier, const TensorMap& from, T* to) {
    return {barrier.set, barrier.index, &from, count, {}, nullptr, 0, reinterpret_cast<u8*>(to)};
}
#ifndef LC_UNCHECKED
template <int count, class T>
LC_INLINE BoxCopy box_copy(const Barrier& barrier, const TensorMap& from, const Shared<T>& to) {
    return {barrier.set, barrier.index, &from, count, {}, to.region, to.at, nullptr};
}
#endif

// The line on which a copy is asked for: whoever takes any number of arguments has no room for a default one.
struct Asked {
    Barrier barrier;
    int line;
    LC_INLINE Asked(const Barrier& barrier, LC_LINE) : barrier(barrier), line(line) {}
};

template <class To, class... At>
LC_INLINE void bring(const To& to, const TensorMap& from, const Asked& asked, At... at) {
    BoxCopy mine = box_copy<sizeof...(At)>(asked.barrier, from, to);
    const i64 numbers[] = {i64(at)...};
    for (u32 k = 0; k < sizeof...(At); ++k) mine.numbers[k] = numbers[k];
    state->copy_box(&mine, asked.line);
}

}  // namespace lc

template <class To, class... At>
LC_INLINE void copy_box(const To& to, const TensorMap& from, const lc::Asked& asked, At... subscripts) {
    lc::bring(to, from, asked, subscripts...);
}
template <class To, class... At>
LC_INLINE void copy_taps(const To& to, const TensorMap& from, const lc::Asked& asked, At... numbers) {
    lc::bring(to, from, asked, numbers...);
}
