"""Redistributions beside CUB's: ``python benchmarks/redistribute.py`` prints a table; needs a GPU.

Picoseconds an item and conversion over the whole GPU. Blocks of 256 threads keep their items in registers over many
rounds of one launch; a round is a conversion and an exclusive or of every item with the round's number, so that no
round can be left out. ``loop`` is the same kernel without conversions: what the harness itself takes. Of items of 1 and
2 bytes that exclusive or, and putting them into words and taking them out again, is most of a round; *by words* it is
one of 32 bits, as if the items had come by wide loads, and what is timed is the conversion itself. Results are
compared with NumPy's before they are timed. layoutc's kernels call the very functions of ``--stage header``; ``in
turns`` is the one with two buffers. CUB's column is blank where nvcc, or CUB, is not found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from cub_peer import Peer, change_text, load_peers

import layoutc
from layoutc.backend.cuda import cuda_problem, load_cuda
from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import ArrayParam, CudaSource, Entry, ScalarParam
from layoutc.redistribution import Redistribution
from layoutc.tuning.bench import device_name
from layoutc.tuning.timing import median_milliseconds

THREADS = 256
BLOCKS = 132 * 16
ROUNDS = 1024
CHECKED_ROUNDS = 5
C_TYPES = {"i8": "signed char", "i16": "short", "i32": "int", "i64": "long long"}
MEANS = ("shuffle", "shared")
CAPTION = f"picoseconds an item and conversion, {THREADS} threads a block; bold: reached"

LOOP = """\
KERNEL({threads}) {entry}(const {type}* in, {type}* out, int rounds) {{
    {type} v[{items}];
    UNROLL
    for (int i = 0; i < {items}; ++i) v[i] = in[(blockIdx.x * {threads} + threadIdx.x) * {items} + i];
    for (int r = 0; r < rounds; ++r) {{
        {call}
{change}
    }}
    UNROLL
    for (int i = 0; i < {items}; ++i) out[(blockIdx.x * {threads} + threadIdx.x) * {items} + i] = v[i];
}}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """One conversion; ``form`` is the peer's."""

    form: str
    type: str
    items: int
    to_reach: float

    @property
    def name(self) -> str:
        """An identifier."""
        return f"{self.form}_{self.type}_{self.items}".replace("-", "_")

    @property
    def title(self) -> str:
        """The conversion in words."""
        words = {"block": "block, blocked → striped", "block-to-warp-striped": "block, blocked → warp-striped"}
        return f"{words.get(self.form, 'one warp, blocked → striped')}, {self.type}, {self.items} items"

    @property
    def destination(self) -> str:
        """Its layout; the warps of a block, each on its own, are a warp-striped block."""
        return f"striped({THREADS}, {self.items})" if self.form == "block" else (
            f"warp_striped({THREADS}, {self.items}, 32)")

    @property
    def narrow(self) -> bool:
        """Whether several items fill a word."""
        return numpy_dtype(self.type).itemsize < 4

    def change(self, by_words: bool) -> str:
        """What a round does besides."""
        return change_text(C_TYPES[self.type], self.items, numpy_dtype(self.type).itemsize, by_words)

    def peer(self, by_words: bool = False) -> Peer:
        """CUB's kernel."""
        name = f"peer_{self.name}{'_by_words' * by_words}"
        return Peer(name, self.form, C_TYPES[self.type], self.items, THREADS, self.change(by_words))

    def redistribution(self, via: str | None = None) -> Redistribution:
        """layoutc's."""
        means = f" via {via}" if via else ""
        text = f"redistribute {self.name}: {self.type} = blocked({THREADS}, {self.items}) -> {self.destination}{means}"
        found = layoutc.compile(text)[self.name]
        assert isinstance(found, Redistribution)
        return found

    def converted(self, held: np.ndarray) -> np.ndarray:
        """``held[block, thread, item]`` after one conversion."""
        lanes = THREADS if self.form == "block" else 32
        tiles = held.reshape(-1, self.items, lanes)
        return np.ascontiguousarray(tiles.transpose(0, 2, 1)).reshape(held.shape)


CASES = (
    *(Case("block", "i32", items, 0.27) for items in (2, 3, 4, 5, 7)),
    *(Case("block", "i32", items, 0.262) for items in (8, 12, 16)),
    *(Case("block-to-warp-striped", "i32", items, 0.25) for items in (4, 8, 12)),
    Case("warp", "i32", 2, 0.17), Case("warp", "i32", 3, 0.20),
    *(Case("warp", "i32", items, 0.25) for items in (4, 8, 12)),
    Case("warp-shuffle", "i32", 32, 0.30),
    Case("block", "i16", 8, 0.15), Case("block", "i16", 12, 0.15), Case("block", "i8", 16, 0.09),
    Case("warp", "i16", 8, 0.14), Case("warp", "i8", 16, 0.08), Case("block", "i64", 8, 0.55),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """Times of a case in picoseconds an item and conversion; None where there was nothing to time."""

    case: Case
    via: str
    layoutc: float
    cub: float | None
    loop: float
    in_turns: float | None      # layoutc's with two buffers and one barrier, where the header has it
    means: dict[str, float]     # layoutc's when it is told which means to take
    by_words: float | None = None       # of narrow items: layoutc's better one, and CUB's
    cub_by_words: float | None = None


Launch = Callable[[Any, Any, int], object]      # in, out, rounds


def loop_text(case: Case, call: str, by_words: bool = False) -> str:
    """The kernel that makes a call again and again."""
    return LOOP.format(threads=THREADS, entry=f"loop_{case.name}", type=C_TYPES[case.type], items=case.items, call=call,
                       change=case.change(by_words))


def looping(case: Case, header: str, call: str, by_words: bool = False) -> Launch:
    """That kernel, compiled, after the header that it needs."""
    entry = f"loop_{case.name}"
    params = (ArrayParam("in", case.type, False), ArrayParam("out", case.type, True), ScalarParam("rounds", "i32"))
    source = CudaSource(f"{entry}.cu", header + loop_text(case, call, by_words), (Entry(entry, THREADS, params),))
    module = load_cuda(source)
    return lambda held, target, rounds: module.launch(entry, BLOCKS, (held, target, rounds))


def picoseconds(case: Case, launch: Launch, source: Any, checked: bool = True) -> float:
    """Of an item and conversion, once the results are right."""
    import cupy

    target = cupy.full_like(source, 85)
    if checked:
        launch(source, target, CHECKED_ROUNDS)
        wanted = cupy.asnumpy(source)
        for r in range(CHECKED_ROUNDS):
            wanted = case.converted(wanted) ^ wanted.dtype.type(r)
        if not np.array_equal(cupy.asnumpy(target), wanted):
            raise SystemExit(f"{case.title}: wrong results")
    milliseconds = median_milliseconds(lambda: launch(source, target, ROUNDS))
    return milliseconds * 1e9 / (int(source.size) * ROUNDS)


def measured(case: Case, peers: dict[str, Any]) -> Figure:
    """All times of one case."""
    import cupy

    def of_cub(by_words: bool) -> float | None:
        kernel = peers.get(case.peer(by_words).name)
        return None if kernel is None else picoseconds(
            case, lambda a, b, rounds: kernel((BLOCKS,), (THREADS,), (a, b, np.int32(rounds))), source)

    dtype = numpy_dtype(case.type)
    limits = np.iinfo(dtype)
    held = np.random.default_rng(1).integers(limits.min, limits.max, (BLOCKS, THREADS, case.items), dtype, True)
    source = cupy.asarray(held)
    chosen = case.redistribution()
    via = str(chosen.explain()["redistribute"][0]["via"])  # type: ignore[index]
    means = {}
    for name in MEANS if case.form != "block" else ("shared",):
        insisted = case.redistribution(name)
        means[name] = picoseconds(case, looping(case, insisted.header, f"{case.name}(v, v);"), source)
    own, in_turns = own_times(case, chosen.header, source, by_words=False)
    loop = picoseconds(case, looping(case, "", ""), source, checked=False)
    found = Figure(case, via, own, of_cub(False), loop, in_turns, means)
    if not case.narrow:
        return found
    times = own_times(case, chosen.header, source, by_words=True)
    return replace(found, by_words=min(time for time in times if time is not None), cub_by_words=of_cub(True))


def own_times(case: Case, header: str, source: Any, by_words: bool) -> tuple[float, float | None]:
    """layoutc's function, and the one in turns if there is one."""
    calls = [f"{case.name}(v, v);"]
    if f"{case.name}_in_turns(" in header:
        calls.append(f"{case.name}_in_turns(v, v, r);")
    times = [picoseconds(case, looping(case, header, call, by_words), source) for call in calls]
    return times[0], times[1] if len(times) > 1 else None


COLUMNS = ("conversion", "means", "CUB", "layoutc", "in turns", "to reach", "of CUB's time", "loop", "by shuffles",
           "through shared", "CUB by words", "layoutc by words")


def as_markdown(figures: list[Figure]) -> str:
    """The table; bold is what was to be reached, "of CUB's time" is the better of the two columns of layoutc."""
    lines = [COLUMNS, ("---",) * len(COLUMNS), *map(_row, figures)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(f: Figure) -> tuple[str, ...]:
    best = f.layoutc if f.in_turns is None else min(f.layoutc, f.in_turns)
    return (f.case.title, f.via, _number(f.cub), _number(f.layoutc, f.case.to_reach),
            _number(f.in_turns, f.case.to_reach), f"≤ {f.case.to_reach}",
            "" if f.cub is None else f"{best / f.cub:.2f}", _number(f.loop),
            *(_number(f.means.get(name)) for name in MEANS), _number(f.cub_by_words),
            _number(f.by_words, f.case.to_reach))


def _number(value: float | None, to_reach: float = 0.0) -> str:
    if value is None:
        return ""
    return f"**{value:.3f}**" if value <= to_reach else f"{value:.3f}"


def figures_of(only: str) -> list[Figure]:
    """The cases whose name contains a word."""
    import cupy

    cases = [case for case in CASES if only in case.name]
    wanted = [case.peer(by_words) for case in cases for by_words in (False, True)[:1 + case.narrow]]
    peers = load_peers(wanted, f"sm_{cupy.cuda.Device().compute_capability}")
    return [measured(case, peers) for case in cases]


def main() -> None:
    parser = argparse.ArgumentParser(description="Redistributions beside CUB's, on this machine's GPU.")
    parser.add_argument("--json", type=Path, help="write the figures there too")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    words = parser.parse_args()
    problem = cuda_problem()
    if problem:
        sys.exit(str(problem))
    figures = figures_of(words.only)
    print(f"{device_name()}: {CAPTION}\n")
    print(as_markdown(figures))
    if words.json:
        words.json.write_text(
            json.dumps({"device": device_name(), "figures": [asdict(f) for f in figures]}, indent=1))


if __name__ == "__main__":
    main()
