"""What a strategy would cost, by one model for all: bytes that warps ask for, over how much of the machine works.

Extents known only at the call count as ``NOMINAL``: strategies are compared, no time is foretold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from layoutc.index import Expr, Int, Name, terms
from layoutc.plan.machine import SECTOR, WARP
from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.reads.subscripts import as_index
from layoutc.resolve.program import Equation, Kernel

NOMINAL = 256           # of an extent that is known at the call
BUSY_THREADS = 2**16    # that keep the machine's memory busy
OPERATION = 1.6         # clocks of a lane for one on 32 bits, of the best kernels on an H200
BYTE = 7.8              # clocks of a lane in which its share of an H200's memory moves one


def nominal_extents(kernel: Kernel) -> dict[str, Expr]:
    """Every extent by its name."""
    return {name: Int(NOMINAL) for name in kernel.extents}


def nominal_outputs(kernel: Kernel, equation: Equation) -> int:
    """How many elements an equation makes."""
    output = next(t for t in kernel.outputs if t.name == equation.output)
    return prod(max(_number(as_index(n, nominal_extents(kernel))), 1) for n in output.extents)


def nominal_along(kernel: Kernel, equation: Equation, axis: int) -> int:
    """How many elements an equation makes along one of its indices."""
    output = next(t for t in kernel.outputs if t.name == equation.output)
    return _number(as_index(output.extents[axis], nominal_extents(kernel)))


def cost_of(
    kernel: Kernel, equations: Sequence[Equation], along: str | None, threads: float,
    shared: Mapping[str, float] | None = None,
) -> float:
    """Bytes that all warps ask memory for, as if the whole machine were asked for them.

    ``along`` is the index (of the outputs or of a reduction) in which the lanes of a warp are neighbours, None where
    each warp has one thread at work; ``threads`` are at work at a time. ``shared``: of tensors that wait in shared
    memory, the bytes that one access of one output comes to.
    """
    types = {t.name: t.type for t in kernel.inputs}
    accesses = Accesses(kernel, extents=nominal_extents(kernel))
    bytes = 0.0
    for equation in equations:
        outputs = nominal_outputs(kernel, equation)
        for access, times in accesses.of(equation):
            each = (shared or {}).get(access.tensor)
            if each is None:
                each = _bytes(access.indices, along, types[access.tensor].bytes)
            bytes += outputs * max(times, 1) * each
    return bytes / busy(threads)


def busy(elements: float) -> float:
    """How much of the machine's memory works where so many elements are on their way at a time."""
    return min(1.0, elements / BUSY_THREADS)


def _bytes(subscripts: tuple[Expr | None, ...], along: str | None, size: int) -> float:
    """Bytes that one lane's element costs: its own where neighbours read neighbours, a sector where they do not."""
    if along is None or None in subscripts:
        return SECTOR
    steps = [abs(sum(c for factor, c in terms(s) if isinstance(factor, Name) and factor.id.split("#")[0] == along))
             for s in subscripts if s is not None]
    if not any(steps):
        return SECTOR / WARP
    return SECTOR if any(steps[:-1]) else min(SECTOR, size * steps[-1])


def _number(e: Expr | None) -> int:
    return e.value if isinstance(e, Int) else NOMINAL
