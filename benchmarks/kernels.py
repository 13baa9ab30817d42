"""Kernels without a schedule beside their peers: ``python benchmarks/kernels.py`` prints a table; needs a GPU.

Device events around one call, cold L2, random data, the median; a copy of as many bytes (256 MiB to 4 GiB) in turn.
Weights are asymmetric and sum to one. A result is compared with its NumPy meaning at small ragged extents, and with
the peers' results at the full ones, before anything is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers import PEERS, Call, peers_of
from rows import ROWS, Row

import layoutc
from layoutc.backend.cuda import cuda_problem
from layoutc.compare import compare
from layoutc.module import Kernel
from layoutc.resolve.program import Const, Tensor
from layoutc.tuning.bench import Bench, device_name
from layoutc.tuning.timing import emptied_cache, median_milliseconds

CLOSE = {"f32": 1e-4, "f64": 1e-10, "f16": 2e-2, "bf16": 5e-2}       # of the largest result, between peers


@dataclass(frozen=True, slots=True)
class Line:
    """A row's figures; those of peers are milliseconds."""

    row: Row
    milliseconds: float
    of_copy: float
    copy_gigabytes_per_second: float
    peers: dict[str, float]
    wrong: str = ""             # what differs, and from what; "" where all agree

    @property
    def reached(self) -> float:
        """In the row's unit."""
        match self.row.unit:
            case "ms":
                return self.milliseconds
            case "tflops":
                return self.row.operations / self.milliseconds / 1e9
        return self.of_copy

    @property
    def is_reached(self) -> bool:
        """Whether that is what was to be reached; True where nothing was said."""
        if self.row.to_reach is None:
            return True
        return self.reached <= self.row.to_reach if self.row.unit == "ms" else self.reached >= self.row.to_reach


def weights(tensor: Tensor, seed: int) -> np.ndarray[Any, Any] | None:
    """Asymmetric, of sum one, for a tensor of constant extents; None for any other."""
    shape = [e.value for e in tensor.extents if isinstance(e, Const)]
    if len(shape) < len(tensor.extents) or not tensor.type.is_float:
        return None
    drawn = np.random.default_rng(seed).uniform(0.5, 1.5, [int(n) for n in shape])
    return np.asarray(drawn / max(drawn.sum(), 1.0) if shape else 0.2)


def given_of(kernel: Kernel) -> dict[str, np.ndarray[Any, Any]]:
    """What is not drawn from the normal distribution, by the input's name."""
    made = {t.name: weights(t, n) for n, t in enumerate(kernel.meaning.inputs)}
    return {name: array for name, array in made.items() if array is not None}


def measured(row: Row, peers: Sequence[str]) -> Line:
    """All figures of a row."""
    kernel = layoutc.compile(row.text).k
    wrong = _small_difference(row, kernel)
    bench = Bench(kernel, row.extents, row.steps, given=given_of(kernel))
    figure = bench.measure()
    before = emptied_cache()
    times: dict[str, float] = {}
    for name, call in peers_of(row, bench.inputs, peers).items():
        wrong = wrong or _peer_difference(name, call, bench.outputs[0], kernel.meaning.outputs[0])
        times[name] = median_milliseconds(call, before)
    return Line(row, figure.milliseconds, figure.of_copy, figure.copy_gigabytes_per_second, times, wrong)


def _small_difference(row: Row, kernel: Kernel) -> str:
    bench = Bench(kernel, row.small, row.steps, given=given_of(kernel))
    bench.measure()
    if row.steps > 1:
        return ""           # the test suite compares steps
    inputs = tuple(a.get() for a in bench.inputs)
    found = compare(kernel.meaning, inputs, tuple(a.get() for a in bench.outputs))
    return f"NumPy: {found[0]}" if found else ""


def _peer_difference(name: str, call: Call, ours: Any, tensor: Tensor) -> str:
    import cupy

    theirs = cupy.from_dlpack(call()) if name != "cupy" else call()
    if ours.dtype.kind != "f":
        return ""
    a, b = ours.astype(cupy.float64), theirs.astype(cupy.float64)
    far, largest = float(cupy.abs(a - b).max()), float(cupy.abs(b).max())
    return f"{name}: by {far / largest:.2g} of the largest" if far > CLOSE[tensor.type.name] * largest else ""


COLUMNS = ("work", "layoutc, ms", "of copy", "reached", "to reach", "peers, ms", "times as fast", "wrong")


def as_markdown(lines: Sequence[Line]) -> str:
    """The table; bold is what was to be reached and was."""
    rows = [COLUMNS, ("---",) * len(COLUMNS), *map(_cells, lines)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _cells(line: Line) -> tuple[str, ...]:
    row = line.row
    unit = {"copy": "", "ms": " ms", "tflops": " TFLOP/s"}[row.unit]
    reached = f"{line.reached:.3f}{unit}"
    sign = "≤" if row.unit == "ms" else "≥"
    best = min(line.peers.values(), default=None)
    return (row.title, f"{line.milliseconds:.4f}", f"{line.of_copy:.3f}",
            f"**{reached}**" if row.to_reach is not None and line.is_reached else reached,
            "" if row.to_reach is None else f"{sign} {row.to_reach}{unit}",
            ", ".join(f"{name} {time:.3f}" for name, time in line.peers.items()),
            "" if best is None else f"{best / line.milliseconds:.2f}", line.wrong)


def lines_of(only: str, peers: Sequence[str]) -> list[Line]:
    """The rows whose title contains a word; one that cannot be planned is told on standard error."""
    import cupy

    lines = []
    for row in [r for r in ROWS if only in r.title]:
        begun = time.monotonic()
        try:
            lines.append(measured(row, peers))
            print(f"{row.title}: {time.monotonic() - begun:.1f} s", file=sys.stderr)
        except layoutc.LayoutcError as error:
            print(f"{row.title}: {error}", file=sys.stderr)
        cupy.get_default_memory_pool().free_all_blocks()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Kernels beside their peers, on this machine's GPU.")
    parser.add_argument("--only", default="", help="rows whose title contains this")
    parser.add_argument("--peers", default=",".join(PEERS), help=f"those to time, of {', '.join(PEERS)}; or none")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--markdown", type=Path, help="write the table there too")
    words = parser.parse_args()
    problem = cuda_problem()
    if problem:
        sys.exit(str(problem))
    lines = lines_of(words.only, [name for name in words.peers.split(",") if name != "none"])
    table = as_markdown(lines)
    print(f"{device_name()}\n\n{table}")
    if words.markdown:
        words.markdown.write_text(table + "\n", encoding="utf-8")
    if words.json:
        words.json.write_text(json.dumps({"device": device_name(), "rows": [asdict(line) for line in lines]}, indent=1))
    if any(line.wrong for line in lines):
        sys.exit("some results are wrong")


if __name__ == "__main__":
    main()
