"""Redistributions against what NumPy says they mean: drawn values, ranks, shapes and orders of threads."""

from __future__ import annotations

import json
import shlex
import time
from dataclasses import asdict, dataclass, replace
from math import prod
from secrets import randbits
from typing import Any

import hypothesis
import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from numpy.typing import NDArray

from layoutc.backend import MissingToolError, Run
from layoutc.calling.devices import choose_device
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.redistribution import Redistribution
from layoutc.reference import wrong_items
from layoutc.resolve.program import Redistribute
from layoutc.resolve.tiles import tile_shape
from layoutc.testing.fills import KINDS as FILLS
from layoutc.testing.fills import Fill

Array = NDArray[Any]

VIA = ("registers", "shuffle", "shared")
RANKS = ("permutation", "inside", "around", "one", "any")
RANK_TYPES = ("i32", "i64", "u8", "i8", "u32", "u64", "i16", "u16")
ORDERS = ("random", "ascending", "descending")
SHRINK_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class MoveCase:
    """A call.

    ``ranks``: every position once, where there are as many items; any inside; any inside or just outside; all the
    same; any integer of their type.
    """

    tiles: int | None = None        # None: one tile without an axis of tiles
    fill: str = "count"
    ranks: str = "permutation"
    rank_type: str = "i32"
    rank_seed: int = 0
    reverse: bool = False           # the arrays lie backwards in memory
    given: bool = False             # the output is given
    via: str | None = None          # the means insisted on; None: as the file says
    seed: int = 0                   # of the order of threads
    order: str = "random"

    def to_json(self) -> str:
        """One line; what is as usual is left out."""
        usual = asdict(MoveCase())
        return json.dumps({key: value for key, value in asdict(self).items() if value != usual[key]})

    @classmethod
    def from_json(cls, text: str, name: str) -> MoveCase:
        """The case of its text; LayoutcError where it is none."""
        try:
            case = cls(**json.loads(text))
            known = case.ranks in RANKS and case.rank_type in RANK_TYPES and case.via in (None, *VIA)
            if not known or case.order not in ORDERS:
                raise ValueError("it names something unknown")
            Fill.parse(case.fill)
            return case
        except (ValueError, TypeError, AttributeError) as error:
            raise LayoutcError([Diagnostic("bad-case", f"this is no case of `{name}`: {error}")]) from None


@dataclass(frozen=True, slots=True)
class MoveReport:
    """The result of testing one redistribution."""

    redistribution: Redistribution
    device: str
    seed: int
    examples: int
    means: tuple[str, ...]          # tested
    failure: tuple[MoveCase, str] | None = None

    @property
    def ok(self) -> bool:
        """Whether every example agreed."""
        return self.failure is None

    def text(self) -> str:
        """The report in lines, without a final newline."""
        name = self.redistribution.meaning.name
        if self.failure is None:
            examples = "1 example" if self.examples == 1 else f"{self.examples} examples"
            return (f"{name}: {examples} on {self.device} agree with NumPy (seed {self.seed})\n"
                    f"  means: {'; '.join(self.means)}\n  bit for bit: copies")
        case, what = self.failure
        words = ["layoutc", "test", self.redistribution.program.source.name, name, "--device", self.device,
                 "--case", case.to_json()]
        lines = [f"{name}: differs from its NumPy meaning (example {self.examples}, seed {self.seed})",
                 *(f"  {line}" for line in what.split("\n")), "  again:", f"    {' '.join(map(shlex.quote, words))}"]
        return "\n".join(lines)


def check_redistribution(
    redistribution: Redistribution, *, examples: int = 200, seed: int | None = None, all_means: bool = False,
    device: str = "auto",
) -> MoveReport:
    """Run a redistribution on drawn arguments and compare with its NumPy meaning.

    Args:
        redistribution: one of a module.
        examples: how many calls.
        seed: with the same one the same calls come again; None draws one, and the report says which.
        all_means: share the calls among all means that can be right, not only the one that is taken.
        device: ``auto``, ``cpu`` or ``cuda``.

    Raises:
        LayoutcError: the means insisted on cannot be right.
        MissingToolError: the device cannot be used.
    """
    seed = randbits(32) if seed is None else seed
    ways = _ways(redistribution, all_means)
    search = _Search(ways, choose_device(device, ()))
    search.run(examples, seed)
    return MoveReport(redistribution, search.device, seed, search.count, tuple(via or "as declared" for via in ways),
                      search.failure)


def check_move_case(redistribution: Redistribution, text: str, *, device: str = "auto") -> MoveReport:
    """Run the one case that a report's command names. Raises LayoutcError where the text is none."""
    case = MoveCase.from_json(text, redistribution.meaning.name)
    where = choose_device(device, ())
    wrong = run_move_case(_insisting(redistribution, case.via), case, where)
    failure = None if wrong is None else (case, wrong)
    return MoveReport(redistribution, where, 0, 1, (case.via or "as declared",), failure)


def _ways(redistribution: Redistribution, all_means: bool) -> dict[str | None, Redistribution]:
    ways: dict[str | None, Redistribution] = {None: redistribution}
    redistribution.plan     # noqa: B018 (what cannot be right is found here)
    for via in VIA if all_means else ():
        other = _insisting(redistribution, via)
        try:
            other.plan      # noqa: B018
        except LayoutcError:
            continue
        ways[via] = other
    return ways


def _insisting(redistribution: Redistribution, via: str | None) -> Redistribution:
    if via is None:
        return redistribution
    meaning = replace(redistribution.meaning, via=via)  # type: ignore[arg-type]
    return Redistribution(redistribution.program, meaning, redistribution.target)


class _FoundError(Exception):
    """Tells Hypothesis that a case fails."""


@dataclass(slots=True)
class _Search:
    ways: dict[str | None, Redistribution]
    device: str
    count: int = 0
    failure: tuple[MoveCase, str] | None = None
    found_at: float = 0.0

    def run(self, examples: int, seed: int) -> None:
        """Let Hypothesis look; what it finds, shrunk, is in ``failure``."""
        settings = hypothesis.settings(
            max_examples=examples, database=None, deadline=None, phases=(Phase.generate, Phase.shrink),
            print_blob=False, report_multiple_bugs=False, verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck))
        meaning = next(iter(self.ways.values())).meaning

        @hypothesis.seed(seed)
        @settings
        @hypothesis.given(cases(meaning, tuple(self.ways)))
        def look(case: MoveCase) -> None:
            if self.failure is None:
                self.count += 1
            elif time.monotonic() - self.found_at > SHRINK_SECONDS:
                return
            wrong = run_move_case(self.ways[case.via], case, self.device)
            if wrong is not None:
                self.found_at = self.found_at or time.monotonic()
                self.failure = case, wrong
                raise _FoundError(wrong)

        try:
            look()
        except (_FoundError, Flaky):
            return


def cases(r: Redistribute, means: tuple[str | None, ...] = (None,)) -> st.SearchStrategy[MoveCase]:
    """Calls of a redistribution, the plainest first."""
    seeds = st.integers(0, 2**16)
    fills = st.one_of(st.sampled_from(FILLS[:2]), st.builds("{}:{}".format, st.sampled_from(FILLS[2:]), seeds))
    ranked = r.kind != "exchange"
    return st.builds(
        MoveCase, tiles=st.sampled_from((None, 1, 2, 3, 5, 0)), fill=fills,
        ranks=st.sampled_from(RANKS if ranked else RANKS[:1]),
        rank_type=st.sampled_from(RANK_TYPES if ranked else RANK_TYPES[:1]), rank_seed=seeds if ranked else st.just(0),
        reverse=st.booleans(), given=st.booleans(), via=st.sampled_from(means), seed=seeds,
        order=st.sampled_from(ORDERS))


def run_move_case(redistribution: Redistribution, case: MoveCase, device: str) -> str | None:
    """What is wrong with a call, in lines; None if all is well."""
    r = redistribution.meaning
    outer = () if case.tiles is None else (case.tiles,)
    v = _laid(Fill.parse(case.fill).values((*outer, *tile_shape(r, "v")), r.type), case.reverse)
    ranks = () if r.kind == "exchange" else (_laid(_ranks(r, case, outer), case.reverse),)
    kept = [a.copy() for a in (v, *ranks)]
    out = _laid(np.zeros((*outer, *tile_shape(r, "out")), v.dtype), case.reverse) if case.given else None
    try:
        got = redistribution(v, *ranks, out=out, device=device, run=Run(case.seed, case.order))
    except MissingToolError:
        raise
    except LayoutcError as error:
        return str(error)
    if any(a.tobytes() != b.tobytes() for a, b in zip((v, *ranks), kept, strict=True)):
        return "an argument was changed"
    wrong = wrong_items(r, got, v, *ranks, limit=8)
    return "\n".join(map(str, wrong)) if wrong else None


def _laid(array: Array, reverse: bool) -> Array:
    """The same elements, from the last to the first in memory."""
    if not reverse:
        return array
    backwards = (slice(None, None, -1),) * array.ndim
    laid: Array = array[backwards].copy()[backwards]
    return laid


def _ranks(r: Redistribute, case: MoveCase, outer: tuple[int, ...]) -> Array:
    """Ranks of the kind that the case names, as far as their type holds them."""
    shape = (*outer, *tile_shape(r, "rank"))
    dtype = np.dtype(f"{case.rank_type[0]}{int(case.rank_type[1:]) // 8}")
    limits = np.iinfo(dtype)
    random = np.random.default_rng(case.rank_seed)
    positions = np.unique(r.source.values)
    match case.ranks:
        case "permutation":
            tiles = [np.resize(random.permutation(positions), shape[-2:]) for _ in range(prod(outer))]
            found = np.array(tiles, np.int64).reshape(shape)
        case "inside":
            found = random.choice(positions, shape)
        case "around":
            found = random.integers(positions[0] - 3, positions[-1] + 4, shape)
        case "one":
            found = np.full(shape, random.choice(positions))
        case _:
            return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return found.clip(max(limits.min, -(2**63)), min(limits.max, 2**63 - 1)).astype(dtype)
