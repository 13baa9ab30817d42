// Elements of shared memory as arguments of arithmetic.h's templates: each is read first.
#pragma once

namespace lc {

template <class T> struct IsElement { enum { value = 0 }; };
template <class T> struct IsElement<Element<T>> { enum { value = 1 }; };
template <bool holds> struct Where;
template <> struct Where<true> { typedef int yes; };

template <class T> LC_INLINE const T& value(const T& a) { return a; }
template <class T> LC_INLINE T value(const Element<T>& a) { return static_cast<const Element<T>&&>(a); }

}  // namespace lc

#define LC_READS_ELEMENTS(name)                                                                   \
    template <class... A, typename lc::Where<(lc::IsElement<A>::value + ... + 0) != 0>::yes = 0>  \
    LC_INLINE auto name(const A&... a) { return name(lc::value(a)...); }

LC_READS_ELEMENTS(add) LC_READS_ELEMENTS(sub) LC_READS_ELEMENTS(mul) LC_READS_ELEMENTS(neg)
LC_READS_ELEMENTS(mul_add) LC_READS_ELEMENTS(floor_div) LC_READS_ELEMENTS(floor_mod) LC_READS_ELEMENTS(power)
LC_READS_ELEMENTS(minimum) LC_READS_ELEMENTS(maximum) LC_READS_ELEMENTS(minimum_number)
LC_READS_ELEMENTS(maximum_number) LC_READS_ELEMENTS(absolute) LC_READS_ELEMENTS(sign) LC_READS_ELEMENTS(clamp)
LC_READS_ELEMENTS(is_nan) LC_READS_ELEMENTS(is_inf) LC_READS_ELEMENTS(within) LC_READS_ELEMENTS(nearest)
LC_READS_ELEMENTS(reflect) LC_READS_ELEMENTS(mirror) LC_READS_ELEMENTS(wrap)

template <class T, class V> LC_INLINE T convert(const lc::Element<V>& a) { return convert<T>(lc::value(a)); }
