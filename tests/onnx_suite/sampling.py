"""GridSample: reads at places that data decide, between the elements."""

from __future__ import annotations

from tests.onnx_suite.cases import Node
from tests.onnx_suite.specs import Spec, listed, names, spec, type_of

# Keys' cubic with a = -0.75 of a distance d
CUBIC = "where(d[{0}] <= 1, (1.25*d[{0}] - 2.25)*d[{0}]**2 + 1, ((-0.75*d[{0}] + 3.75)*d[{0}] - 6)*d[{0}] + 3)"


def grid_sample(node: Node) -> Spec:
    """-1 and 1 are the outer edges of the first and the last element, or their middles."""
    x, grid = node.tensor(0), node.tensor(1)
    rank, corners = x.ndim - 2, bool(node.attributes.get("align_corners", 0))
    mode = bytes(node.attributes.get("mode", b"linear")).decode()
    edge = {"zeros": "constant(0)", "border": "nearest", "reflection": "mirror" if corners else "reflect"}[
        bytes(node.attributes.get("padding_mode", b"zeros")).decode()]
    place = listed(["n", *names("i", rank)])
    body = [f"edge x = {edge}"]
    for axis in range(rank):
        at, extent = f"grid[{place}, {rank - 1 - axis}]", f"{type_of(grid)}(X{axis})"
        middle = f"({at} + 1)/2*({extent} - 1)" if corners else f"(({at} + 1)*{extent} - 1)/2"
        body.append(f"let p{axis}[{place}] = {middle}")
    body.append(f"y[n, c, {listed(names('i', rank))}] = {_interpolated(mode, rank, place, type_of(x))}")
    if mode == "cubic":
        body[-1:-1] = [line for axis in range(rank) for line in (
            f"let d{axis}[{place}, u] = abs(p{axis}[{place}] - floor(p{axis}[{place}]) + 1 - {type_of(x)}(u))",
            f"let w{axis}[{place}, u] = {CUBIC.format(f'{place}, u').replace('d[', f'd{axis}[')}")]
    return spec({}, [f"x: {type_of(x)}[N, C, {listed(names('X', rank))}]",
                     f"grid: {type_of(grid)}[N, {listed(names('Y', rank))}, {rank}]"],
                [f"y: {type_of(x)}[N, C, {listed(names('Y', rank))}]"], body, [x, grid])


def _interpolated(mode: str, rank: int, place: str, type: str) -> str:
    axes = range(rank)
    if mode == "nearest":
        return f"x[n, c, {listed(f'i64(round(p{axis}[{place}]))' for axis in axes)}]"
    taps, first = (4, " - 1") if mode == "cubic" else (2, "")
    weight = "w{0}[{1}, u{0}]" if mode == "cubic" else "(1 - abs(p{0}[{1}] - floor(p{0}[{1}]) - {2}(u{0})))"
    weights = "*".join(weight.format(axis, place, type) for axis in axes)
    read = listed(f"i64(floor(p{axis}[{place}])) + u{axis}{first}" for axis in axes)
    return f"sum({listed(f'u{axis} in 0..{taps}' for axis in axes)}) {weights} * x[n, c, {read}]"
