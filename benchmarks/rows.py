"""What is timed: a text of the layout language, extents, and what is to be reached on one H200."""

from __future__ import annotations

from dataclasses import dataclass, field

PLANE = {"H": 16384, "W": 16384}
CUBE = {"D": 640, "H": 640, "W": 640}


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel (named ``k``) at one shape."""

    title: str
    text: str
    extents: dict[str, int]
    peer: str                           # which of the peers' functions does the same; "" for none
    unit: str = "copy"                  # of what is reached: copy (fraction, at least), ms (at most), tflops (at least)
    to_reach: float | None = None
    small: dict[str, int] = field(default_factory=dict)     # ragged extents at which NumPy's meaning is compared
    steps: int = 1
    operations: int = 0                 # of arithmetic, where they are what counts
    words: tuple[int, ...] = ()         # what the peer must know: window, radius, …


def box(k: int, type: str = "f32") -> str:
    """A k × k correlation with weights given at the call."""
    r = k // 2
    return f"""kernel k(x: {type}[H, W], w: {type}[{k}, {k}]) -> (y: {type}[H, W]) {{
    edge x = constant(0)
    y[i, j] = sum(u in 0..{k}, v in 0..{k}) w[u, v] * x[i + u - {r}, j + v - {r}]
}}"""


def laplace(edge: str, type: str = "f32") -> str:
    """Five points."""
    return f"""kernel k(x: {type}[H, W]) -> (y: {type}[H, W]) {{
    edge x = {edge}
    y[i, j] = x[i-1, j] + x[i+1, j] + x[i, j-1] + x[i, j+1] - 4*x[i, j]
}}"""


def separable(k: int, type: str = "f32") -> str:
    """Two passes of k weights in one kernel."""
    r = k // 2
    return f"""kernel k(x: {type}[H, W], w: {type}[{k}]) -> (y: {type}[H, W]) {{
    edge x = constant(0)
    let g[i, j] = sum(v in 0..{k}) w[v] * x[i, j + v - {r}]
    y[i, j] = sum(u in 0..{k}) w[u] * g[i + u - {r}, j]
}}"""


PRODUCT = """kernel k(a: bf16[M, K], b: bf16[N, K]) -> (c: bf16[M, N]) {
    c[i, j] = bf16(sum(k) f32(a[i, k]) * f32(b[j, k]))
}"""


def window(reduction: str) -> str:
    """A 3 × 3 filter without weights."""
    return f"""kernel k(x: f32[H, W]) -> (y: f32[H, W]) {{
    edge x = nearest
    y[i, j] = {reduction}(u in -1..=1, v in -1..=1) x[i + u, j + v]
}}"""


def star(r: int, type: str = "f32") -> str:
    """2·3·r + 1 points in three dimensions."""
    return f"""kernel k(x: {type}[D, H, W], w: {type}[{r + 1}]) -> (y: {type}[D, H, W]) {{
    edge x = constant(0)
    y[i, j, l] = w[0] * x[i, j, l] + sum(u in 1..={r}) w[u] * (x[i-u, j, l] + x[i+u, j, l] + x[i, j-u, l] + x[i, j+u, l]
        + x[i, j, l-u] + x[i, j, l+u])
}}"""


BOX_3D = """kernel k(x: f32[D, H, W], w: f32[3, 3, 3]) -> (y: f32[D, H, W]) {
    edge x = constant(0)
    y[i, j, l] = sum(t in 0..3, u in 0..3, v in 0..3) w[t, u, v] * x[i + t - 1, j + u - 1, l + v - 1]
}"""
TRANSPOSE = "kernel k(x: f32[H, W]) -> (y: f32[W, H]) { y[j, i] = x[i, j] }"
HEAT = """kernel k(u: f32[H, W], c: f32[]) -> (v: f32[H, W]) {
    edge u = constant(0)
    v[i, j] = u[i, j] + c[] * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])
    step u = v
}"""
HEAT_3D = """kernel k(u: f32[D, H, W], c: f32[]) -> (v: f32[D, H, W]) {
    edge u = constant(0)
    v[i, j, l] = u[i, j, l] + c[] * (u[i-1, j, l] + u[i+1, j, l] + u[i, j-1, l] + u[i, j+1, l] + u[i, j, l-1]
        + u[i, j, l+1] - 6*u[i, j, l])
    step u = v
}"""


def fields(n: int) -> str:
    """Records of n numbers to n arrays."""
    return f"kernel k(x: f32[N, {n}]) -> (y: f32[{n}, N]) {{ y[f, i] = x[i, f] }}"


def total(kept: str, summed: str) -> str:
    """A sum along some axes of a matrix."""
    out = {"": "", "i": "H", "j": "W"}[kept]
    return f"kernel k(x: f32[H, W]) -> (s: f32[{out}]) {{ s[{kept}] = sum({summed}) x[i, j] }}"


def layer(c: int, m: int, type: str, cast: str) -> str:
    """A 3 × 3 convolution layer, channels last."""
    return f"""kernel k(x: {type}[B, H, W, {c}], w: {type}[{m}, 3, 3, {c}]) -> (y: {type}[B, H, W, {m}]) {{
    edge x = constant(0)
    y[n, i, j, m] = {cast}(sum(u in 0..3, v in 0..3, c in 0..{c}) w[m, u, v, c] * x[n, i + u - 1, j + v - 1, c])
}}"""


SMALL_PLANE, SMALL_CUBE = {"H": 147, "W": 517}, {"D": 37, "H": 41, "W": 139}
EDGES = ("constant(0)", "nearest", "reflect", "mirror", "wrap")
HALF_PLANE = {"H": 8192, "W": 8192}


def _box_rows() -> list[Row]:
    reach = {3: 0.96, 5: 0.955, 7: 0.90}
    rows = [Row(f"box {k}×{k} f32 16384²", box(k), PLANE, "box", "copy", reach[k], SMALL_PLANE, words=(k,))
            for k in reach]
    rows.append(Row("box 15×15 f32 16384²", box(15), PLANE, "box", "ms", 2.8, SMALL_PLANE, words=(15,)))
    rows += [Row(f"box 3×3 {type} 16384²", box(3, type), PLANE, "", "copy", 0.96, SMALL_PLANE)
             for type in ("f64", "f16")]
    rows += [Row(f"box {k}×{k} f16 16384²", box(k, "f16"), PLANE, "", "copy", None, SMALL_PLANE) for k in (5, 7)]
    return rows


def _half_rows() -> list[Row]:
    """What arithmetic, one multiplication and addition a tap in f32, keeps from the speed of a copy of so few bytes."""
    return [
        Row("separable 15×15 f16, one pass, 16384²", separable(15, "f16"), PLANE, "", "copy", None, SMALL_PLANE),
        *(Row(f"star r = {r} f16, 640³", star(r, "f16"), CUBE, "", "copy", None, SMALL_CUBE) for r in (1, 4)),
        Row("box 3×3×3 f16, 640³", BOX_3D.replace("f32", "f16"), CUBE, "", "copy", None, SMALL_CUBE),
    ]


def _layer_row(n: int, c: int, h: int, m: int, type: str, to_reach: float | None) -> Row:
    return Row(
        f"conv n{n} c{c} {h}² m{m} 3×3 {type}, channels last", layer(c, m, type, type),
        {"B": n, "H": h, "W": h}, f"conv_{type}", "tflops", to_reach, {"B": 2, "H": 5, "W": 7},
        operations=2 * n * m * h * h * c * 9)


ROWS = (
    *_box_rows(),
    Row("5-point Laplace, reflect, 16384²", laplace("reflect"), PLANE, "laplace", "copy", 0.96, SMALL_PLANE),
    Row("separable 15×15, one pass, 16384²", separable(15), PLANE, "separable", "copy", 0.85, SMALL_PLANE, words=(15,)),
    Row("max 3×3, nearest, 16384²", window("max"), PLANE, "maximum", "copy", 0.93, SMALL_PLANE),
    Row("median 3×3, nearest, 16384²", window("median"), PLANE, "median", "copy", 0.85, SMALL_PLANE),
    Row("star r = 1, 640³", star(1), CUBE, "star", "copy", 0.94, SMALL_CUBE, words=(1,)),
    Row("star r = 4, 640³", star(4), CUBE, "star", "copy", 0.85, SMALL_CUBE, words=(4,)),
    Row("box 3×3×3, 640³", BOX_3D, CUBE, "box_3d", "copy", 0.90, SMALL_CUBE),
    *_half_rows(),
    Row("transpose f32 16384²", TRANSPOSE, PLANE, "transpose", "copy", 0.965, SMALL_PLANE),
    Row("records of 3 to fields, 2²⁵", fields(3), {"N": 1 << 25}, "fields", "copy", 0.93, {"N": 1237}),
    Row("records of 8 to fields, 2²⁵", fields(8), {"N": 1 << 25}, "fields", "copy", 0.95, {"N": 1237}),
    Row("sum all, 2²⁸", total("", "i, j"), PLANE, "sum_all", "copy", 1.04, SMALL_PLANE),
    Row("sum rows, 16384²", total("i", "j"), PLANE, "sum_rows", "copy", 1.04, SMALL_PLANE),
    Row("sum columns, 16384²", total("j", "i"), PLANE, "sum_columns", "copy", 1.04, SMALL_PLANE),
    *(Row(f"5-point Laplace, {edge}, 8192²", laplace(edge), HALF_PLANE, "", "copy", None, SMALL_PLANE)
      for edge in EDGES),
    _layer_row(32, 256, 28, 256, "bf16", 600),
    Row("product bf16 8192³", PRODUCT, {"M": 8192, "N": 8192, "K": 8192}, "product_bf16", "tflops", 700,
        {"M": 40, "N": 24, "K": 80}, operations=2 * 8192**3),
    _layer_row(32, 64, 56, 64, "f32", None),
    Row("heat, 64 steps, 8192²", HEAT, HALF_PLANE, "", "copy", 2.0, SMALL_PLANE, steps=64),
    Row("heat, 64 steps, 512³", HEAT_3D, {"D": 512, "H": 512, "W": 512}, "", "copy", 1.5, SMALL_CUBE, steps=64),
)
