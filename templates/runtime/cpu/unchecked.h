// Arrays and shared memory as on the GPU, unchecked: plain pointers. Blocks run one after another, so a
// static array is a block's shared memory.
#pragma once

namespace lc {

static State* state;

typedef int Place;

}  // namespace lc

template <class T> using In = const T*;
template <class T> using Out = T*;
template <class T> using Parts = T*;
template <class T> using Shared = T*;

#define SHARED(T, name, count) /* of bytes, which no constructor has to reach first */ \
    alignas(16) static unsigned char name##_lc_bytes[(count) * sizeof(T)]; \
    T* const name = reinterpret_cast<T*>(name##_lc_bytes)
#define SHARED_AT(T, name, offset, count) T* const name = reinterpret_cast<T*>(lc::state->memory + (offset))
#define PANEL_AT(T, name, offset, count) SHARED_AT(T, name, offset, count)

template <class T, int N> struct alignas(lc::alignment(sizeof(T) * N)) Pack {
    T item[N];
    LC_INLINE T& operator[](int k) { return item[k]; }
    LC_INLINE const T& operator[](int k) const { return item[k]; }
};
template <class T, int N> struct Constant {
    T item[N];
    LC_INLINE const T& operator[](int k) const { return item[k]; }
};
template <int N, class T> LC_INLINE Pack<T, N> load(const T* from) {
    return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <int N, class T> LC_INLINE Pack<T, N> load_whole(const T* from) { return load<N>(from); }
template <int N, class T> LC_INLINE Pack<T, N> load_or_zero(bool there, const T* from) {
    return there ? load<N>(from) : Pack<T, N>();
}
template <class T> LC_INLINE void prefetch(const T*) {}
template <int N, class T> LC_INLINE Pack<T, N> load_line(const T* from) { return load<N>(from); }
template <int N, class T> LC_INLINE Pack<T, N> load_here(const T* from) { return load<N>(from); }
template <class T, int N> LC_INLINE void store(T* to, const Pack<T, N>& value) {
    *reinterpret_cast<Pack<T, N>*>(to) = value;
}
LC_INLINE void fence() {}
LC_INLINE bool comes_last(unsigned* count, unsigned blocks) { return (*count = (*count + 1) % blocks) == 0; }
template <class T> LC_INLINE T fetch(const T* from) { return *from; }
template <class T> LC_INLINE void store_any(T* to, lc::Same<T> value) { *to = value; }

namespace lc {

template <class T> struct Element;      // there is none: elements are references

LC_INLINE Place first_place(int) { return 0; }
template <class T> LC_INLINE i64 shared_address(T* place) { return reinterpret_cast<i64>(place); }
template <class T> LC_INLINE T* shared_at(T*, i64 at) { return reinterpret_cast<T*>(at); }
template <class T> LC_INLINE void check_row(T*, int) {}

template <int size, class T> LC_INLINE void copy_async(T* to, const T* from, int bytes, int) {
    __builtin_memcpy(to, from, u64(bytes));
    __builtin_memset(reinterpret_cast<char*>(to) + bytes, 0, u64(size - bytes));
}

}  // namespace lc
