"""Kernels: what names mean, what binds extents, ranges, lets, edges."""

from __future__ import annotations

import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.resolve.affine import Affine, affine
from layoutc.resolve.program import Const, EdgeRule, Read
from layoutc.resolve.types import F32, I64
from tests.resolve_support import kernel, refusals, resolved, shown

BLUR = """
    const R = 2
    kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - R, j + v - R]
    }
"""


def body(text: str, header: str = "x: f32[N], w: f32[M], c: f32[]) -> (y: f32[N]") -> str:
    return f"kernel k({header}) {{ {text} }}"


def value(text: str, **given: int) -> str:
    return shown(kernel(body(text), **given).equations[0].value)


def test_the_kernel_of_the_language() -> None:
    blur = kernel(BLUR)
    assert blur.extents == ("H", "W", "K")
    assert [t.name for t in blur.inputs] == ["x", "w"]
    assert blur.inputs[0].edges == ((EdgeRule("nearest"), EdgeRule("nearest")),) * 2
    assert blur.inputs[1].edges == ((None, None),) * 2
    assert blur.equations[0].indices == ("i", "j")
    assert shown(blur.equations[0].value) == (
        "sum(u in 0:i64..K:i64, v in 0:i64..K:i64) (w[u, v] * x[((i + u) - 2:i64), ((j + v) - 2:i64)])"
    )


def test_an_override_reaches_the_kernel() -> None:
    (override,) = resolved(BLUR, R=5).kernels
    assert "5:i64" in shown(override.equations[0].value)


def test_a_convolution_layer_is_one_equation() -> None:
    layer = kernel("""
        const P = 1
        const S = 1
        const D = 1
        kernel conv2d(x: i8[C, H, W], w: i8[M, C, 3, 3], b: i32[M])
            -> (y: i32[M, (H + 2*P - 2*D - 1)//S + 1, (W + 2*P - 2*D - 1)//S + 1]) {
            edge x = constant(0)
            y[m, i, j] = b[m] + sum(c, u, v) i32(w[m, c, u, v]) * i32(x[c, S*i + D*u - P, S*j + D*v - P])
        }
    """)
    assert layer.extents == ("C", "H", "W", "M")
    assert shown(layer.equations[0].value).startswith(
        "(b[m] + sum(c in 0:i64..C:i64, u in 0:i64..3:i64, v in 0:i64..3:i64) (i32(w[m, c, u, v]) * i32(x["
    )
    assert layer.checks == ()


# ---- extents


def test_extents_in_order_of_first_mention() -> None:
    header = "a: f32[2*N + M], b: f32[M, K], c: f32[N]) -> (y: f32[N]"
    assert kernel(body("y[i] = c[i]", header)).extents == ("N", "M", "K")


def test_a_constant_is_no_extent() -> None:
    assert kernel(f"const N = 8\n{body('y[i] = x[i]')}").extents == ("M",)


@pytest.mark.parametrize(("header", "name"), [
    ("x: f32[N]) -> (y: f32[Q]", "Q"), ("x: f32[N], z: f32[2*Q]) -> (y: f32[N]", "Q"),
    ("x: f32[N], z: f32[Q + 1]) -> (y: f32[Q]", "Q"),
])
def test_only_an_input_binds_an_extent_and_only_alone(header: str, name: str) -> None:
    found = refusals(body("y[i] = 0", header))
    assert set(found) == {("unbound-extent", name)}


def test_strides_are_kept() -> None:
    tensor = kernel(body("y[i] = z[i, 0]", "z: f32[N, 8]:(8, 1)) -> (y: f32[N]:1")).inputs[0]
    assert tensor.strides == (Const(8, I64), Const(1, I64))


def test_requirements_come_first_among_the_checks() -> None:
    checks = kernel(body("y[i] = sum(u) x[u] * w[u]\n require N >= 3, M > 2 and N < 100")).checks
    assert [shown(c.condition) for c in checks] == [
        "(N:i64 >= 3:i64)", "((M:i64 > 2:i64) and (N:i64 < 100:i64))", "(N:i64 == M:i64)",
    ]
    assert checks[0].message == "`k` requires N >= 3"


# ---- names


def test_words_of_the_language_and_of_cuda_may_be_names() -> None:
    for name in ("float", "threadIdx", "__shared__", "tile", "edge", "step", "sum", "max", "constant", "where", "f32"):
        text = f"kernel {name}({name}: f32[N]) -> (y: f32[N]) {{ y[{name}] = {name}[{name}] }}"
        assert kernel(text).name == name


def test_tensors_kernels_and_constants_are_three_name_spaces() -> None:
    program = resolved("const a = 1\nlayout a = 4:1\nkernel a(a: f32[N]) -> (y: f32[N]) { y[i] = a[i] * a }")
    assert shown(program.kernels[0].equations[0].value) == "(a[i] * 1.0:f32)"


@pytest.mark.parametrize("text", [
    "y[i] = sum(i) x[i]", "y[i] = sum(N in 0..3) 1", "y[i] = sum(u, u) x[u]", "y[i] = sum(u) (x[u] * sum(u) x[u])",
    "y[N] = x[0]", "let g[N] = x[0] y[i] = x[i]",
])
def test_a_name_in_scope_is_not_bound_again(text: str) -> None:
    assert [slug for slug, _ in refusals(body(text))] == ["name-in-scope"]


def test_one_name_one_range() -> None:
    two = "x: f32[N], w: f32[M]) -> (y: f32[N], z: f32[M]"
    assert refusals(body("y[i] = x[i] z[i] = w[i]", two)) == [("two-ranges", "i")]
    assert refusals(body("y[i] = x[i] z[j] = w[j]", two)) == []
    assert refusals(body("y[i] = sum(u in 0..3) 1 + sum(u in 0..4) 1")) == [("two-ranges", "u")]
    assert refusals(body("y[i] = sum(u in 0..=2) 1 + sum(u in 0..3) 1")) == []
    assert refusals(body("y[i] = sum(u in 0..N+1) 1 + sum(u in 0..=N) 1")) == []


# ---- ranges


def test_a_reduction_index_takes_the_extent_on_which_it_stands_alone() -> None:
    assert value("y[i] = sum(u) w[u] * x[i]") == "sum(u in 0:i64..M:i64) (w[u] * x[i])"
    assert value("edge x = wrap y[i] = sum(u) x[i + u] * (2 * max(w[u], 0))") == (
        "sum(u in 0:i64..M:i64) (x[(i + u)] * (2.0:f32 * max(w[u], 0.0:f32)))"
    )
    gathered = body("y[i] = sum(u) x[at[u]]", "x: f32[256], at: u8[M]) -> (y: f32[256]")
    assert shown(kernel(gathered).equations[0].value) == "sum(u in 0:i64..M:i64) x[i64(at[u])]"
    held = "edge g = nearest let g[a in 1..N] = x[a] y[i] = sum(u) g[u]"
    assert value(held) == "sum(u in 1:i64..N:i64) g[u]"


def test_axes_that_a_reduction_index_shares_must_agree() -> None:
    (check,) = kernel(body("y[i] = sum(u) x[u] * w[u]")).checks
    assert shown(check.condition) == "(N:i64 == M:i64)"
    three = "x: f32[3], w: f32[4]) -> (y: f32[3]"
    assert refusals(body("y[i] = sum(u) x[u] * w[u]", three)) == [("two-ranges", "u")]


@pytest.mark.parametrize("text", ["y[i] = sum(u) x[u + 0]", "let g[a] = x[a] y[i] = sum(u) g[u]", "y[i] = sum(u) 1"])
def test_an_index_that_stands_alone_nowhere_needs_a_range(text: str) -> None:
    assert ("no-range", "u") in refusals(body(text))


def test_ranges_hold_constants_and_extents_only() -> None:
    for high in ("i", "x[0]", "sum(v) x[v]"):
        assert [slug for slug, _ in refusals(body(f"y[i] = sum(u in 0..{high}) 1"))] == ["not-a-constant"]


def test_a_minimum_of_nothing() -> None:
    for op in ("min", "max", "median", "argmin", "argmax"):
        number = f"y[i] = f32({op}(u in 2..2) x[u])"
        assert refusals(body(number)) == [("empty-reduction", "2..2")]
    assert value("y[i] = sum(u in 2..2) x[0]") == "sum(u in 2:i64..2:i64) x[0:i64]"


# ---- equations


def test_every_output_has_one_equation_of_plain_distinct_names() -> None:
    assert refusals(body("")) == [("missing-equation", "y")]
    assert refusals(body("y[i] = x[i] y[j] = x[j]")) == [("duplicate-equation", "y")]
    assert refusals(body("y[i + 1] = x[i]")) == [("bad-bracket", "i + 1")]
    assert refusals(body("x[i] = 0 y[i] = 0")) == [("bad-target", "x")]
    assert refusals(body("y[i, j] = 0")) == [("rank", "y[i, j] = 0")]
    square = "x: f32[N]) -> (y: f32[N, N]"
    assert refusals(body("y[i, i] = x[i]", square)) == [("bad-bracket", "i")]


def test_an_output_is_not_read() -> None:
    assert refusals(body("y[i] = y[i]")) == [("misused-name", "y")]


def test_equations_stand_in_the_order_of_the_outputs() -> None:
    two = "x: f32[N]) -> (y: f32[N], z: f32[N]"
    assert [e.output for e in kernel(body("z[i] = x[i] y[i] = x[i]", two)).equations] == ["y", "z"]


def test_unused_inputs_and_lets_are_fine() -> None:
    assert len(kernel(body("let g[a] = x[a - 5] y[i] = 1")).stages) == 1


# ---- lets


def test_lets_stand_after_those_that_they_read() -> None:
    text = "let a[i] = b[i] + d[i] let b[i] = d[i] let d[i] = x[i] y[i] = a[i]"
    assert [s.name for s in kernel(body(text)).stages] == ["d", "b", "a"]


def test_a_let_that_needs_itself() -> None:
    text = "let a[i] = b[i] let b[i] = a[i] let d[i] = d[i] let e[i] = a[i] y[i] = e[i]"
    assert refusals(body(text)) == [("cycle", "a"), ("cycle", "d")]


def test_a_let_has_the_type_of_its_formula() -> None:
    lets = kernel(body("let a[i] = 1 let b[i] = 0.5 let m[i] = x[i] > 0 let d[i] = x[i] y[i] = d[i]")).stages
    assert {s.name: str(s.type) for s in lets} == {"a": "i64", "b": "f64", "m": "bool", "d": "f32"}


def test_an_edge_holds_a_let_to_a_domain() -> None:
    stage = kernel(body("edge g = wrap let g[i] = x[i] y[i] = g[i - 1]")).stages[0]
    assert stage.domain is not None
    assert [tuple(map(shown, axis)) for axis in stage.domain] == [("0:i64", "N:i64")]
    assert stage.edges == ((EdgeRule("wrap"), EdgeRule("wrap")),)
    written = kernel(body("edge g = wrap let g[a in 1..=N - 1] = x[a] y[i] = g[i - 1]")).stages[0]
    assert written.domain is not None
    assert [tuple(map(shown, axis)) for axis in written.domain] == [("1:i64", "N:i64")]
    assert refusals(body("edge g = wrap let g[a] = x[a] y[i] = g[i - 1]")) == [("no-domain", "a")]


def test_without_an_edge_a_let_is_a_formula_even_where_its_range_is_written() -> None:
    stage = kernel(body("let g[a in 0..N] = x[a] y[i] = g[i]")).stages[0]
    assert stage.domain is None
    assert stage.edges == ()
    assert refusals(body("let g[a in 1..N] = x[a] y[i] = g[i]")) == [("out-of-bounds", "i")]


# ---- edges


def test_the_rule_for_an_axis_beats_the_general_one_and_sides_may_differ() -> None:
    header = "x: f32[H, W], c: f32[]) -> (y: f32[H, W]"
    text = "edge x[1] = (mirror, constant(-1)) edge x = constant(c[] / 2) y[i, j] = x[i - 1, j - 1]"
    (low, high), (mirror, constant) = kernel(body(text, header)).inputs[0].edges
    assert low == high
    assert low is not None
    assert low.value is not None
    assert shown(low.value) == "(c[] / 2.0:f32)"
    assert mirror == EdgeRule("mirror")
    assert constant == EdgeRule("constant", Const(-1.0, F32))


@pytest.mark.parametrize(("rule", "help"), [
    ("edge", "nearest"), ("replicate", "nearest"), ("symmetric", "reflect"), ("periodic", "wrap"), ("circular", "wrap"),
    ("zero", "constant(0)"), ("neerest", "nearest"), ("Mirror", "mirror"),
])
def test_the_names_of_others_are_answered(rule: str, help: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        kernel(body(f"edge x = {rule} y[i] = x[i]"))
    assert [d.slug for d in caught.value.diagnostics] == ["unknown-rule"]
    assert caught.value.diagnostics[0].help == f"did you mean `{help}`?"


@pytest.mark.parametrize(("text", "slug"), [
    ("edge x = wrap edge x = wrap", "duplicate-edge"), ("edge x[0] = wrap edge x[0] = mirror", "duplicate-edge"),
    ("edge x = constant", "rule-value"), ("edge x = wrap(1)", "rule-value"), ("edge x[1] = wrap", "edge-target"),
    ("edge x[-1] = wrap", "edge-target"), ("edge c = wrap", "edge-target"), ("edge y = wrap", "edge-target"),
    ("edge q = wrap", "unknown-name"), ("edge x = constant(i)", "unknown-name"),
    ("edge x = constant(y[0])", "misused-name"),
    ("edge x = constant(sum(u) x[u])", "not-a-constant"), ("edge x = constant(x[0])", "out-of-bounds"),
    ("edge x = constant(true)", "type"), ("let g[] = 1.0 edge x = constant(g[])", "misused-name"),
])
def test_edges_that_are_refused(text: str, slug: str) -> None:
    assert [s for s, _ in refusals(body(f"{text} y[i] = x[i - 0 * i]"))] == [slug]


def test_both_rules_of_one_clause_are_looked_at() -> None:
    assert [s for s, _ in refusals(body("edge x[0] = (edge, zero) y[i] = x[i]"))] == ["unknown-rule"] * 2


# ---- linear forms


def test_the_linear_form_of_a_subscript() -> None:
    read = kernel(body("edge x = wrap y[i] = x[2*(i + N) - 3*M + 1 - (-i)]")).equations[0].value
    assert isinstance(read, Read)
    form = affine(read.indices[0])
    assert form == Affine((("i", 3),), (("M", -3), ("N", 2)), 1)
    assert form is not None
    assert (form.index("i"), form.index("j"), form.extent("M")) == (3, 0, -3)
    assert form.at({"i": 1, "M": 2, "N": 3}) == 4


@pytest.mark.parametrize("subscript", ["i * i", "i // 2", "i % 2", "min(i, 3)", "N * i"])
def test_what_has_no_linear_form(subscript: str) -> None:
    read = kernel(body(f"edge x = wrap y[i] = x[{subscript}]")).equations[0].value
    assert isinstance(read, Read)
    assert affine(read.indices[0]) is None


def test_the_proof_goes_on_without_an_equation_that_was_refused() -> None:
    text = "const R = q\nkernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] + R }"
    assert refusals(text) == [("unknown-name", "q")]
