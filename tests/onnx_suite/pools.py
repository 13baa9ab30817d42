"""Pools: of windows, of all of the data, and of neighbouring channels."""

from __future__ import annotations

from collections.abc import Iterable

from tests.onnx_suite.cases import Array, Node
from tests.onnx_suite.specs import Spec, listed, lowest, names, spec, type_of
from tests.onnx_suite.window import Window


def _pooled(node: Node) -> tuple[Array, Window, dict[str, int], str]:
    """The data, the window, the constants, and the ranges of the taps."""
    x = node.tensor(0)
    window = Window.of(node, x.ndim - 2)
    sizes = dict(zip(names("K", window.rank), node.attributes["kernel_shape"], strict=True))
    return x, window, {**sizes, **window.constants}, listed(f"u{axis} in 0..K{axis}" for axis in range(window.rank))


def max_pool(node: Node) -> Spec:
    """With a second output, where in the data the greatest lies, counted with the last axis fastest or slowest."""
    x, window, constants, taps = _pooled(node)
    type, place = type_of(x), f"n, m, {listed(names('i', window.rank))}"
    shape = f"[N, C, {listed(window.extents())}]"
    read = f"x[n, m, {listed(window.places())}]"
    outputs, body = [f"y: {type}{shape}"], [f"edge x = constant({lowest(type)})", f"y[{place}] = max({taps}) {read}"]
    if node.outputs > 1:
        outputs.append(f"at: i64{shape}")
        body += [f"let a[{place}] = argmax({taps}) {read}",
                 f"at[{place}] = {_position(window, place, bool(node.attributes.get('storage_order', 0)))}"]
    return spec(constants, [f"x: {type}[N, C, {listed(names('X', window.rank))}]"], outputs, body, [x])


def _position(window: Window, place: str, first_axis_fastest: bool) -> str:
    """From the tap that ``a`` counts row-major to the position in the data."""
    axes = range(window.rank)
    terms = [_product(["(n*C + m)", *names("X", window.rank)])]
    for axis in axes:
        inner = _product(["1", *(f"K{later}" for later in axes if later > axis)])
        tap = f"(a[{place}]//({inner})%K{axis})"
        faster = [other for other in axes if (other < axis if first_axis_fastest else other > axis)]
        place_of_tap = window.places()[axis].replace(f"u{axis}", tap)
        terms.append(_product([f"({place_of_tap})", *(f"X{other}" for other in faster)]))
    return " + ".join(terms)


def _product(factors: Iterable[str]) -> str:
    return "*".join(factors)


def average_pool(node: Node) -> Spec:
    """The sum of the taps over how many of them lie in the data, or in the data with its pads."""
    x, window, constants, taps = _pooled(node)
    type, with_pads = type_of(x), bool(node.attributes.get("count_include_pad", 0)) and window.auto == "NOTSET"
    low, high = ("-P{0}", "X{0} + Q{0}") if with_pads else ("0", "X{0}")
    inside = " and ".join(f"{place} >= {low.format(axis)} and {place} < {high.format(axis)}"
                          for axis, place in enumerate(window.places()))
    total = f"(sum({taps}) x[n, m, {listed(window.places())}])"
    return spec(constants, [f"x: {type}[N, C, {listed(names('X', window.rank))}]"],
                [f"y: {type}[N, C, {listed(window.extents())}]"],
                ["edge x = constant(0)",
                 f"y[n, m, {listed(names('i', window.rank))}] = {total} / {type}(count({taps}) ({inside}))"],
                [x])


def global_pool(node: Node) -> Spec:
    """All of the data in one window."""
    x = node.tensor(0)
    type, rank = type_of(x), x.ndim - 2
    read = f"x[n, m, {listed(names('u', rank))}]"
    taps = listed(f"u{axis} in 0..X{axis}" for axis in range(rank))
    value = {"GlobalMaxPool": f"max({taps}) {read}",
             "GlobalAveragePool": f"(sum({taps}) {read}) / {type}({_product(names('X', rank))})"}[node.op]
    return spec({}, [f"x: {type}[N, C, {listed(names('X', rank))}]"], [f"y: {type}[N, C, {listed(['1'] * rank)}]"],
                [f"require {listed(f'{extent} >= 1' for extent in names('X', rank))}",
                 f"y[n, m, {listed(names('i', rank))}] = {value}"],
                [x])


def lp_pool(node: Node) -> Spec:
    """The p-th root of the sum of p-th powers."""
    x, window, constants, taps = _pooled(node)
    type, power = type_of(x), int(node.attributes.get("p", 2))
    total = f"sum({taps}) abs(x[n, m, {listed(window.places())}])**POWER"
    return spec({"POWER": power, **constants}, [f"x: {type}[N, C, {listed(names('X', window.rank))}]"],
                [f"y: {type}[N, C, {listed(window.extents())}]"],
                ["edge x = constant(0)", f"y[n, m, {listed(names('i', window.rank))}] = pow({total}, 1/{type}(POWER))"],
                [x])


def channel_norm(node: Node) -> Spec:
    """LRN: each element over a power of the squares around it, along the channels."""
    x = node.tensor(0)
    type, spatial = type_of(x), listed(names("i", x.ndim - 2))
    alpha, beta, bias = (float(node.attributes.get(name, value)) for name, value in
                         (("alpha", 1e-4), ("beta", 0.75), ("bias", 1.0)))
    squares = f"sum(u in 0..SIZE) x[n, m + u - (SIZE - 1)//2, {spatial}]**2"
    return spec({"SIZE": int(node.attributes["size"])}, [f"x: {type}[N, C, {listed(names('X', x.ndim - 2))}]"],
                [f"y: {type}[N, C, {listed(names('X', x.ndim - 2))}]"],
                ["edge x = constant(0)",
                 f"let s[n, m, {spatial}] = {squares}",
                 f"y[n, m, {spatial}] = x[n, m, {spatial}] / pow({bias} + {alpha}/SIZE*s[n, m, {spatial}], {beta})"],
                [x])
