"""Gathers, slices, and channels that become places: copies whose subscripts say it all."""

from __future__ import annotations

from collections.abc import Sequence

from tests.onnx_suite.cases import Node
from tests.onnx_suite.specs import Spec, listed, names, spec, type_of


def gather(node: Node) -> Spec:
    """Slices of one axis, by indices of any rank; below 0 they count from the end, as under ``wrap``."""
    x, at = node.tensor(0), node.tensor(1)
    axis = int(node.attributes.get("axis", 0)) % x.ndim
    chosen, others = names("j", at.ndim), [f"i{other}" for other in range(x.ndim)]
    extents = [*names("X", x.ndim)[:axis], *names("J", at.ndim), *names("X", x.ndim)[axis + 1:]]
    read = [*others[:axis], f"at[{listed(chosen)}]", *others[axis + 1:]]
    return spec({}, _both(node, names("J", at.ndim)), [f"y: {type_of(x)}[{listed(extents)}]"],
                [f"edge x[{axis}] = wrap",
                 f"y[{listed([*others[:axis], *chosen, *others[axis + 1:]])}] = x[{listed(read)}]"], [x, at])


def gather_elements(node: Node) -> Spec:
    """An index for each element; the other axes may be shorter than the data's."""
    x, at = node.tensor(0), node.tensor(1)
    axis = int(node.attributes.get("axis", 0)) % x.ndim
    place = listed(names("i", x.ndim))
    read = [f"at[{place}]" if other == axis else f"i{other}" for other in range(x.ndim)]
    shorter = [f"J{other} <= X{other}" for other in range(x.ndim) if other != axis]
    return spec({}, _both(node, names("J", x.ndim)), [f"y: {type_of(x)}[{listed(names('J', x.ndim))}]"],
                [f"edge x[{axis}] = wrap", *([f"require {listed(shorter)}"] if shorter else []),
                 f"y[{place}] = x[{listed(read)}]"], [x, at])


def gather_nd(node: Node) -> Spec:
    """The last axis of the indices holds one position: of the axes after the batch's, as many as it is long."""
    x, at, batch = node.tensor(0), node.tensor(1), int(node.attributes.get("batch_dims", 0))
    count = at.shape[-1]
    chosen, rest = names("j", at.ndim - 1), [f"i{axis}" for axis in range(batch + count, x.ndim)]
    shape = [*names("X", batch), *names("J", at.ndim - 1)[batch:]]
    positions = [f"at[{listed([*chosen, str(part)])}]" for part in range(count)]
    return spec({}, _both(node, [*shape, str(count)]),
                [f"y: {type_of(x)}[{listed([*shape, *(f'X{axis}' for axis in range(batch + count, x.ndim))])}]"],
                ["edge x = wrap", f"y[{listed([*chosen, *rest])}] = x[{listed([*chosen[:batch], *positions, *rest])}]"],
                [x, at])


def _both(node: Node, indices: list[str]) -> list[str]:
    x, at = node.tensor(0), node.tensor(1)
    return [f"x: {type_of(x)}[{listed(names('X', x.ndim))}]", f"at: {type_of(at)}[{listed(indices)}]"]


def slices(node: Node) -> Spec:
    """First place, step and count of each axis: Python's slices say them."""
    x = node.tensor(0)
    starts, ends = _ints(node, 1, "starts", ()), _ints(node, 2, "ends", ())
    axes = [axis % x.ndim for axis in _ints(node, 3, "axes", range(len(starts)))]
    by = _ints(node, 4, "steps", [1] * len(starts))
    whole = [range(extent) for extent in x.shape]
    for axis, start, end, step in zip(axes, starts, ends, by, strict=True):
        whole[axis] = range(x.shape[axis])[start:_end(end, step, x.shape[axis]):step]
    constants = {f"{letter}{axis}": value for axis, places in enumerate(whole)
                 for letter, value in (("A", places.start), ("S", places.step), ("L", len(places)))}
    reach = listed(f"L{axis} == 0 or A{axis} >= 0 and A{axis} + S{axis}*(L{axis} - 1) >= 0 and "
                   f"max(A{axis}, A{axis} + S{axis}*(L{axis} - 1)) < X{axis}" for axis in range(x.ndim))
    return spec(constants, [f"x: {type_of(x)}[{listed(names('X', x.ndim))}]"],
                [f"y: {type_of(x)}[{listed(names('L', x.ndim))}]"],
                [f"require {reach}",
                 f"y[{listed(names('i', x.ndim))}] = x[{listed(f'A{a} + S{a}*i{a}' for a in range(x.ndim))}]"], [x])


def _ints(node: Node, place: int, attribute: str, otherwise: Sequence[int]) -> list[int]:
    """From the attribute of old opsets or from the input of newer ones."""
    given = node.input(place)
    return [int(value) for value in (node.ints(attribute, otherwise) if given is None else given)]


def _end(end: int, step: int, extent: int) -> int | None:
    """onnx counts an end below -extent as before the first element; Python has None for that."""
    return None if step < 0 and end < -extent else end


def depth_to_space(node: Node) -> Spec:
    """Blocks of channels become blocks of places; the block's position is the outer part of a channel, or the inner."""
    x, inner = node.tensor(0), bytes(node.attributes.get("mode", b"DCR")) == b"CRD"
    within = "(h % B*B + w % B)"
    channel = f"c*B*B + {within}" if inner else f"{within}*(C//(B*B)) + c"
    return spec({"B": int(node.attributes["blocksize"])}, [f"x: {type_of(x)}[N, C, H, W]"],
                [f"y: {type_of(x)}[N, C//(B*B), H*B, W*B]"],
                ["require C % (B*B) == 0", f"y[n, c, h, w] = x[n, {channel}, h//B, w//B]"], [x])


def space_to_depth(node: Node) -> Spec:
    """The way back."""
    x, inner = node.tensor(0), bytes(node.attributes.get("mode", b"DCR")) == b"CRD"
    channel, block = ("k//(B*B)", "k % (B*B)") if inner else ("k % C", "k//C")
    return spec({"B": int(node.attributes["blocksize"])}, [f"x: {type_of(x)}[N, C, H, W]"],
                [f"y: {type_of(x)}[N, C*B*B, H//B, W//B]"],
                ["require H % B == 0, W % B == 0",
                 f"y[n, k, h, w] = x[n, {channel}, h*B + {block}//B, w*B + {block} % B]"], [x])
