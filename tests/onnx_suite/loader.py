"""A model as a run of specs: views are NumPy's, whatever computes is a kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import onnx
from onnx import numpy_helper

import layoutc
from tests.onnx_suite.axes import arg_extreme, pad, reduce, transpose
from tests.onnx_suite.cases import OPERATORS, REDUCTIONS, Array, Case, Node
from tests.onnx_suite.convolutions import causal_conv, conv, conv_integer, conv_transpose, quantized_conv
from tests.onnx_suite.moves import depth_to_space, gather, gather_elements, gather_nd, slices, space_to_depth
from tests.onnx_suite.pools import average_pool, channel_norm, global_pool, lp_pool, max_pool
from tests.onnx_suite.sampling import grid_sample
from tests.onnx_suite.specs import Spec

WRITERS: dict[str, Callable[[Node], Spec]] = {
    "ArgMax": arg_extreme, "ArgMin": arg_extreme,
    "AveragePool": average_pool, "MaxPool": max_pool, "LpPool": lp_pool, "LRN": channel_norm,
    "GlobalAveragePool": global_pool, "GlobalMaxPool": global_pool,
    "Conv": conv, "ConvInteger": conv_integer, "QLinearConv": quantized_conv, "ConvTranspose": conv_transpose,
    "CausalConvWithState": causal_conv,
    "Pad": pad, "Transpose": transpose, "Slice": slices,
    "Gather": gather, "GatherElements": gather_elements, "GatherND": gather_nd, "GridSample": grid_sample,
    "DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth,
    **{f"Reduce{name}": reduce for name in REDUCTIONS},
}

Compute = Callable[[Spec], tuple[Array, ...]]


@cache
def kernel(text: str) -> layoutc.Kernel:
    """The one kernel of a text; cases that differ in extents alone share it."""
    found: layoutc.Kernel = layoutc.compile(text).node
    return found


def on(device: str) -> Compute:
    """Runs a spec on a device."""
    return lambda spec: _several(kernel(spec.text)(*spec.tensors, device=device))


def by_reference(spec: Spec) -> tuple[Array, ...]:
    """The NumPy meaning of a spec."""
    return _several(kernel(spec.text).reference(*spec.tensors))


def _several(given: object) -> tuple[Array, ...]:
    return given if isinstance(given, tuple) else (np.asarray(given),)


def outputs(case: Case, compute: Compute) -> tuple[Array, ...]:
    """What the model gives."""
    values: dict[str, Array | None] = {"": None}
    values |= {tensor.name: numpy_helper.to_array(tensor) for tensor in case.graph.initializer}
    asked = [value.name for value in case.graph.input if value.name not in values]
    values |= dict(zip(asked, case.inputs, strict=True))
    for proto in case.graph.node:
        node = Node(proto.op_type, {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute},
                    tuple(values[name] for name in proto.input), len(proto.output))
        made = compute(WRITERS[node.op](node)) if node.op in OPERATORS else (_view(node),)
        values |= dict(zip(proto.output, made, strict=True))
    return tuple(value for name in case.graph.output if (value := values[name.name]) is not None)


def _view(node: Node) -> Array:
    """What moves no element."""
    if node.op == "Constant":
        return numpy_helper.to_array(node.attributes["value"])
    x = node.tensor(0)
    match node.op:
        case "Unsqueeze":
            return np.expand_dims(x, node.ints("axes", ()))
        case "Squeeze":
            return np.squeeze(x, node.ints("axes", ()))
        case _:
            assert node.op == "Reshape"
            return x.reshape(tuple(int(extent) for extent in node.tensor(1)))
