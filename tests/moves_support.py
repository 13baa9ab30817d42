"""A catalogue of thread/value layouts, and what a plan is held against: written apart from the plans."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import permutations

from layoutc.layout import Layout, blocked, mma_a, mma_b, mma_c, striped, warp_striped
from layoutc.layout.composed import AnyLayout
from layoutc.plan.moves.exchange import Exchange

Slot = tuple[int, int]      # thread, item


def catalogue() -> dict[str, Layout]:
    """Layouts by name: blocked, striped, nested, permuted, of fragments, with copies, of parts of warps."""
    found: dict[str, Layout] = {}
    for threads, items in (
        (4, 3), (8, 4), (32, 2), (32, 3), (32, 4), (32, 8), (48, 5), (64, 6), (96, 4), (100, 3), (128, 16),
    ):
        found[f"blocked({threads}, {items})"] = blocked(threads, items)
        found[f"striped({threads}, {items})"] = striped(threads, items)
    for threads, items, lanes in (
        (8, 4, 4), (8, 4, 2), (64, 6, 32), (64, 6, 16), (96, 4, 32), (96, 4, 4), (128, 16, 32),
    ):
        found[f"warp_striped({threads}, {items}, {lanes})"] = warp_striped(threads, items, lanes)
    for text in (
        "(4,3):(3,-1)", "((2,2),3):((6,3),-1)", "(4,3):(-3,-1)", "(4,3):(-1,-4)",
        "((2,2),3):((6,3),1)", "((2,2),3):((1,6),2)",           # 12 positions
        "(8,(2,2)):(4,(2,1))", "((4,2),(2,2)):((1,16),(4,8))", "((2,4),4):((4,8),1)",           # 32
        "((2,16),3):((48,1),16)", "((16,2),3):((3,48),1)",                                      # 96
        "((4,8),(2,2)):((32,1),(16,8))", "((8,4),4):((4,32),1)", "((2,16),(2,2)):((2,4),(1,64))",   # 128
        "((4,8),(2,4)):((2,32),(1,8))", "((4,8),(4,2)):((1,32),(4,16))",                        # 256
        "((3,16),5):((80,5),1)", "((16,3),5):((1,80),16)",                                      # 240
        "((8,8),(3,2)):((6,48),(2,1))", "((2,32),(2,3)):((192,6),(3,1))",                       # 384
        "((32,3),4):((4,128),1)", "((3,32),4):((1,3),96)", "((2,48),(2,2)):((2,4),(1,192))",
        "((10,10),3):((1,30),10)",                                                              # 300
        "((32,4),(4,4)):((1,512),(32,128))", "((16,8),(8,2)):((8,256),(1,128))",                # 2048
        "(32,4):(0,1)", "((4,8),1):((1,0),0)", "((8,4),1):((0,1),0)", "((4,8),2):((1,0),0)", "(32,(4,2)):(0,(1,0))",
        "((2,16),2):((2,0),1)", "((2,16),2):((1,0),2)", "((16,2),(2,2)):((0,1),(2,0))",
        "((4,16),2):((2,0),1)", "((4,2,8),1):((1,4,0),0)", "((8,8),1):((1,0),0)", "((8,8),1):((0,1),0)",
        "(64,8):(0,1)", "((2,32),4):((4,0),1)",
        "((3,8),4):((4,0),1)", "((8,3),4):((0,1),3)", "((12,2),1):((1,0),0)", "(24,12):(0,1)",
    ):
        found[text] = Layout.parse(text)
    for name, M, N, K, type in (
        ("mma_a", 16, 8, 8, "f16"), ("mma_b", 16, 8, 16, "f16"), ("mma_c", 16, 8, 16, "f32"),
        ("mma_a", 16, 8, 8, "tf32"), ("mma_a", 16, 8, 16, "f16"), ("mma_b", 16, 8, 32, "i8"),
        ("mma_b", 16, 8, 8, "tf32"), ("mma_a", 16, 8, 16, "i8"),
    ):
        of = {"mma_a": mma_a, "mma_b": mma_b, "mma_c": mma_c}[name]
        found[f"{name}({M}, {N}, {K}, {type})"] = of(M, N, K, type)
    return found


def threads_of(layout: AnyLayout) -> int:
    return layout[0].size


def held(layout: AnyLayout) -> list[list[object]]:
    """The positions that every thread holds: what a right plan makes of a source's is the destination's."""
    values, threads = layout.values, threads_of(layout)
    return [list(values[thread::threads]) for thread in range(threads)]


def catalogue_pairs() -> list[tuple[str, str]]:
    """Names of all ordered pairs that hold the same positions with as many threads."""
    every = catalogue()
    kind = {name: (threads_of(layout), frozenset(layout.values)) for name, layout in every.items()}
    return [pair for pair in permutations(every, 2) if kind[pair[0]] == kind[pair[1]]]


def warp_local(exchange: Exchange) -> bool:
    """Whether every thread's warp holds all that it wants."""
    warps: dict[int, set[object]] = {}
    for thread, row in enumerate(held(exchange.source)):
        warps.setdefault(thread // exchange.warp, set()).update(row)
    return all(set(row) <= warps[thread // exchange.warp] for thread, row in enumerate(held(exchange.destination)))


def fewest_rounds(exchange: Exchange) -> int:
    """Of a pair without copies: the most items that a thread gives away, which are as many as it takes."""
    before, after = held(exchange.source), held(exchange.destination)
    return max(len(set(mine) - set(wanted)) for mine, wanted in zip(before, after, strict=True))


def edges_bound(exchange: Exchange) -> int:
    """The most values that any lane sends, counted for each receiver, or receives."""
    sent: Counter[int] = Counter()
    received: Counter[int] = Counter()
    for thread, row in enumerate(exchange.came_from):
        for slot in {slot for slot in row if slot[0] != thread}:
            sent[slot[0]] += 1
            received[thread] += 1
    return max([0, *sent.values(), *received.values()])


def slow_wavefronts(addresses: list[int], width: int) -> int:
    """Wavefronts of one access of a warp, lane by lane: 32 banks of 4 bytes, 128 bytes a phase."""
    row = min(addresses) // 128 * 128       # all rows of banks are alike
    return _wavefronts(tuple(address - row for address in addresses), width)


@cache
def _wavefronts(addresses: tuple[int, ...], width: int) -> int:
    lanes = 32 * 4 // max(width, 4)
    total = 0
    for first in range(0, len(addresses), lanes):
        words: dict[int, set[int]] = {}
        for address in addresses[first:first + lanes]:
            for byte in range(address, address + width):
                words.setdefault(byte // 4 % 32, set()).add(byte // 4)
        total += max(map(len, words.values()))
    return total
