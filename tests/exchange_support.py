"""Redistributions as texts: many in one, run with tiles of random bits, held to the permutation itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import CudaSource
from layoutc.layout import Layout, blocked, mma_a, mma_b, mma_c, striped, warp_striped
from layoutc.lines import fold_lines
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.redistribution import RedistributionPlan, plan_redistribution
from layoutc.plan.steps import File
from layoutc.render import render_redistribution, render_step
from layoutc.resolve.types import TYPES

Array = NDArray[Any]
MEANS = ("registers", "shuffle", "shared")
TYPE_NAMES = ("f32", "u8", "i64", "f16", "bool", "i32", "f64", "bf16", "i8", "u16", "u64", "i16", "u32")


@dataclass(frozen=True, slots=True)
class Case:
    """A redistribution to be tried by every means that can be right."""

    source: Layout
    destination: Layout
    warp: int = 32


def case(source: str | Layout, destination: str | Layout, warp: int = 32) -> Case:
    a, b = (Layout.parse(side) if isinstance(side, str) else side for side in (source, destination))
    return Case(a, b, warp)


def six_ways(threads: int, items: int, lanes: int) -> list[Case]:
    sides = (blocked(threads, items), striped(threads, items), warp_striped(threads, items, lanes))
    return [Case(a, b, lanes) for a in sides for b in sides if a is not b]


CASES = [
    *six_ways(64, 4, 32), *six_ways(128, 3, 32), *six_ways(48, 5, 16),
    *(Case(blocked(32, 4), warp_striped(32, 4, lanes), lanes) for lanes in (2, 4, 8, 16, 32)),
    *(Case(warp_striped(64, items, 32), blocked(64, items)) for items in (2, 6, 8, 16)),
    Case(blocked(128, 16), striped(128, 16)), Case(striped(96, 12), blocked(96, 12)),
    case("(4,3):(3,1)", "(4,3):(1,4)", 4), case("((2,2),3):((6,3),1)", "((2,2),3):((1,6),2)", 4),
    case("(1,6):(0,1)", "(1,(2,3)):(0,(3,1))"), case("(8,(2,2)):(4,(2,1))", "(8,4):(4,1)"),
    case("(8,1):(-1,0)", "((2,4),1):((-4,-1),0)"), case("(4,3):(-3,-1)", "(4,3):(-1,-4)"),
    case("((4,8),(2,4)):((2,32),(1,8))", "((4,8),(4,2)):((1,32),(4,16))"),
    case("((2,16),3):((48,1),16)", "((16,2),3):((3,48),1)"),
    case("((16,3),5):((1,80),16)", "((3,16),5):((80,5),1)"), case("(100,3):(3,1)", "((10,10),3):((1,30),10)"),
    # partial last warps whose values stay in them
    case("((8,5),3):((3,24),1)", "((8,5),3):((1,24),8)"), case("((8,5),3):((3,24),1)", "((8,5),3):((1,24),8)", 8),
    # far apart, and around zero
    case("(32,4):(4000,1000)", "(32,4):(1000,32000)"), case("(32,4):(4,-70)", "((2,16),4):((64,4),-70)"),
    # fragments of tensor cores
    Case(mma_c(16, 8, 16, "f32"), blocked(32, 4)), Case(mma_a(16, 8, 16, "f16"), mma_b(16, 8, 32, "i8")),
    Case(mma_c(16, 8, 8, "f32"), mma_a(16, 8, 8, "f16")), Case(striped(32, 8), mma_a(16, 8, 16, "f16")),
    # copies in a source, in a destination, in both, across threads, warps and items
    case("((2,16),4):((0,4),1)", "(32,2):(1,32)"), case("((16,2),4):((4,0),1)", "((2,16),2):((32,1),16)"),
    case("(64,8):(0,1)", "(64,8):(0,1)"), case("(64,(4,2)):(0,(1,4))", "(64,(2,4)):(0,(4,1))"),
    case("((2,32),4):((0,4),1)", "((2,32),4):((0,1),32)"), case("(32,(2,4)):(4,(0,1))", "(32,4):(1,32)"),
    case("((2,16,2),4):((0,4,64),1)", "((32,2),2):((1,64),32)"), case("(64,4):(0,1)", "(64,(4,2)):(0,(1,0))"),
    case("(32,4):(4,1)", "((4,8),(4,2)):((32,4),(1,0))"), case("((8,4),1):((0,1),0)", "((4,8),1):((1,0),0)"),
    case("((3,8),4):((0,4),1)", "((8,3),(4,2)):((4,0),(1,0))"), case("(64,4):(1,1)", "(64,4):(1,1)"),
    case("(40,3):(2,1)", "(40,(3,2)):(2,(1,0))"),
]

# narrow items that whole warps load or store by columns of matrices, of every count that one access can have
BY_COLUMNS = [
    ("i16", Case(blocked(128, 8), striped(128, 8))), ("f16", Case(blocked(64, 8), warp_striped(64, 8, 32))),
    ("bf16", Case(striped(128, 8), blocked(128, 8))), ("u16", Case(blocked(64, 16), striped(64, 16))),
    ("f16", Case(mma_a(16, 8, 16, "f16"), mma_b(16, 8, 32, "i8"))),
    ("i16", case("((2,16),(2,2)):((2,4),(1,64))", "((4,8),(2,2)):((32,1),(16,8))")),
    ("u16", case("((2,48),(2,2)):((2,4),(1,192))", "((3,32),4):((1,3),96)")),
    ("i16", Case(mma_b(16, 8, 8, "tf32"), blocked(32, 2))),
    ("i8", Case(blocked(64, 16), striped(64, 16))), ("u8", Case(blocked(64, 8), warp_striped(64, 8, 32))),
    ("bool", Case(blocked(32, 4), striped(32, 4))), ("i8", Case(blocked(64, 2), striped(64, 2))),
    ("u8", Case(mma_a(16, 8, 16, "f16"), striped(32, 8))),
    ("i8", case("((16,8),(8,2)):((8,256),(1,128))", "((32,4),(4,4)):((1,512),(32,128))")),
]


def planned(name: str, one: Case, type: str, via: str | None) -> RedistributionPlan:
    exchange = Exchange(one.source, one.destination, TYPES[type].bytes, one.warp)
    return plan_redistribution(name, exchange, "exchange", TYPES[type], via, Target())


def by_every_means(cases: Sequence[Case]) -> list[RedistributionPlan]:
    """Each case by each means that can be right; the item types go round."""
    plans = []
    for number, one in enumerate(cases):
        for k, via in enumerate(MEANS):
            plan = planned(f"case_{number}_{via}", one, TYPE_NAMES[(number + k * 5) % len(TYPE_NAMES)], via)
            plans += [plan] if plan.move is not None else []
    return plans


def by_columns() -> list[RedistributionPlan]:
    """Those cases, through shared memory."""
    return [planned(f"columns_{number}", one, type, "shared") for number, (type, one) in enumerate(BY_COLUMNS)]


def together(name: str, plans: Sequence[RedistributionPlan]) -> CudaSource:
    """One text of many redistributions."""
    functions = tuple(f for plan in plans if plan.file is not None for f in plan.file.functions)
    entries = tuple(render_redistribution(plan).entries[0] for plan in plans)
    return CudaSource(name, fold_lines(render_step(File((), "i64", functions))) + "\n", entries)


def held(layout: Layout, tiles: Array) -> Array:
    """What threads hold of tiles, ``[tiles, thread, item]``; ``tiles[tile, position - least]``."""
    places = np.array(layout.values).reshape(layout[1].size, layout[0].size).T - layout.least
    return np.ascontiguousarray(tiles[:, places])


def random_tiles(type: str, tiles: int, layout: Layout, seed: int) -> Array:
    """A value of any bits for every position."""
    dtype = numpy_dtype(type)
    rng = np.random.default_rng(seed)
    if type == "bool":
        return rng.integers(0, 2, (tiles, layout.cosize)).astype(bool)
    return rng.integers(0, 256, (tiles, layout.cosize, dtype.itemsize), np.uint8).view(dtype)[..., 0]


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def in_place() -> tuple[str, str]:
    """A pattern of the kernels' ``after`` and what makes ``before`` serve for both."""
    pattern = r"(?m)^        \w+ after\[\d+\];\n        (\w+)\(before, after\);\n((?:.*\n){0,3}?.*)= after\[(\w+)\];"
    return pattern, r"        \1(before, before);\n\2= before[\3];"
