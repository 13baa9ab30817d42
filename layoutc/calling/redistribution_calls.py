"""One call of a redistribution: arguments checked, the output made, tiles dealt to blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from layoutc.backend import CpuModule, Module, Run, guarded
from layoutc.backend.types import numpy_dtype
from layoutc.calling.arguments import Array, as_array, as_output, as_ranks, overlap, refuse
from layoutc.calling.devices import check_launch, choose_device, stream_of, to_gpu
from layoutc.compiler import load_module
from layoutc.cuda_source import ArrayParam, CudaSource
from layoutc.plan.redistributions.redistribution import RedistributionPlan
from layoutc.render import render_redistribution
from layoutc.resolve.program import Const, Redistribute, Tensor
from layoutc.resolve.tiles import bind_tiles, inputs_of, tile_shape
from layoutc.resolve.types import I64

TILES_A_BLOCK = 2       # one after another, as a user's kernel would


def tensor_of(r: Redistribute, name: str) -> Tensor:
    """One tile of ``v``, ``rank`` or ``out`` as a tensor; ranks are of any integer type."""
    return Tensor(name, I64 if name == "rank" else r.type, tuple(Const(n, I64) for n in tile_shape(r, name)))


@dataclass
class RedistributionCaller:
    """A redistribution that has been planned."""

    meaning: Redistribute
    plan: RedistributionPlan
    _modules: dict[str, Module] = field(default_factory=dict)

    @cached_property
    def source(self) -> CudaSource:
        """The text."""
        return render_redistribution(self.plan)

    def __call__(
        self, values: Sequence[object], out: object, stream: object, device: str, run: Run | None
    ) -> Array:
        """What threads hold afterwards; ``device`` is auto, cpu or cuda, ``run`` says how the CPU's threads are run."""
        r = self.meaning
        names = inputs_of(r)
        if len(values) != len(names):
            raise refuse("argument-count", f"`{r.name}` takes {' and '.join(names)}; {len(values)} were given")
        v, *ranks = values
        inputs = [as_array(tensor_of(r, "v"), v), *map(as_ranks, ranks)]
        outer = bind_tiles(r, [a.shape for a in inputs])
        if device not in ("auto", "cpu", "cuda"):
            raise refuse("unknown-device", f"there is no device `{device}`", "use auto, cpu or cuda")
        check_launch(stream, run)
        where = choose_device(device, inputs if out is None else [*inputs, out])
        shape = (*outer, *tile_shape(r, "out"))
        target = None if out is None else as_output(tensor_of(r, "out"), out, shape)
        tiles = outer[0] if outer else 1
        if where == "cuda":
            result = self._run_cuda(inputs, target, shape, tiles, stream)
        else:
            result = self._run_cpu(inputs, target, shape, tiles, run)
        return result if out is None else out

    def _run_cpu(
        self, inputs: list[Array], target: Array | None, shape: tuple[int, ...], tiles: int, run: Run | None
    ) -> Array:
        arrays = self._passed([np.ascontiguousarray(a) for a in inputs], np.empty(shape, self._dtype))
        held = [guarded(a, keep_strides=True) for a in arrays]
        self._launch("cpu", held, tiles, run)
        if target is None:
            return held[-1].array
        target[...] = held[-1].array
        return target

    def _run_cuda(
        self, inputs: list[Array], target: Array | None, shape: tuple[int, ...], tiles: int, stream: object
    ) -> Array:
        import cupy

        with stream_of(stream):
            sent = [cupy.ascontiguousarray(to_gpu(a) if isinstance(a, np.ndarray) else a) for a in inputs]
            usable = not isinstance(target, np.ndarray | None) and _is_apart(target, sent)
            arrays = self._passed(sent, target if usable else cupy.empty(shape, self._dtype))
            self._launch("cuda", arrays, tiles, None)
            result = arrays[-1]
            if target is None:
                return cupy.asnumpy(result) if all(isinstance(a, np.ndarray) for a in inputs) else result
            if not usable:
                target[...] = cupy.asnumpy(result) if isinstance(target, np.ndarray) else result
            return target

    @property
    def _dtype(self) -> np.dtype[Any]:
        return numpy_dtype(self.meaning.type.name)

    def _passed(self, inputs: list[Array], out: Array) -> list[Array]:
        """The arrays in the order of the entry's parameters, ranks in the type that it takes; the output is last."""
        types = [p.type for p in self.source.entries[0].params if isinstance(p, ArrayParam)]
        ranks = [fitted(a, numpy_dtype(type)) for a, type in zip(inputs[1:], types[1:], strict=False)]
        return [inputs[0], *ranks, out]

    def _launch(self, device: str, arrays: Sequence[Any], tiles: int, run: Run | None) -> None:
        if device not in self._modules:
            self._modules[device] = load_module(self.source, device)
        module = self._modules[device]
        if run is not None and isinstance(module, CpuModule):
            module = module.with_run(run)
        if tiles:
            module.launch(self.source.entries[0].name, -(-tiles // TILES_A_BLOCK), [*arrays, tiles])


def _is_apart(target: Array, inputs: Sequence[Array]) -> bool:
    """Whether a kernel may write there: elements side by side, none of them an input's."""
    return bool(target.flags.c_contiguous) and not any(overlap(target, a) for a in inputs)


def fitted(rank: Array, dtype: np.dtype[Any]) -> Array:
    """Ranks in another type; those that it does not hold become its least, which lies in no tile."""
    if np.can_cast(rank.dtype, dtype, "safe"):
        return rank.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    wide = np.iinfo(rank.dtype)
    inside = (rank >= max(limits.min, wide.min)) & (rank <= min(limits.max, wide.max))
    out = rank.astype(dtype)
    out[~inside] = limits.min
    return out
