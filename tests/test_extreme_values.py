"""Numbers at their limits: the least i64, f16 past its greatest, NaN and infinities, and zeros with a sign."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc import compile
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel

Array = NDArray[Any]
LEAST, GREATEST = -(2**63), 2**63 - 1
INF, NAN = np.inf, np.nan


def only(text: str) -> Kernel:
    module = compile(text)
    (name,) = module
    found = module[name]
    assert isinstance(found, Kernel)
    return found


def both(text: str, *arrays: Any, device: str) -> list[Array]:
    """The outputs under every schedule, which are those of the NumPy meaning, signs of zeros and all."""
    kernel = only(text)
    wanted = _several(kernel.reference(*arrays))
    for schedule in kernel.schedules:
        for want, got in zip(wanted, _several(kernel(*arrays, schedule=schedule, device=device)), strict=True):
            np.testing.assert_array_equal(got, want)
            if got.dtype.kind in "fV":
                number = ~np.isnan(want)        # a NaN's sign is nobody's
                np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
    return wanted


def _several(outputs: Any) -> list[Array]:
    return [np.asarray(o) for o in (outputs if isinstance(outputs, tuple) else (outputs,))]


# ---- i64


PAIRS = [(LEAST, -1), (LEAST, 0), (LEAST, 3), (LEAST, LEAST), (GREATEST, -1), (GREATEST, LEAST), (5, LEAST),
         (-5, GREATEST), (0, LEAST), (-1, GREATEST)]


def wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def test_i64_at_its_limits(device: str) -> None:
    """Exactly, modulo 2**64; divided by zero it is 0."""
    text = """kernel k(x: i64[N], d: i64[N]) -> (
        q: i64[N], r: i64[N], a: i64[N], n: i64[N], p: i64[N], c: i64[N], m: i64[N], o: i64[N], t: i64[N], s: i64[]) {
        q[i] = x[i] // d[i]      r[i] = x[i] % d[i]      a[i] = abs(x[i])     n[i] = -x[i]      p[i] = x[i] * d[i]
        c[i] = x[i]**3           m[i] = min(x[i], d[i])  o[i] = max(x[i], d[i])
        t[i] = sign(x[i])        s[] = sum(i) (x[i] - d[i])
    }"""
    x, d = (list(side) for side in zip(*PAIRS, strict=True))
    got = both(text, np.array(x), np.array(d), device=device)
    assert [g.tolist() for g in got] == [
        [wrapped(a // b) if b else 0 for a, b in PAIRS], [a % b if b else 0 for a, b in PAIRS],
        [wrapped(abs(a)) for a in x], [wrapped(-a) for a in x], [wrapped(a * b) for a, b in PAIRS],
        [wrapped(a**3) for a in x], [min(pair) for pair in PAIRS], [max(pair) for pair in PAIRS],
        [(a > 0) - (a < 0) for a in x], wrapped(sum(a - b for a, b in PAIRS))]


@pytest.mark.parametrize("written", [
    "-9223372036854775808", "-2**63", "-(2**63)", "-(2)**63", "0 - 2**62 - 2**62", "min(-2**63, 0)"])
def test_the_least_integer_is_a_constant(written: str, device: str) -> None:
    kernel = "kernel k(x: i64[N]) -> (y: i64[N]) { edge x = constant(M)  y[i] = max(x[i - 1], M) }"
    text = f"const M = {written}  {kernel}"
    assert both(text, np.array([3, 4]), device=device)[0].tolist() == [LEAST, 3]


@pytest.mark.parametrize("written", ["9223372036854775808", "2**63", "-9223372036854775809", "-2**64", "-(-2**63)",
                                     "0 + 2**63", "-(2**63 - 1 + 1)"])
def test_what_64_bits_do_not_hold_is_no_constant(written: str) -> None:
    with pytest.raises(LayoutcError, match="overflow"):
        compile(f"const M = {written}")


# ---- floats past their greatest


def test_f16_is_accumulated_in_f32(device: str) -> None:
    """Sums and products that f16 does not hold on the way; what it does not hold where it is stored is infinite."""
    text = """kernel k(x: f16[N]) -> (s: f16[], m: f16[], p: f16[N], o: f16[N], w: f16[N], f: f16[]) {
        require N == 3
        let g[i] = x[i] * x[i]
        s[] = sum(u in 0..3) x[u]
        m[] = sum(u in 0..3) abs(x[u]) / 4
        p[i] = g[i] / x[i]
        o[i] = g[i]
        w[i] = sum(u in 0..3) x[u] * x[u] - 2*g[i]
        f[] = sum(u in 0..3) abs(x[u])
    }
    schedule k as kept { stage g in shared }"""
    s, m, p, o, w, f = both(text, np.array([60000, 60000, -60000], np.float16), device=device)
    assert (float(s), float(m)) == (60000, float(np.float16(45000)))
    assert p.tolist() == [60000, 60000, -60000]
    assert o.tolist() == w.tolist() == [INF, INF, INF]
    assert f == INF


def test_a_cast_to_f16_rounds_on_the_way(device: str) -> None:
    text = "kernel k(x: f32[N]) -> (y: f16[N]) { y[i] = f16(x[i]) / 2 }"
    given = np.array([65519, 65520, -1e9, 2**-25, 1e-7], np.float32)
    wanted = [65504 / 2, INF, -INF, 0, float(np.float16(1e-7)) / 2]
    assert both(text, given, device=device)[0].tolist() == [float(np.float16(v)) for v in wanted]


def test_bf16_overflows_where_f32_does(device: str) -> None:
    text = """kernel k(x: bf16[N]) -> (y: bf16[N], s: bf16[]) {
        require N >= 2  y[i] = x[i] * x[i] / x[i]  s[] = sum(u in 0..2) x[u] / 2
    }"""
    y, s = both(text, np.array([3e38, 3e38, -2], ml_dtypes.bfloat16), device=device)
    assert y.astype(float).tolist() == [INF, INF, -2]
    assert s == ml_dtypes.bfloat16(3e38)


# ---- NaN and infinities


WINDOWS = """
kernel k(x: f32[N]) -> (lo: f32[N], hi: f32[N], mid: f32[N], nlo: f32[N], nhi: f32[N],
    pair: f32[N], lap: f32[N], c: f32[N], any_nan: bool[N]) {
    edge x = reflect
    lo[i] = min(u in -2..=2) x[i + u]
    hi[i] = max(u in -2..=2) x[i + u]
    mid[i] = median(u in -2..=2) x[i + u]
    nlo[i] = fmin(x[i - 1], x[i + 1])
    nhi[i] = fmax(x[i - 1], x[i + 1])
    pair[i] = x[i - 1] + x[i + 1]
    lap[i] = (x[i - 1] + x[i + 1]) - 2*x[i]
    c[i] = clamp(x[i], -1, 1)
    any_nan[i] = any(u in -2..=2) isnan(x[i + u])
}
schedule k as staged { tile (i: 8)  stage x in shared }
schedule k as held { tile (i: 8)  threads 4  stage x in registers }
"""
ROWS: dict[str, list[float]] = {
    "a NaN": [1, 2, 3, NAN, 5, 6, 7, 8, 9, 4, 1], "NaN at an end": [NAN, 2, 3, 4, 5, 1, 0, 7, 7, 7, 7],
    "infinities": [1, INF, 2, -INF, 3, INF, INF, 4, -INF, -INF, 0], "all of them": [0, NAN, INF, -INF, 1, NAN],
    "NaN alone": [NAN], "a NaN between infinities": [INF, NAN, -INF],
}


@pytest.mark.parametrize("name", ROWS)
def test_what_is_symmetric_is_so_for_nan_and_infinities(name: str, device: str) -> None:
    """Mirrored data give the mirrored answer, bit for bit."""
    x = np.array(ROWS[name], np.float32)
    there, back = both(WINDOWS, x, device=device), both(WINDOWS, x[::-1], device=device)
    for one, other in zip(there, back, strict=True):
        np.testing.assert_array_equal(one, other[::-1])


def test_windows_with_nan_and_infinities_by_hand(device: str) -> None:
    lo, hi, mid, nlo, nhi, pair, lap, c, any_nan = both(
        WINDOWS, np.array([INF, 1, 2, 3, -INF, NAN, 0, 4], np.float32), device=device)
    assert lo[1:3].tolist() == [1, -INF]
    assert hi[1:3].tolist() == [INF, INF]
    assert mid[1:3].tolist() == [3, 2]
    assert any_nan.tolist() == [False, False, False, True, True, True, True, True]
    for window in (lo, hi, mid):
        np.testing.assert_array_equal(np.isnan(window), any_nan)
    assert (nlo[4], nhi[4]) == (3, 3)           # beside NaN: the number
    assert np.isnan(pair[[4, 6]]).all()
    assert np.isnan(lap[[0, 4, 5, 6]]).all()    # inf - inf too
    assert c[[0, 4]].tolist() == [1, -1]
    assert np.isnan(c[5])


def test_nan_in_reductions_over_data(device: str) -> None:
    text = """kernel k(x: f32[H, W]) -> (s: f32[H], lo: f32[H], hi: f32[H], at: i64[H], last: i64[H], n: i64[H]) {
        s[i] = sum(j) x[i, j]  lo[i] = min(j) x[i, j]  hi[i] = max(j) x[i, j]
        at[i] = argmax(j) x[i, j]  last[i] = argmin(j) x[i, j]  n[i] = count(j) isnan(x[i, j])
    }"""
    x = np.array([[1, NAN, 3, NAN], [INF, 1, -INF, 2], [-INF, -INF, -INF, -INF], [4, INF, INF, 0]], np.float32)
    s, lo, hi, at, last, n = both(text, x, device=device)
    np.testing.assert_array_equal(s, [NAN, NAN, -INF, INF])
    np.testing.assert_array_equal(lo, [NAN, -INF, -INF, 0])
    np.testing.assert_array_equal(hi, [NAN, INF, -INF, INF])
    assert at.tolist() == np.argmax(x, 1).tolist() == [1, 0, 0, 1]
    assert last.tolist() == np.argmin(x, 1).tolist() == [1, 2, 0, 3]
    assert n.tolist() == [2, 0, 0, 0]


# ---- zeros with a sign


def test_the_sign_of_zero(device: str) -> None:
    """IEEE 754's and NumPy's: a sum begins with +0, products carry signs, what is copied stays."""
    text = """kernel k(x: f32[N]) -> (copied: f32[N], outside: f32[N], negated: f32[N], times: f32[N], twice: f32[N],
        away: f32[N], whole: f32[N], size: f32[N], root: f32[N], rounded: f32[N], fused: f32[N], number: f32[],
        total: f32[], product: f32[], least: f32[], greatest: f32[], middle: f32[]) {
        edge x = constant(-0.0)
        copied[i] = x[i]       outside[i] = x[i + 3]  negated[i] = -x[i]          times[i] = 0 * x[i]
        twice[i] = x[i] + x[i] away[i] = 0 - x[i]     whole[i] = floor(x[i])      size[i] = abs(x[i])
        root[i] = sqrt(x[i])   rounded[i] = round(x[i] - 0.25)  fused[i] = fma(x[i], 1, x[i])
        number[] = -0.0        total[] = sum(u in 0..3) x[u]    product[] = prod(u in 0..3) x[u]
        least[] = min(u in 0..3) x[u]  greatest[] = max(u in 0..3) x[u]  middle[] = median(u in 0..3) x[u]
    }
    schedule k as staged { tile (i: 4)  stage x in shared }"""
    got = both(text, np.full(3, -0.0, np.float32), device=device)
    negative = [bool(np.signbit(g).all()) for g in got]
    assert all((g == 0).all() for g in got)
    assert negative == [True, True, False, True, True, False, True, False, True, True, True, True,
                        False, True, True, True, True]


@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64"])
def test_zeros_of_every_float_keep_their_sign(type: str, device: str) -> None:
    text = f"""kernel k(x: {type}[N]) -> (y: {type}[N], z: {type}[N], w: {type}[N]) {{
        edge x = constant(-0.0)
        y[i] = x[i - 1]  z[i] = 0 * -1 + x[i] * x[i]  w[i] = where(x[i] == 0, -x[i], x[i])
    }}"""
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}[type]
    y, z, w = both(text, np.array([-0.0, 0.0, -0.0], dtype), device=device)
    assert np.signbit(y).tolist() == [True, True, False]
    assert np.signbit(z).tolist() == [False, False, False]
    assert np.signbit(w).tolist() == [False, True, False]


@pytest.mark.parametrize("type", ["f16", "f32", "f64"])
@pytest.mark.parametrize("body", ["pow(x[i], 0.5)", "x[i] ** 0.5", "pow(x[i], s[])", "x[i] ** s[]"])
def test_a_power_is_no_root(body: str, type: str, device: str) -> None:
    """C's pow, which is NumPy's with as many exponents as bases: of minus infinity and minus zero to the .5."""
    kernel = compile(f"kernel k(x: {type}[N], s: {type}[]) -> (y: {type}[N]) {{ y[i] = {body} }}")["k"]
    for count in (1, 2, 3):
        x = np.array([-np.inf, -0.0, 4.0], type.replace("f", "float"))[:count]
        wanted = np.array([np.inf, 0.0, 2.0], x.dtype)[:count]
        for got in (kernel.reference(x, 0.5), kernel(x, 0.5, device=device)):
            np.testing.assert_array_equal(got, wanted)
            assert not np.signbit(got).any()
