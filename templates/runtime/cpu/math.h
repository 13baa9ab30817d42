// Math functions under CUDA's overloaded names, and what arithmetic.h builds on. Floats are IEEE on both sides;
// + - * / sqrt fma floor ceil trunc rint fmod give the same bits, the others differ by a few units in the last place.
#pragma once

#define LC_MATH_1(name)                                                   \
    LC_INLINE float name(float a) { return __builtin_##name##f(a); }      \
    LC_INLINE double name(double a) { return __builtin_##name(a); }
#define LC_MATH_2(name)                                                              \
    LC_INLINE float name(float a, float b) { return __builtin_##name##f(a, b); }     \
    LC_INLINE double name(double a, double b) { return __builtin_##name(a, b); }

LC_MATH_1(sqrt) LC_MATH_1(exp) LC_MATH_1(exp2) LC_MATH_1(log) LC_MATH_1(log2)
LC_MATH_1(sin) LC_MATH_1(cos) LC_MATH_1(tan) LC_MATH_1(asin) LC_MATH_1(acos) LC_MATH_1(atan)
LC_MATH_1(sinh) LC_MATH_1(cosh) LC_MATH_1(tanh) LC_MATH_1(erf)
LC_MATH_1(floor) LC_MATH_1(ceil) LC_MATH_1(trunc) LC_MATH_1(rint) LC_MATH_1(fabs)
LC_MATH_2(atan2) LC_MATH_2(hypot) LC_MATH_2(pow) LC_MATH_2(fmod) LC_MATH_2(copysign)
LC_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LC_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
LC_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LC_INLINE float rsqrt(float a) { return float(1.0 / __builtin_sqrt(double(a))); }
LC_INLINE double rsqrt(double a) { return 1.0 / __builtin_sqrt(a); }

#define LC_EXTREMES(T)                                          \
    LC_INLINE T min(T a, T b) { return b < a ? b : a; }         \
    LC_INLINE T max(T a, T b) { return a < b ? b : a; }
LC_EXTREMES(int) LC_EXTREMES(unsigned) LC_EXTREMES(long long) LC_EXTREMES(unsigned long long)

namespace lc {

LC_INLINE u32 float_bits(float a) { u32 bits; __builtin_memcpy(&bits, &a, 4); return bits; }
LC_INLINE float bits_float(u32 bits) { float a; __builtin_memcpy(&a, &bits, 4); return a; }
LC_INLINE u64 double_bits(double a) { u64 bits; __builtin_memcpy(&bits, &a, 8); return bits; }
LC_INLINE double bits_double(u64 bits) { double a; __builtin_memcpy(&a, &bits, 8); return a; }

inline float half_value(u16 bits) {
    const u32 exponent = bits >> 10 & 31u, fraction = bits & 1023u, sign = (bits & 0x8000u) << 16;
    if (exponent == 31) return bits_float(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return bits_float(sign | (exponent + 112) << 23 | fraction << 13);
    return bits_float(sign | float_bits(float(fraction) * 0x1p-24f));
}
// To nearest, ties to even; the addition that rounds carries into the exponent as it should.
inline u16 half_bits(float a) {
    const u32 bits = float_bits(a), magnitude = bits & 0x7fffffffu;
    const u16 sign = u16(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return sign | 0x7e00;
    if (magnitude >= 0x47800000u) return sign | 0x7c00;                                  // 65536 and beyond
    if (magnitude < 0x38800000u)                                                         // below 2^-14: steps of 2^-24
        return sign | u16(float_bits(bits_float(magnitude) + 0.5f) - 0x3f000000u);
    return sign | u16((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13);
}
inline u16 brain_bits(float a) {
    const u32 bits = float_bits(a);
    return a != a ? u16(bits >> 16 | 0x40u) : u16((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

LC_INLINE u32 product(u32 a, u32 b) { return a * b; }
LC_INLINE u64 product(u64 a, u64 b) { return a * b; }

// The lesser of two that are no NaNs, -0.0 before +0.0; on equal bits either will do.
template <class T> LC_INLINE T lesser(T a, T b) { return a < b || (a == b && copysign(T(1), a) < T(0)) ? a : b; }
template <class T> LC_INLINE T greater(T a, T b) { return b < a || (a == b && copysign(T(1), b) < T(0)) ? a : b; }

}  // namespace lc

#define LC_FLOAT_EXTREMES(T)                                                                               \
    LC_INLINE T minimum(T a, T b) { return a != a || b != b ? a + b : lc::lesser(a, b); }                  \
    LC_INLINE T maximum(T a, T b) { return a != a || b != b ? a + b : lc::greater(a, b); }                 \
    LC_INLINE T minimum_number(T a, T b) { return a != a ? b : b != b ? a : lc::lesser(a, b); }            \
    LC_INLINE T maximum_number(T a, T b) { return a != a ? b : b != b ? a : lc::greater(a, b); }
LC_FLOAT_EXTREMES(float) LC_FLOAT_EXTREMES(double)
