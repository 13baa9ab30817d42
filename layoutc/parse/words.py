"""The grammar's tokens in the language's words, and an example of every form."""

from __future__ import annotations

from collections.abc import Collection

EXAMPLES = {
    "CONST": "const R = 2",
    "LAYOUT": "layout A = (4, 3):(3, 1)",
    "ASSERT": "assert size(A) == 12",
    "KERNEL": "kernel blur(x: f32[H, W]) -> (y: f32[H, W]) { y[i, j] = x[i, j] }",
    "SCHEDULE": "schedule blur as small { tile (i: 16, j: 16) }",
    "REDISTRIBUTE": "redistribute b2s: f32 = blocked(128, 4) -> striped(128, 4) via shared",
    "EDGE": "edge x = nearest`, `edge x[0] = wrap`, `edge x[1] = (mirror, constant(0))",
    "REQUIRE": "require H >= K, W >= K",
    "LET": "let g[i, j] = x[i, j] + 1",
    "STEP": "step u = v",
    "TILE": "tile (i: 16, j: 64)",
    "THREADS": "threads 256`, `threads (256, 4):(4, 1)`, `threads over x",
    "STAGE": "stage x in shared`, `stage x in shared halo global double",
    "LOAD": "load x as striped(256, 6)",
    "STORE": "store y as striped(256, 4)",
    "VECTOR": "vector 4",
    "BUDGET": "budget shared 48 KiB",
    "MARCH": "march i",
    "FUSE": "fuse 4",
    "UNROLL": "unroll u",
    "MMA": "mma`, `mma via boxes",
    "REDUCE": "sum(u in 0..3, j) w[u] * x[u, j]",
    "equation": "y[i, j] = x[i, j]`, `s[] = 1",
    "tensor": "x: f32[H, W]`, `z: f32[N, 8]:(8, 1)`, `s: f32[]",
}
"""By the token that begins a form: how it is written (between back quotes)."""

DECLARATIONS = ("CONST", "LAYOUT", "KERNEL", "SCHEDULE", "REDISTRIBUTE", "ASSERT")
CLAUSES = ("EDGE", "REQUIRE", "LET", "STEP")
WAYS = ("TILE", "THREADS", "STAGE", "LOAD", "STORE", "VECTOR", "BUDGET", "MARCH", "FUSE", "UNROLL", "MMA")

_SIGNS = {
    "LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}", "COMMA": ",", "COLON": ":",
    "EQUAL": "=", "UNTIL": "..", "THROUGH": "..=", "__ANON_0": "->",
}
_BINARY = {"PLUS", "TIMES", "POWER", "COMPARE", "AND", "OR"}
_EXPRESSION = {"INTEGER", "FLOAT", "WORD_NUMBER", "REDUCE", "NAME", "LPAR", "MINUS", "NOT"}
_GROUPS = (
    ({"LET", "NAME"}, {"NAME", "VIA", "WARP", "IN", "AS", "HALO", "DOUBLE", *DECLARATIONS, *CLAUSES, *WAYS},
     "a clause (`edge let require step`, or an equation)"),
    ({"CONST", "ASSERT"}, {*DECLARATIONS}, "a declaration (`const layout kernel schedule redistribute assert`)"),
    ({"TILE", "FUSE"}, {*WAYS}, "a clause (`tile threads stage load store vector budget march fuse unroll mma`)"),
    ({"INTEGER"}, _EXPRESSION, "an expression"),
)
_SILENT = {"SEMICOLON", "$END"}


def expected(accepts: Collection[str]) -> str:
    """What may come next, such as ``a name or `)` ``."""
    rest = set(accepts) - _SILENT
    parts = []
    if rest & _BINARY:      # an expression stands before, which any of these could only continue
        parts += ["an operator"] if "PLUS" in rest else []
        rest -= {"COLON", "LSQB", "LPAR", "MINUS", *_BINARY}
    for mark, words, phrase in _GROUPS:
        if mark <= rest:
            parts.append(phrase)
            rest -= words
    if "NAME" in rest:
        parts.append("a name")
    parts += [f"`{_SIGNS.get(token) or token.lower()}`" for token in sorted(rest - {"NAME"})]
    return listed(parts) if parts else "the end of the text"


def listed(parts: list[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def keywords(accepts: Collection[str]) -> list[str]:
    """The keywords among the tokens that may come next, as they are written."""
    forms = {*DECLARATIONS, *CLAUSES, *WAYS, "VIA", "WARP", "AS", "IN", "HALO", "GLOBAL", "DOUBLE", "OVER"}
    return sorted(token.lower() for token in set(accepts) & forms)
