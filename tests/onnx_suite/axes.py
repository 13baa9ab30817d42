"""Reductions, argmax and argmin, Transpose and Pad: operators of whole axes."""

from __future__ import annotations

from tests.onnx_suite.cases import Array, Node
from tests.onnx_suite.specs import Spec, highest, listed, lowest, names, spec, type_of

EDGES = {"constant": "constant", "edge": "nearest", "reflect": "mirror", "wrap": "wrap"}     # onnx's names, ours

# op: what each element gives, how they are put together, and what is made of it
REDUCTIONS = {
    "ReduceL1": ("abs({})", "sum", "{}"),
    "ReduceL2": ("{0}*{0}", "sum", "sqrt({})"),
    "ReduceLogSum": ("{}", "sum", "log({})"),
    "ReduceLogSumExp": ("exp({})", "sum", "log({})"),
    "ReduceMax": ("{}", "max", "{}"),
    "ReduceMean": ("{}", "sum", "({})/{type}({count})"),
    "ReduceMin": ("{}", "min", "{}"),
    "ReduceProd": ("{}", "prod", "{}"),
    "ReduceSum": ("{}", "sum", "{}"),
    "ReduceSumSquare": ("{0}*{0}", "sum", "{}"),
}


def reduce(node: Node) -> Spec:
    """Over some axes; no axes named are all, unless the node says that they are none."""
    x = node.tensor(0)
    axes, type = _axes(node, x), type_of(x)
    element, operation, finish = REDUCTIONS[node.op]
    edges: list[str] = []
    if operation in ("max", "min"):
        operation, edges = _extreme(type, operation)
    element = element.format(f"x[{listed(f'r{axis}' if axis in axes else f'i{axis}' for axis in range(x.ndim))}]")
    # one element past the end, where the edge is the identity: a maximum of nothing is that
    ranges = [f"r{axis} in 0..=X{axis}" if edges else f"r{axis}" for axis in axes]
    whole = f"{operation}({listed(ranges)}) {element}" if axes else element
    count = "*".join(f"X{axis}" for axis in axes) or "1"
    extents, indices = _kept(node, x.ndim, axes)
    return spec({}, [f"x: {type}[{listed(names('X', x.ndim))}]"], [f"y: {type}[{listed(extents)}]"],
                [*edges, f"y[{listed(indices)}] = {finish.format(whole, type=type, count=count)}"], [x])


def _extreme(type: str, operation: str) -> tuple[str, list[str]]:
    """The reduction and the edge that is its identity; of bools, any and all have one."""
    if type == "bool":
        return {"max": "any", "min": "all"}[operation], []
    return operation, [f"edge x = constant({lowest(type) if operation == 'max' else highest(type)})"]


def arg_extreme(node: Node) -> Spec:
    """The first or the last place of the greatest or the least."""
    x = node.tensor(0)
    axis = int(node.attributes.get("axis", 0)) % x.ndim
    operation = {"ArgMax": "argmax", "ArgMin": "argmin"}[node.op]
    last = bool(node.attributes.get("select_last_index", 0))
    place = f"X{axis} - 1 - r{axis}" if last else f"r{axis}"
    read = f"x[{listed(place if other == axis else f'i{other}' for other in range(x.ndim))}]"
    found = f"{operation}(r{axis} in 0..X{axis}) {read}"
    extents, indices = _kept(node, x.ndim, (axis,))
    return spec({}, [f"x: {type_of(x)}[{listed(names('X', x.ndim))}]"], [f"y: i64[{listed(extents)}]"],
                [f"require X{axis} >= 1", f"y[{listed(indices)}] = {f'X{axis} - 1 - ' if last else ''}{found}"], [x])


def _kept(node: Node, rank: int, axes: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """Extents and indices of the output; a reduced axis stays with an extent of 1, or goes."""
    keep = bool(node.attributes.get("keepdims", 1))
    kept = [axis for axis in range(rank) if keep or axis not in axes]
    return ["1" if axis in axes else f"X{axis}" for axis in kept], [f"i{axis}" for axis in kept]


def _axes(node: Node, x: Array) -> tuple[int, ...]:
    """From the attribute of old opsets or from the input of newer ones."""
    given = node.input(1)
    axes = node.ints("axes", ()) if given is None else tuple(int(axis) for axis in given)
    if not axes and not node.attributes.get("noop_with_empty_axes", 0):
        return tuple(range(x.ndim))
    return tuple(sorted(axis % x.ndim for axis in axes))


def transpose(node: Node) -> Spec:
    """Axis ``a`` of the output is axis ``perm[a]`` of the data."""
    x = node.tensor(0)
    order = node.ints("perm", tuple(reversed(range(x.ndim))))
    type = type_of(x)
    return spec({}, [f"x: {type}[{listed(names('X', x.ndim))}]"],
                [f"y: {type}[{listed(f'X{axis}' for axis in order)}]"],
                [f"y[{listed(f'i{axis}' for axis in order)}] = x[{listed(names('i', x.ndim))}]"], [x])


def pad(node: Node) -> Spec:
    """Where an axis has a negative pad it is cut; what is cut is still there to be reflected."""
    x = node.tensor(0)
    type, mode = type_of(x), bytes(node.attributes.get("mode", b"constant")).decode()
    low, high = _pads(node, x)
    value = node.input(2)
    edge, extra = EDGES[mode], []
    if edge == "constant":
        edge, extra = "constant(value[])", [_fill(node, x) if value is None else value.reshape(())]
    constants = {f"P{axis}": pad for axis, pad in enumerate(low)} | {f"Q{axis}": pad for axis, pad in enumerate(high)}
    return spec(constants,
                [f"x: {type}[{listed(names('X', x.ndim))}]", *(f"value: {type}[]" for _ in extra)],
                [f"y: {type}[{listed(f'X{axis} + P{axis} + Q{axis}' for axis in range(x.ndim))}]"],
                [f"edge x = {edge}",
                 f"y[{listed(names('i', x.ndim))}] = x[{listed(f'i{axis} - P{axis}' for axis in range(x.ndim))}]"],
                [x, *extra])


def _fill(node: Node, x: Array) -> Array:
    """The value of old opsets, an attribute."""
    fill: Array = x.dtype.type(node.attributes.get("value", 0))
    return fill


def _pads(node: Node, x: Array) -> tuple[list[int], list[int]]:
    """Of every axis, low and high; from the attribute of old opsets or from the inputs of newer ones."""
    given, chosen = node.input(1), node.input(3)
    pads = node.ints("pads", ()) if given is None else tuple(int(pad) for pad in given)
    axes = range(x.ndim) if chosen is None else [int(axis) % x.ndim for axis in chosen]
    low, high = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(axes):
        low[axis], high[axis] = pads[place], pads[len(pads)//2 + place]
    return low, high
