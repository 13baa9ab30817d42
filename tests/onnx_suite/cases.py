"""The cases that onnx ships: generated ones, one node each, and models exported from PyTorch, weights inside."""

from __future__ import annotations

import importlib
import pickle
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.case import node as node_cases

from layoutc.cache import cached, key_of

Array = NDArray[Any]

REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")
# the operators whose cases are run, and the modules that make them
OPERATORS = {
    **{name: name.lower() for name in (
        "ArgMax", "ArgMin", "AveragePool", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "Gather",
        "GatherElements", "GatherND", "GlobalAveragePool", "GlobalMaxPool", "GridSample", "LRN", "LpPool", "MaxPool",
        "Pad", "QLinearConv", "Slice", "SpaceToDepth", "Transpose", *(f"Reduce{name}" for name in REDUCTIONS))},
    "CausalConvWithState": "causal_conv_with_state",
    "ReduceLogSum": "reduce_log_sum", "ReduceLogSumExp": "reduce_log_sum_exp",
}
VIEWS = ("Constant", "Reshape", "Squeeze", "Unsqueeze")     # what moves no element
FOLDERS = ("pytorch-converted", "pytorch-operator")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One operator: what it is called with, None for an input left out."""

    op: str
    attributes: Mapping[str, Any]
    inputs: tuple[Array | None, ...]
    outputs: int

    def ints(self, name: str, otherwise: Sequence[int]) -> tuple[int, ...]:
        """An attribute that is a list."""
        return tuple(self.attributes.get(name, otherwise))

    def input(self, place: int) -> Array | None:
        """An input that may be left out."""
        return self.inputs[place] if place < len(self.inputs) else None

    def tensor(self, place: int) -> Array:
        """An input that is never left out."""
        found = self.inputs[place]
        assert found is not None
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A model with what goes in and what must come out, to the tolerances that onnx asks for."""

    name: str
    graph: onnx.GraphProto
    inputs: tuple[Array | None, ...]
    expected: tuple[Array, ...]
    rtol: float
    atol: float

    @property
    def op(self) -> str:
        """The operator that the case is about."""
        return str(next(node.op_type for node in self.graph.node if node.op_type in OPERATORS))


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case that is made of one of the OPERATORS alone (and of views), in a fixed order.

    onnx takes ten seconds to compute its own answers: one process does, and those beside it read them.
    """
    def build(target: Path) -> None:
        target.write_bytes(pickle.dumps((*_generated(), *(case for folder in FOLDERS for case in _stored(folder)))))

    key = key_of([Path(__file__).read_bytes(), onnx.__version__, np.__version__])
    found: tuple[Case, ...] = pickle.loads(cached(key, ".cases", build).read_bytes())
    return found


def _generated() -> Iterator[Case]:
    """Those of ``collect_testcases``; importing a module makes its cases, and all of them would take ten seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")     # theirs, of infinities made by a division
        for module in OPERATORS.values():
            importlib.import_module(f"{node_cases.__name__}.{module}")
    for case in node_cases._NodeTestCases:
        if not _is_ours(case.model.graph):
            continue
        for inputs, outputs in case.data_sets:
            wanted = tuple(np.asarray(output) for output in outputs)
            yield Case(case.name, case.model.graph, tuple(inputs), wanted, case.rtol, case.atol)


def _stored(folder: str) -> Iterator[Case]:
    root = Path(onnx.__file__).parent / "backend" / "test" / "data" / folder
    for path in sorted(root.iterdir()):
        graph = onnx.load(path / "model.onnx").graph
        if not _is_ours(graph):
            continue
        for data in sorted(path.glob("test_data_set_*")):
            inputs, outputs = (tuple(map(_read, sorted(data.glob(f"{way}_*.pb")))) for way in ("input", "output"))
            yield Case(f"{folder}/{path.name}", graph, inputs, outputs, 1e-3, 1e-7)


def _is_ours(graph: onnx.GraphProto) -> bool:
    ops = [node.op_type for node in graph.node if node.op_type not in VIEWS]
    return len(ops) == 1 and ops[0] in OPERATORS


def _read(path: Path) -> Array:
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)
