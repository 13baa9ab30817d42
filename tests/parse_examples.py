"""The language's forms as its description writes them: whole declarations, and clauses of a kernel."""

from __future__ import annotations

DECLARATIONS = (
    """
    const R = 2
    const K = 2*R + 1
    """,
    """
    layout plain = (4, 3):(3, 1)
    layout tiled = ((2, 2), 3):((1, 4), 2)
    """,
    """
    assert size(plain) == 12
    assert composition((6, 2):(8, 2), (4, 3):(3, 1)) == ((2, 2), 3):((24, 2), 8)
    assert complement(4:2, 24) == (2, 3):(1, 8)
    assert left_inverse((4, 3):(1, 5)) == (5, 3):(1, 4)
    assert composition(swizzle(3, 0, 3), A)[0] == 4:-1
    assert ((W, T//W), I):((1, W*I), W) == warp_striped(T, I, W)
    """,
    """
    kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - R, j + v - R]
    }
    """,
    """
    kernel copy(
        x: f32[H, W],        # extents: names, bound from the argument's shape
        w: f32[K, K],
        z: f32[N, 8]:(8, 1), # strides in elements, if the kernel insists on them
        s: f32[],            # a scalar, read s[]
    ) -> (y: f32[N, 8]) { y[i, j] = z[i, j] * s[] }
    """,
    """
    kernel heat(u: f64[H, W], c: f64[]) -> (v: f64[H, W]) {
        edge u = constant(0)
        v[i, j] = u[i, j] + c[] * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])
        step u = v
    }
    """,
    """
    kernel total(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }
    kernel row_max(x: f32[H, W]) -> (m: f32[H]) { m[i] = max(j) x[i, j] }
    kernel both(x: f32[H, W]) -> (low: f32[H], high: f32[H]) { low[i] = min(j) x[i, j]; high[i] = max(j) x[i, j]; }
    kernel ramp() -> (y: i64[8]) { y[i] = i }
    """,
    """
    const P = 1
    const S = 1
    const D = 1
    kernel conv2d(x: i8[C, H, W], w: i8[M, C, 3, 3], b: i32[M]) -> (y: i32[M, (H + 2*P - 2*D - 1)//S + 1, \
(W + 2*P - 2*D - 1)//S + 1]) {
        edge x = constant(0)
        y[m, i, j] = b[m] + sum(c, u, v) i32(w[m, c, u, v]) * i32(x[c, S*i + D*u - P, S*j + D*v - P])
    }
    """,
    """
    schedule blur {
        tile (i: 16, j: 64)             # outputs a block makes
        threads (256, 4):(4, 1)         # who owns which output
        stage x in shared               # shared | registers | global | constant
        stage w in constant
        load x as striped(256, 6)       # thread layout of a load or a store
        store y as striped(256, 4)
        vector 4
        budget shared 48 KiB            # or bytes (the default)
    }
    schedule blur as naive { tile (i: 16, j: 16)  stage x in global }
    schedule blur as walk  { tile (i: 64, j: 128)  march i  stage x in registers  unroll v }
    schedule heat { tile (i: 32, j: 64)  fuse 4 }
    schedule conv2d { tile (m: 16, i: 8, j: 8, c: 4)  stage x in shared double  stage w in shared double }
    schedule blur as padded { threads over x  stage x in shared halo global  budget shared 49152 }
    """,
    """
    redistribute b2s: f32 = blocked(128, 4) -> striped(128, 4)
    redistribute b2w: f16 = blocked(128, 8) -> warp_striped(128, 8, 32) via shared
    redistribute put: f32 = scatter blocked(4, 2) -> blocked(4, 2) warp 4     # each item brings its rank
    redistribute get: f32 = gather  striped(4, 2) -> blocked(4, 2) warp 4 via shuffle
    """,
)
"""Texts of whole declarations."""

CLAUSES = (
    "require H >= K, W >= K",
    """
    edge x = constant(0)
    edge x[0] = wrap                       # axis 0 only; beats the general rule
    edge x[1] = (mirror, constant(-1))     # axis 1: low side, high side
    """,
    """
    let g[i, j] = sum(v in -1..=1) x[i, j + v]
    y[i, j] = sum(u in -1..=1) g[i + u, j]
    """,
    "edge g = reflect  let g[i in 0..H, j in 0..W] = x[i, j]",
    "edge x = constant(-inf); edge z = constant(c[])",
    "y[i] = x[idx[i]] + x[i // 2] - x[i % 3]",
    "y[i] = any(j) (x[i, j] > 0) or not all(j) (x[i, j] == nan) and true != false",
    "y[i] = argmin(u in 0..3, v in 0..3) x[u, v] + median(u in -1..=1) x[i + u] + count(j) (x[j] < pi)",
    "y[i] = where(x[i] > 1.5e-3, min(x[i], 2.0), max(-x[i], 1e6)) ** 2",
)
"""Texts of clauses of a kernel."""

TEXTS = (*DECLARATIONS, *(f"kernel k(x: f32[H, W]) -> (y: f32[H]) {{\n{clauses}\n}}" for clauses in CLAUSES))
"""Everything above as whole files."""
