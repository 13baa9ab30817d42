"""What texts mean as trees: precedence, words, numbers, places."""

from __future__ import annotations

import math

import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.parse.parser import parse
from layoutc.parse.syntax import (
    Access,
    Binary,
    Binder,
    Budget,
    Call,
    Constant,
    Edge,
    EdgeRule,
    Equation,
    Expression,
    Kernel,
    LayoutPair,
    Let,
    Name,
    Number,
    Range,
    Redistribute,
    Reduction,
    Require,
    Schedule,
    Spec,
    Stage,
    Step,
    Subscript,
    TensorDeclaration,
    Threads,
    ThreadsOver,
    Tile,
    Tuple,
    Unary,
)
from layoutc.source import Source
from tests.parse_examples import TEXTS
from tests.spec_strategies import KEYWORDS, NUMBER_WORDS, REDUCTIONS

A, B, C, D, INDEX, X = (Name(id) for id in "abcdix")
WORDS = (
    *KEYWORDS, *REDUCTIONS, "min", "max", "float", "threadIdx", "__shared__", "int", "for", "f32", "constant",
    "nearest",
)


def parsed(text: str) -> Spec:
    return parse(Source("<text>", text))


def expression(text: str) -> Expression:
    (declaration,) = parsed(f"const z = {text}").declarations
    assert isinstance(declaration, Constant)
    return declaration.value


def kernel(clauses: str) -> Kernel:
    (declaration,) = parsed(f"kernel k(x: f32[H]) -> (y: f32[H]) {{ {clauses} }}").declarations
    assert isinstance(declaration, Kernel)
    return declaration


def schedule(clauses: str) -> Schedule:
    (declaration,) = parsed(f"schedule k {{ {clauses} }}").declarations
    assert isinstance(declaration, Schedule)
    return declaration


def plus(a: Expression, b: Expression) -> Binary:
    return Binary("+", a, b)


def times(a: Expression, b: Expression) -> Binary:
    return Binary("*", a, b)


def over(body: Expression, op: str = "sum") -> Reduction:
    return Reduction(Name(op), (Binder(INDEX, None),), body)


@pytest.mark.parametrize("text", TEXTS)
def test_every_form_of_the_language_parses(text: str) -> None:
    assert parsed(text).declarations


@pytest.mark.parametrize(("text", "tree"), [
    ("a + b * c", plus(A, times(B, C))),
    ("(a + b) * c", times(plus(A, B), C)),
    ("a - b - c", Binary("-", Binary("-", A, B), C)),
    ("a // b % c", Binary("%", Binary("//", A, B), C)),
    ("-a**b", Unary("-", Binary("**", A, B))),
    ("a**-b**c", Binary("**", A, Unary("-", Binary("**", B, C)))),
    ("-a * b", times(Unary("-", A), B)),
    ("a == b + c", Binary("==", A, plus(B, C))),
    ("not a < b and c or d", Binary("or", Binary("and", Unary("not", Binary("<", A, B)), C), D)),
    ("a or b and c", Binary("or", A, Binary("and", B, C))),
    ("a == b:c + d", Binary("==", A, LayoutPair(B, plus(C, D)))),
    ("(a, b):(c, d)", LayoutPair(Tuple((A, B)), Tuple((C, D)))),
    ("(a,)", Tuple((A,))),
    ("(a, b,)", Tuple((A, B))),
    ("(a)", A),
    ("a[b][c]", Subscript(Subscript(A, (B,)), (C,))),
    ("a[]", Subscript(A, ())),
    ("a[b, c,]", Subscript(A, (B, C))),
    ("a(b)[c]", Subscript(Call(A, (B,)), (C,))),
    ("a()", Call(A, ())),
    ("-a[b]**c", Unary("-", Binary("**", Subscript(A, (B,)), C))),
])
def test_precedence(text: str, tree: Expression) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(("text", "tree"), [
    ("sum(i) a * b + c", plus(over(times(A, B)), C)),
    ("a * sum(i) b * c", times(A, over(times(B, C)))),
    ("a + sum(i) b", plus(A, over(B))),
    ("sum(i) a ** b", over(Binary("**", A, B))),
    ("sum(i) -a * b", over(times(Unary("-", A), B))),
    ("-sum(i) a * b", Unary("-", over(times(A, B)))),
    ("a ** sum(i) b * c", Binary("**", A, over(times(B, C)))),
    ("(sum(i) a) * b", times(over(A), B)),
    ("sum(i) sum(i) a * b", over(over(times(A, B)))),
    ("any(i) (a > b)", over(Binary(">", A, B), "any")),
    ("all(i) a and b", Binary("and", over(A, "all"), B)),
    ("count(i) a == b", Binary("==", over(A, "count"), B)),
    ("max(i) a", over(A, "max")),
    ("max(i,) a", over(A, "max")),
    ("max # a comment\n ( # another (\n i\n) a", over(A, "max")),
    ("max(i, a)", Call(Name("max"), (INDEX, A))),
    ("max(i + a)", Call(Name("max"), (plus(INDEX, A),))),
    ("max(a[i])", Call(Name("max"), (Subscript(A, (INDEX,)),))),
    ("max(pi)", Call(Name("max"), (Number(math.pi),))),
    ("min(i in a..b, c) d", Reduction(
        Name("min"), (Binder(INDEX, Range(A, B, False)), Binder(C, None)), D)),
    ("sum(i in -1..=a + 1) b", Reduction(
        Name("sum"), (Binder(INDEX, Range(Unary("-", Number(1)), plus(A, Number(1)), True)),), B)),
    ("argmin(in in 0..3) in", Reduction(
        Name("argmin"), (Binder(Name("in"), Range(Number(0), Number(3), False)),), Name("in"))),
])
def test_the_body_of_a_reduction_is_the_product_that_follows(text: str, tree: Expression) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(("text", "value"), [
    ("0", 0), ("007", 7), ("18446744073709551615", 2**64 - 1), ("0.5", 0.5), ("1e3", 1000.0), ("1.5E-3", 0.0015),
    ("2e+2", 200.0), ("true", True), ("false", False), ("inf", math.inf), ("pi", math.pi),
])
def test_numbers(text: str, value: float) -> None:
    number = expression(text)
    assert number == Number(value)
    assert isinstance(number, Number)
    assert type(number.value) is type(value)


def test_nan_is_a_number_equal_to_itself_as_a_tree() -> None:
    assert expression("nan") == expression("nan")
    number = expression("nan")
    assert isinstance(number, Number)
    assert math.isnan(number.value)


def test_two_points_are_a_range_not_a_float() -> None:
    assert expression("sum(i in 0..3) 1") == Reduction(
        Name("sum"), (Binder(INDEX, Range(Number(0), Number(3), False)),), Number(1))


@pytest.mark.parametrize("word", WORDS)
def test_a_keyword_may_name_anything(word: str) -> None:
    text = f"""
        const {word} = {word}
        layout {word} = {word}
        kernel {word}({word}: {word}[{word}]) -> ({word}: {word}[{word}]) {{
            edge {word} = {word}
            edge {word}[{word}] = ({word}, {word}({word}))
            require {word}
            let {word}[{word}, {word} in {word}..{word}] = {word}
            {word}[{word}] = {word}
            {word}[{word}] = sum({word}, {word} in {word}..{word}) {word}
            {word}[{word}] = min({word}) {word}[{word}] + max({word} in 0..{word}) {word}
            step {word} = {word}
            {word}[] = {word}[]
        }}
        schedule {word} as {word} {{
            tile ({word}: {word})
            threads ({word})
            threads over {word}
            stage {word} in {word}
            load {word} as {word}
            budget {word} {word}
            march {word}
            fuse {word}
            unroll {word}
        }}
        redistribute {word}: {word} = ({word}) -> {word} via {word} warp {word}
        assert {word} == {word}
    """
    names = set()
    for declaration in parsed(text).declarations:
        names.add(getattr(declaration, "name", Name(word)))
    assert names == {Name(word)}
    assert len(parsed(text).declarations) == 6


@pytest.mark.parametrize("word", NUMBER_WORDS)
def test_a_number_s_word_may_name_what_no_expression_mentions(word: str) -> None:
    (declaration,) = parsed(f"kernel {word}({word}: f32[H]) -> (y: f32[H]) {{ y[i] = {word}[i] }}").declarations
    assert isinstance(declaration, Kernel)
    assert declaration.clauses[0] == Equation(Name("y"), (INDEX,), Subscript(Name(word), (INDEX,)))


@pytest.mark.parametrize("text", [
    *(f"const {word} = 1" for word in (*NUMBER_WORDS, "and", "or", "not")),
    *(f"const a = sum({word}) 1" for word in (*NUMBER_WORDS, "and")), "kernel not() -> (y: i8[]) {}",
])
def test_reserved_words_cannot_be_names(text: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        parsed(text)
    assert [d.slug for d in caught.value.diagnostics] == ["reserved-name"]


def test_clauses_of_a_kernel() -> None:
    clauses = kernel("""
        edge x = nearest
        edge x[0] = constant(-inf);
        edge x[1] = (mirror, constant(c[]),)
        require a >= b, c
        let g[i in 0..a, b] = x[i]
        y[i, b + 1] = g[i] step x = y
    """).clauses
    assert clauses == (
        Edge(X, None, EdgeRule(Name("nearest"), None), None),
        Edge(X, Number(0), EdgeRule(Name("constant"), Unary("-", Number(math.inf))), None),
        Edge(X, Number(1), EdgeRule(Name("mirror"), None), EdgeRule(Name("constant"), Subscript(C, ()))),
        Require((Binary(">=", A, B), C)),
        Let(Name("g"), (Binder(INDEX, Range(Number(0), A, False)), Binder(B, None)), Subscript(X, (INDEX,))),
        Equation(Name("y"), (INDEX, plus(B, Number(1))), Subscript(Name("g"), (INDEX,))),
        Step(X, Name("y")),
    )


def test_a_kernel_s_tensors() -> None:
    (declaration,) = parsed("kernel k(x: f32[a, 8]:(8, 1), s: f32[],) -> (y: i8[a + 1]:2, z: i8[a],) {}").declarations
    f32, i8 = Name("f32"), Name("i8")
    assert isinstance(declaration, Kernel)
    assert declaration.inputs == (
        TensorDeclaration(X, f32, (A, Number(8)), Tuple((Number(8), Number(1)))),
        TensorDeclaration(Name("s"), f32, (), None),
    )
    assert declaration.outputs == (
        TensorDeclaration(Name("y"), i8, (plus(A, Number(1)),), Number(2)),
        TensorDeclaration(Name("z"), i8, (A,), None),
    )


def test_clauses_of_a_schedule() -> None:
    assert schedule("""
        tile (i: 16, x: a + 1,) threads 256; threads (a, b):(c, d) threads over x
        stage x in shared stage x in shared double stage x in shared halo global stage x in shared double halo global
        load x as a(b) store y as a budget shared 48 KiB budget shared a
    """).clauses == (
        Tile(((INDEX, Number(16)), (X, plus(A, Number(1))))),
        Threads(Number(256)),
        Threads(LayoutPair(Tuple((A, B)), Tuple((C, D)))),
        ThreadsOver(X),
        *(Stage(X, Name("shared"), halo, double) for halo, double in
          ((False, False), (False, True), (True, False), (True, True))),
        Access("load", X, Call(A, (B,))),
        Access("store", Name("y"), A),
        Budget(Name("shared"), Number(48), Name("KiB")),
        Budget(Name("shared"), A, None),
    )


@pytest.mark.parametrize(("tail", "via", "warp"), [
    ("", None, None), ("via shared", Name("shared"), None), ("warp 4", None, Number(4)),
    ("via shuffle warp 4", Name("shuffle"), Number(4)), ("warp 4 via shuffle", Name("shuffle"), Number(4)),
])
@pytest.mark.parametrize("kind", ["exchange", "scatter", "gather"])
def test_redistributions(kind: str, tail: str, via: Name | None, warp: Number | None) -> None:
    word = "" if kind == "exchange" else kind
    (declaration,) = parsed(f"redistribute r: f32 = {word} a(1, 2) -> b {tail}").declarations
    assert isinstance(declaration, Redistribute)
    assert declaration.kind == kind
    assert (declaration.via, declaration.warp) == (via, warp)
    assert (declaration.source, declaration.destination) == (Call(A, (Number(1), Number(2))), B)


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\r\n", "\r", "\f", " # comment \u2192 \x00\n", "\n\n#\n"])
def test_white_space_only_separates(blank: str) -> None:
    text = "const a = 2 * 3 ; kernel k ( x : f32 [ H ] ) -> ( y : f32 [ H ] ) { y [ i ] = sum ( u in 0 .. 3 ) x [ i ] }"
    assert parsed(text.replace(" ", blank)) == parsed(text)
    assert parsed(blank + text + blank) == parsed(text)


def test_semicolons_may_stand_anywhere_between_declarations_and_clauses() -> None:
    assert parsed(";;const a = 1;;schedule k{;tile(i: 1);;vector 4;};") == parsed(
        "const a = 1 schedule k { tile (i: 1) vector 4 }")


def test_a_byte_order_mark_before_the_text_is_nothing() -> None:
    assert parsed("\ufeffconst a = 1") == parsed("const a = 1")


def test_an_empty_text_is_an_empty_file() -> None:
    assert parsed("") == parsed("# nothing\n") == Spec(())


def test_every_node_knows_its_place() -> None:
    text = "const a = (b + c) * f(d)[1]  # end\nassert a"
    constant, assertion = parsed(text).declarations
    assert isinstance(constant, Constant)
    product = constant.value
    assert isinstance(product, Binary)

    def shown(node: Name | Expression | Constant) -> str:
        return text[node.span.start:node.span.end]

    assert shown(constant) == "const a = (b + c) * f(d)[1]"
    assert shown(constant.name) == "a"
    assert shown(product) == "(b + c) * f(d)[1]"
    assert shown(product.left) == "(b + c)"
    assert shown(product.right) == "f(d)[1]"
    assert text[assertion.span.start:] == "assert a"


def test_places_take_no_part_in_equality() -> None:
    assert parsed("const a = 1") == parsed("\n\n  const   a=1")
