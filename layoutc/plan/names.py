"""Names on their way into the text: kept where possible, changed where C++, CUDA or the runtime owns them."""

from __future__ import annotations

import re
from collections.abc import Set


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CPP = _words("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq
""")

CUDA = _words("""
threadIdx blockIdx blockDim gridDim warpSize dim3 half half2 nv_bfloat16 linux unix NULL INFINITY NAN main std
char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 ushort2 ushort3 ushort4
int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 long2 long3 long4 ulong1 ulong2 ulong3 ulong4 longlong1
longlong2 longlong3 longlong4 ulonglong1 ulonglong2 ulonglong3 ulonglong4 float1 float2 float3 float4 double1
double2 double3 double4 uint ulong ushort size_t ptrdiff_t wchar_t clock_t clock clock64 printf malloc free
memcpy memset abs labs llabs assert cudaError_t tex1D tex2D tex3D surf1Dread min max umin umax isnan isinf
signbit isfinite acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf cbrt cbrtf
ceil ceilf copysign copysignf cos cosf cosh coshf cospi cospif erf erfc erfcf erfcinv erfcinvf erfcx erfcxf erff
erfinv erfinvf exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf fdividef floor floorf fma
fmaf fmax fmaxf fmin fminf fmod fmodf frexp frexpf hypot hypotf ilogb ilogbf j0 j0f j1 j1f jn jnf ldexp ldexpf
lgamma lgammaf llrint llrintf llround llroundf log log10 log10f log1p log1pf log2 log2f logb logbf logf lrint
lrintf lround lroundf modf modff nan nanf nearbyint nearbyintf nextafter nextafterf norm norm3d norm4d normcdf
normcdff normcdfinv pow powf powi powif rcbrt rcbrtf remainder remainderf remquo remquof rhypot rhypotf rint
rintf rnorm round roundf rsqrt rsqrtf scalbln scalbn scalbnf sin sincos sincosf sincospi sincospif sinf sinh
sinhf sinpi sinpif sqrt sqrtf tan tanf tanh tanhf tgamma tgammaf trunc truncf y0 y0f y1 y1f yn ynf div ldiv
lldiv rand srand exit abort atoi atof qsort time signal index rindex select read write open close gamma drem
significand finite va_list va_arg va_start va_end va_copy CUuuid libraryPropertyType MAJOR_VERSION MINOR_VERSION
PATCH_LEVEL
""")

RUNTIME = _words("""
lc KERNEL DEVICE SHARED SHARED_AT PANEL_AT UNROLL UNROLL_BY NO_UNROLL CONSTANT_PARAM In Out Parts Shared Pack
Constant Index fence comes_last fetch load load_whole load_here load_line load_or_zero store store_any shuffle word_of
part_of exchange_parts place_of copy_async4 copy_async8 copy_async16 copy_async_commit copy_async_wait prefetch
copy_async4_if copy_async8_if copy_async16_if mma load_rows load_columns wgmma wgmma_begin wgmma_commit wgmma_wait
wgmma_end copy_async_show Barrier BARRIERS barrier_begin barrier_arrive barrier_expect barrier_wait TensorMap copy_box
copy_taps i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 add sub mul neg mul_add floor_div floor_mod power
minimum maximum minimum_number maximum_number clamp absolute sign is_nan is_inf order convert infinity
not_a_number within nearest reflect mirror wrap first_least first_greatest add_compensated
""")

OURS = _words("thread item block interior")      # every kernel has them, under these names

# What C++ keeps for itself, the runtime's macros and exports, and hundreds of names that NVRTC declares unasked.
OWNED = re.compile(r"_|LC_|LAYOUTC_|layoutc_|cuda[A-Z]|CUDA|CU_|NV_")


class Names:
    """The names of one text. The spec's own come first and keep their spelling; derived ones step aside."""

    def __init__(self) -> None:
        self._taken = set(CPP | CUDA | RUNTIME | OURS)
        self._numbered: dict[str, str] = {}     # a name that stepped aside -> what was wanted

    def take(self, wanted: str) -> str:
        """A free C++ identifier, as near to ``wanted`` as can be; taken from now on."""
        base = wanted if _is_free_to_use(wanted) else _made_free(wanted)
        candidate, count = base, 1
        while candidate in self._taken:
            count += 1
            candidate = f"{base}_{count}"
        self._taken.add(candidate)
        if count > 1:
            self._numbered[candidate] = base
        return candidate

    def wanted(self, name: str) -> str:
        """What was asked for when the name was made: another where it stepped aside."""
        return self._numbered.get(name, name)

    def first_free(self, name: str, taken: Set[str]) -> str:
        """What the name may be where only so many are taken: itself, or one that is nearer to what was wanted."""
        base, count = self.wanted(name), 1
        candidate = base
        while candidate != name and (candidate in taken or candidate in CPP | CUDA | RUNTIME | OURS):
            count += 1
            candidate = f"{base}_{count}"
        return candidate

    def copy(self) -> Names:
        """The same names taken, for a function of its own."""
        other = Names()
        other._taken = set(self._taken)
        other._numbered = self._numbered
        return other

    def release(self, name: str) -> None:
        """Give a name back at the end of its block, so that the next block may have it."""
        self._taken.discard(name)


def _is_free_to_use(name: str) -> bool:
    """Whether C++ and the headers leave the name to us."""
    return "__" not in name and not name.endswith("_") and OWNED.match(name) is None


def _made_free(name: str) -> str:
    """The name without the underscores that C++ keeps; ``_1``, ``_`` and ``LC_LINE`` must begin with something else."""
    bare = re.sub(r"_+", "_", name).strip("_")
    return bare if bare[:1].isalpha() and OWNED.match(bare) is None else f"name_{bare}".rstrip("_")
