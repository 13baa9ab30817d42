// What the numbers of a layoutc kernel mean: the same text, and the same bits, on a GPU and on a host.
//
// The rules are NumPy's, made total: integers wrap modulo 2^n, x // 0 and x % 0 are 0, NaN propagates
// through minimum and maximum, a float becomes an integer by truncation, saturation and NaN -> 0.
// Each layoutc.cuh includes it, after DEVICE, CUDA's math functions (floor, fmod, …) and the conversions of
// bits. What is in namespace lc is of no use outside.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct f16;
struct bf16;

// ---- Traits ------------------------------------------------------------------------------------------------

namespace lc {

template <class T> struct WholeType;                  // defined for the integer types only
template <> struct WholeType<bool> { using Computed = int; };
template <> struct WholeType<char> { using Computed = int; };
template <> struct WholeType<i8> { using Computed = int; };
template <> struct WholeType<u8> { using Computed = int; };
template <> struct WholeType<i16> { using Computed = int; };
template <> struct WholeType<u16> { using Computed = int; };
template <> struct WholeType<int> { using Computed = int; };
template <> struct WholeType<unsigned> { using Computed = unsigned; };
template <> struct WholeType<long> { using Computed = i64; };
template <> struct WholeType<unsigned long> { using Computed = u64; };
template <> struct WholeType<i64> { using Computed = i64; };
template <> struct WholeType<u64> { using Computed = u64; };

// The type in which C++ computes with an A and a B, if both are integers.
template <class A, class B = A>
using Whole = decltype(typename WholeType<A>::Computed() + typename WholeType<B>::Computed());

template <class T> struct UnsignedOf;
template <> struct UnsignedOf<int> { using type = unsigned; };
template <> struct UnsignedOf<unsigned> { using type = unsigned; };
template <> struct UnsignedOf<i64> { using type = u64; };
template <> struct UnsignedOf<u64> { using type = u64; };
template <class T> using Unsigned = typename UnsignedOf<T>::type;

template <class T> struct HalfType;                   // defined for f16 and bf16 only
template <> struct HalfType<f16> { using type = f16; };
template <> struct HalfType<bf16> { using type = bf16; };
template <class T> using Half = typename HalfType<T>::type;

template <class T> struct SameType { using type = T; };
template <class T> using Same = typename SameType<T>::type;      // not deduced from the argument

// What N bytes of registers are aligned to: the largest power of two in N, at most the 16 of one access.
DEVICE constexpr unsigned alignment(unsigned bytes) {
    return (bytes & (0u - bytes)) < 16u ? bytes & (0u - bytes) : 16u;
}

template <class T> DEVICE bool below_zero(T a) {
    if constexpr (T(-1) < T(0)) return a < T(0);
    return false;
}
template <class T> DEVICE T least() { return T(-1) < T(0) ? T(T(1) << (sizeof(T) * 8 - 1)) : T(0); }
template <class T> DEVICE T greatest() { return T(~least<T>()); }

}  // namespace lc

// ---- Integers wrap modulo 2^n: they are computed in the unsigned type, where C++ defines it --------------------

template <class A, class B> DEVICE lc::Whole<A, B> add(A a, B b) {
    using T = lc::Whole<A, B>;
    using U = lc::Unsigned<T>;
    return T(U(T(a)) + U(T(b)));
}
template <class A, class B> DEVICE lc::Whole<A, B> sub(A a, B b) {
    using T = lc::Whole<A, B>;
    using U = lc::Unsigned<T>;
    return T(U(T(a)) - U(T(b)));
}
template <class A, class B> DEVICE lc::Whole<A, B> mul(A a, B b) {
    using T = lc::Whole<A, B>;
    using U = lc::Unsigned<T>;
    return T(lc::product(U(T(a)), U(T(b))));
}
template <class A, class B, class C> DEVICE lc::Whole<lc::Whole<A, B>, C> mul_add(A a, B b, C c) {
    return add(mul(a, b), c);
}
template <class A> DEVICE lc::Whole<A> neg(A a) { return sub(lc::Whole<A>(0), a); }

// Division rounds down; x // 0 = 0, x % 0 = 0, least // -1 = least. The remainder has the divisor's sign.
template <class A, class B> DEVICE lc::Whole<A, B> floor_div(A a, B b) {
    using T = lc::Whole<A, B>;
    const T x = T(a);
    const T y = T(b);
    if (y == T(0)) return T(0);
    if (T(-1) < T(0) && y == T(-1)) return neg(x);
    const T quotient = x / y;
    return x % y != T(0) && lc::below_zero(x) != lc::below_zero(y) ? quotient - T(1) : quotient;
}
template <class A, class B> DEVICE lc::Whole<A, B> floor_mod(A a, B b) {
    using T = lc::Whole<A, B>;
    const T x = T(a);
    const T y = T(b);
    if (y == T(0) || (T(-1) < T(0) && y == T(-1))) return T(0);
    const T remainder = x % y;
    return remainder != T(0) && lc::below_zero(remainder) != lc::below_zero(y) ? remainder + y : remainder;
}

// a to the power of n by squaring; n below 0 (which the language refuses where it can see it) counts as 0.
template <class A, class N> DEVICE lc::Whole<A, lc::Whole<N>> power(A a, N n) {
    using T = lc::Whole<A, lc::Whole<N>>;
    T square = T(a);
    T result = T(1);
    for (T left = lc::below_zero(n) ? T(0) : T(n); left != T(0); left /= T(2)) {
        if (left % T(2) != T(0)) result = mul(result, square);
        square = mul(square, square);
    }
    return result;
}

template <class A, class B> DEVICE lc::Whole<A, B> minimum(A a, B b) {
    using T = lc::Whole<A, B>;
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B> DEVICE lc::Whole<A, B> maximum(A a, B b) {
    using T = lc::Whole<A, B>;
    return T(a) < T(b) ? T(b) : T(a);
}
template <class A, class B> DEVICE lc::Whole<A, B> minimum_number(A a, B b) { return minimum(a, b); }
template <class A, class B> DEVICE lc::Whole<A, B> maximum_number(A a, B b) { return maximum(a, b); }
template <class A> DEVICE lc::Whole<A> absolute(A a) { return lc::below_zero(a) ? neg(a) : lc::Whole<A>(a); }
template <class A> DEVICE lc::Whole<A> sign(A a) { return lc::Whole<A>(A(0) < a) - lc::Whole<A>(lc::below_zero(a)); }

// Which of the `count` positions from `least` on a rank of any integer type names, from 0; -1 if none.
template <class R> DEVICE int place_of(R rank, i64 least, int count) {
    const i64 last = least + (count - 1);
    if constexpr (R(-1) < R(0)) {
        if (rank < least || rank > last) return -1;
    } else {
        const u64 place = rank;
        if (last < 0 || place > static_cast<u64>(last)) return -1;
        if (least > 0 && place < static_cast<u64>(least)) return -1;
    }
    return static_cast<int>(static_cast<u64>(rank) - static_cast<u64>(least));
}

// ---- Where a read outside 0..n-1 lands, at any distance, for n >= 1 ------------------------------------------

template <class I, class N> DEVICE bool within(I i, N n) {
    using T = lc::Whole<I, N>;
    return T(i) >= T(0) && T(i) < T(n);     // no unsigned comparison: ptxas 13.0 loses one after a signed one
}
// a a a | a b c d | d d d
template <class I, class N> DEVICE lc::Whole<I, N> nearest(I i, N n) {
    using T = lc::Whole<I, N>;
    return maximum(minimum(T(i), T(n) - T(1)), T(0));
}
namespace lc {
// i as a place from 0 to length - 1 and whether it lies in an odd repetition; length above 0. One division and no
// branch: NVVM never ends on some branches around divisions.
template <class T> struct Repetition { T place; bool odd; };
template <class T> DEVICE Repetition<T> repetition(T i, T length) {
    const T remainder = i % length;
    const bool below = below_zero(remainder);
    return {remainder + (below ? length : T(0)), (i / length % T(2) != T(0)) != below};
}
}  // namespace lc

// c b a | a b c d | d c b: every other repetition of the n runs backwards
template <class I, class N> DEVICE lc::Whole<I, N> reflect(I i, N n) {
    using T = lc::Whole<I, N>;
    if (within(i, n)) return T(i);
    const T once = T(i) < T(0) ? T(-1) - T(i) : T(n) - T(1) - (T(i) - T(n));     // within one period: no division
    if (within(once, n)) return once;
    const auto at = lc::repetition(T(i), T(n));
    return at.odd ? T(n) - T(1) - at.place : at.place;
}
// d c b | a b c d | c b a: every other repetition of n - 1 places runs backwards
template <class I, class N> DEVICE lc::Whole<I, N> mirror(I i, N n) {
    using T = lc::Whole<I, N>;
    if (within(i, n)) return T(i);
    const T last = T(n) - T(1);
    const T once = T(i) < T(0) ? neg(T(i)) : last - (T(i) - last);
    if (within(once, n)) return once;
    const auto at = lc::repetition(T(i), last + T(last == T(0)));
    return at.odd ? last - at.place : at.place;
}
// b c d | a b c d | a b c
template <class I, class N> DEVICE lc::Whole<I, N> wrap(I i, N n) {
    using T = lc::Whole<I, N>;
    if (within(i, n)) return T(i);
    const T once = T(i) < T(0) ? T(i) + T(n) : T(i) - T(n);
    return within(once, n) ? once : lc::repetition(T(i), T(n)).place;
}

// ---- f16 and bf16 hold numbers; arithmetic on them is done in float ------------------------------------------

namespace lc {

// A double as a float that rounds to a narrower type as the double itself would: cut off, the last bit set
// if anything was cut ("round to odd"; Boldo and Melquiond, 2008).
DEVICE float to_odd(double a) {
    const float nearest_float = float(a);
    const double back = double(nearest_float);
    const u32 bits = float_bits(nearest_float);
    if (back == a || a != a || (bits & 1u)) return nearest_float;
    if ((bits & 0x7f800000u) == 0x7f800000u) return bits_float(bits - 1u);      // beyond every finite float
    const bool outward = a < 0.0 ? back < a : a < back;
    return bits_float(outward ? bits - 1u : bits + 1u);
}

// A 64-bit integer as such a double: the lowest bit of those that fit stands for all below it.
template <class T> DEVICE double double_to_odd(T a) {
    const T beyond = T(0x7ff);
    return a & beyond && (a >> 52 != T(0) && a >> 52 != T(-1)) ? double(T((a & T(~beyond)) | T(0x800))) : double(a);
}

}  // namespace lc

struct f16 {
    u16 bits;
    f16() = default;
    DEVICE explicit f16(float a) : bits(lc::half_bits(a)) {}
    DEVICE explicit f16(double a) : bits(lc::half_bits(lc::to_odd(a))) {}
    DEVICE explicit operator float() const { return lc::half_value(bits); }
    DEVICE explicit operator double() const { return double(lc::half_value(bits)); }
};
struct bf16 {
    u16 bits;
    bf16() = default;
    DEVICE explicit bf16(float a) : bits(lc::brain_bits(a)) {}
    DEVICE explicit bf16(double a) : bits(lc::brain_bits(lc::to_odd(a))) {}
    DEVICE explicit operator float() const { return lc::bits_float(u32(bits) << 16); }
    DEVICE explicit operator double() const { return double(float(*this)); }
};

// ---- Floats -------------------------------------------------------------------------------------------------

// minimum, maximum: NaN if either is NaN; minimum_number, maximum_number: NaN only if both are. -0.0 < +0.0.
// These four are in each layoutc.cuh, for float and double.

template <class T> DEVICE T infinity();
template <> DEVICE float infinity<float>() { return lc::bits_float(0x7f800000u); }
template <> DEVICE double infinity<double>() { return double(infinity<float>()); }
template <> DEVICE f16 infinity<f16>() { return f16(infinity<float>()); }
template <> DEVICE bf16 infinity<bf16>() { return bf16(infinity<float>()); }

template <class T> DEVICE T not_a_number();
template <> DEVICE float not_a_number<float>() { return lc::bits_float(0x7fc00000u); }
template <> DEVICE double not_a_number<double>() { return double(not_a_number<float>()); }
template <> DEVICE f16 not_a_number<f16>() { return f16(not_a_number<float>()); }
template <> DEVICE bf16 not_a_number<bf16>() { return bf16(not_a_number<float>()); }

DEVICE bool is_nan(float a) { return a != a; }
DEVICE bool is_nan(double a) { return a != a; }
DEVICE bool is_inf(float a) { return fabs(a) == infinity<float>(); }
DEVICE bool is_inf(double a) { return fabs(a) == infinity<double>(); }

DEVICE float mul_add(float a, float b, float c) { return fma(a, b, c); }       // rounded once
DEVICE double mul_add(double a, double b, double c) { return fma(a, b, c); }
DEVICE float absolute(float a) { return fabs(a); }
DEVICE double absolute(double a) { return fabs(a); }

namespace lc {

template <class T> DEVICE T sign_of(T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : a == T(0) ? T(0) : a; }

// NumPy's floor_divide and remainder (npy_divmod), which agree with each other wherever both are finite.
template <class T> DEVICE T divide_down(T a, T b, T& remainder) {
    remainder = fmod(a, b);
    if (b == T(0)) return a / b;
    T quotient = (a - remainder) / b;
    if (remainder == T(0)) {
        remainder = copysign(T(0), b);
    } else if ((b < T(0)) != (remainder < T(0))) {
        remainder += b;
        quotient -= T(1);
    }
    if (quotient == T(0)) return copysign(T(0), a / b);
    const T down = floor(quotient);
    return quotient - down > T(0.5) ? down + T(1) : down;
}

}  // namespace lc

DEVICE float sign(float a) { return lc::sign_of(a); }
DEVICE double sign(double a) { return lc::sign_of(a); }
DEVICE float floor_div(float a, float b) { float remainder; return lc::divide_down(a, b, remainder); }
DEVICE double floor_div(double a, double b) { double remainder; return lc::divide_down(a, b, remainder); }
DEVICE float floor_mod(float a, float b) { float remainder; lc::divide_down(a, b, remainder); return remainder; }
DEVICE double floor_mod(double a, double b) { double remainder; lc::divide_down(a, b, remainder); return remainder; }

// Choosing one of two halves is exact in float.
template <class T> DEVICE lc::Half<T> minimum(T a, T b) { return T(minimum(float(a), float(b))); }
template <class T> DEVICE lc::Half<T> maximum(T a, T b) { return T(maximum(float(a), float(b))); }
template <class T> DEVICE lc::Half<T> minimum_number(T a, T b) { return T(minimum_number(float(a), float(b))); }
template <class T> DEVICE lc::Half<T> maximum_number(T a, T b) { return T(maximum_number(float(a), float(b))); }

// ---- Both kinds ---------------------------------------------------------------------------------------------

template <class X, class L, class H> DEVICE auto clamp(X x, L low, H high) -> decltype(minimum(maximum(x, low), high)) {
    return minimum(maximum(x, low), high);
}
// Afterwards a holds the lesser and b the greater: a step of a sorting network. A NaN ends up in both.
template <class T> DEVICE void order(T& a, T& b) {
    const T lesser = T(minimum(a, b));
    b = T(maximum(a, b));
    a = lesser;
}

// ---- order_key(v): an unsigned integer of v's size that compares as v does, -0.0 before +0.0; from_key<T> is its inverse.

DEVICE unsigned order_key(unsigned a) { return a; }
DEVICE unsigned order_key(int a) { return unsigned(a) ^ 0x80000000u; }
DEVICE u64 order_key(u64 a) { return a; }
DEVICE u64 order_key(i64 a) { return u64(a) ^ u64(1) << 63; }
DEVICE unsigned order_key(float a) {
    const unsigned bits = lc::float_bits(a);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
DEVICE u64 order_key(double a) {
    const u64 bits = lc::double_bits(a);
    return bits >> 63 ? ~bits : bits | u64(1) << 63;
}

template <class T> DEVICE T from_key(u64 key);
template <> DEVICE unsigned from_key<unsigned>(u64 key) { return unsigned(key); }
template <> DEVICE int from_key<int>(u64 key) { return int(unsigned(key) ^ 0x80000000u); }
template <> DEVICE u64 from_key<u64>(u64 key) { return key; }
template <> DEVICE i64 from_key<i64>(u64 key) { return i64(key ^ u64(1) << 63); }
template <> DEVICE float from_key<float>(u64 key) {
    const unsigned bits = unsigned(key);
    return lc::bits_float(bits >> 31 ? bits & 0x7fffffffu : ~bits);
}
template <> DEVICE double from_key<double>(u64 key) { return lc::bits_double(key >> 63 ? key & ~(u64(1) << 63) : ~key); }

// argmin and argmax: whether the value at a place comes before the best so far. A NaN comes before any number, of
// equal values the one at the lesser place. Nothing yet: the identity of min or max at the greatest place.
template <class T> DEVICE bool first_least(lc::Same<T> value, i64 place, T best, i64 best_place) {
    const bool sooner = place < best_place;
    return value < best || (value == best && sooner) || (value != value && (best == best || sooner));
}
template <class T> DEVICE bool first_greatest(lc::Same<T> value, i64 place, T best, i64 best_place) {
    const bool sooner = place < best_place;
    return best < value || (value == best && sooner) || (value != value && (best == best || sooner));
}

// sum + value, where `lost` is what rounding added too much before and adds too much now (W. Kahan, 1965). However
// many terms: the error is some units in the last place of the sum of their sizes.
template <class T> DEVICE T add_compensated(T sum, lc::Same<T> value, T& lost) {
    const T term = value - lost;
    const T total = sum + term;
    const T over = (total - sum) - term;
    lost = over - over == T(0) ? over : T(0);       // an infinite total loses nothing
    return total;
}

// ---- convert<T>(v): any type to any other -------------------------------------------------------------------

namespace lc {

// Integers: from integers modulo 2^n; from floats cut off, the ends where out of range, NaN to 0.
template <class T> struct To {
    template <class F> static DEVICE T whole(F a) {
        const F end = F(u64(1) << (sizeof(T) * 8 - 1)) * (T(-1) < T(0) ? F(1) : F(2));      // greatest + 1
        return a != a ? T(0) : a >= end ? greatest<T>() : a <= F(least<T>()) ? least<T>() : T(a);
    }
    template <class V> static DEVICE T from(V a) { return T(a); }
    static DEVICE T from(float a) { return whole(a); }
    static DEVICE T from(double a) { return whole(a); }
    static DEVICE T from(f16 a) { return whole(float(a)); }
    static DEVICE T from(bf16 a) { return whole(float(a)); }
};
template <> struct To<bool> {
    template <class V> static DEVICE bool from(V a) { return a != V(0); }      // NaN is not 0
    static DEVICE bool from(f16 a) { return float(a) != 0.0f; }
    static DEVICE bool from(bf16 a) { return float(a) != 0.0f; }
};
template <> struct To<float> {
    template <class V> static DEVICE float from(V a) { return float(a); }
};
template <> struct To<double> {
    template <class V> static DEVICE double from(V a) { return double(a); }
};
template <> struct To<f16> {                    // every integer beyond float's 24 bits is an infinite f16
    template <class V> static DEVICE f16 from(V a) { return f16(float(a)); }
    static DEVICE f16 from(double a) { return f16(a); }
    static DEVICE f16 from(f16 a) { return a; }
};
template <> struct To<bf16> {
    template <class V> static DEVICE bf16 from(V a) { return bf16(double(a)); }
    static DEVICE bf16 from(i64 a) { return bf16(double_to_odd(a)); }
    static DEVICE bf16 from(u64 a) { return bf16(double_to_odd(a)); }
    static DEVICE bf16 from(float a) { return bf16(a); }
    static DEVICE bf16 from(bf16 a) { return a; }
};

}  // namespace lc

template <class T, class V> DEVICE T convert(V value) { return lc::To<T>::from(value); }
