"""What a function does, in the comment above it."""

from __future__ import annotations

from layoutc.plan.moves.by_rank import ByRank, GatherByShuffles, Ranked
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.moves.placement import Side


def comment(name: str, type: str, exchange: Exchange, move: Move | Ranked, tiles: bool = False) -> tuple[str, ...]:
    """The layouts, how values travel and at what cost, who must call it and what it synchronises."""
    return (
        f"{name}: {type}, {move.kind + ' ' if isinstance(move, Ranked) else ''}{exchange.source} -> "
        f"{exchange.destination}",
        *_means(exchange, move),
        *_call(name, exchange.threads, tiles),
        *_promises(exchange, move),
    )


def _call(name: str, threads: int, tiles: bool) -> tuple[str, ...]:
    called = f"Call it with all of a one-dimensional block of {threads} thread{'s' * (threads > 1)}"
    if not tiles:
        return (f"{called}; thread t is threadIdx.x.",)
    return (f"{called}, or as {name}<n>(...) of n * {threads}:", f"each {threads} have a tile; thread t of it is "
            f"threadIdx.x % {threads}.")


def comment_in_turns(name: str, other: str) -> tuple[str, ...]:
    """Of the function with two buffers."""
    return (
        f"{name}: as {other}, with one barrier a call and two buffers. Of calls that follow one another in a block",
        "each passes a turn that is even where the last one's was odd: 0, 1, 2, ...; the first may be either.",
    )


def _means(exchange: Exchange, move: Move | Ranked) -> tuple[str, ...]:
    match move:
        case Keep():
            return ("Nothing moves: every thread holds its items already.",)
        case RenameRegisters(_) if not move.selects:
            return ("Registers are renamed; nothing is executed.",)
        case RenameRegisters():
            return (f"Within each thread, by {move.selects} selects.",)
        case Shuffle():
            rounds = len(move.rounds)
            return (f"Within warps of {exchange.warp} lanes, by {rounds} shuffle{'s' * (rounds != 1)} and "
                    f"{move.selects} select{'s' * (move.selects != 1)} a thread.",)
        case ThroughShared():
            write, read = move.buffer.write, move.buffer.read
            slices = f", in {move.slices} slices" if move.slices > 1 else ""
            return (
                f"Through {move.elements * exchange.bytes} bytes of shared memory{slices}: "
                f"{write.vector} item{'s' * (write.vector > 1)} a store{_how(write)}, "
                f"{read.vector} a load{_how(read)};",
                f"wavefronts of the block: {write.wavefronts} to write (ideal {write.ideal}), "
                f"{read.wavefronts} to read (ideal {read.ideal}).",
            )
        case ByRank() | GatherByShuffles():
            return _by_rank(exchange, move)


def _how(side: Side) -> str:
    shuffled = " and a shuffle of every second word" * (side.shuffles > 0)
    return f" by columns of matrices{shuffled}" if side.columns else ""


def _by_rank(exchange: Exchange, move: Ranked) -> tuple[str, ...]:
    """What ranks mean, and where values wait."""
    meaning = {
        "scatter": ("rank[i] is the position in the tile that before[i] goes to; outside the tile it goes nowhere,",
                    "of several values for one position any arrives whole, and what none reaches becomes 0."),
        "gather": ("rank[i] is the position in the tile that after[i] comes from; outside the tile it becomes 0.",),
    }[move.kind]
    if isinstance(move, GatherByShuffles):
        return (*meaning, f"Within the warp, by {move.rounds} shuffle{'s' * (move.rounds > 1)} a thread.")
    slices = f", in {move.slices} slices" if move.slices > 1 else ""
    return (*meaning, f"Through {move.elements * exchange.bytes} bytes of shared memory{slices}.")


def _promises(exchange: Exchange, move: Move | Ranked) -> tuple[str, ...]:
    match move:
        case ThroughShared(barrier="block") | ByRank(barrier="block"):
            return ("It synchronises the block before it writes and before it reads: calls may follow one another,",
                    "and nothing else need be synchronised for it.")
        case ByRank():
            return ("The tile is one warp's, which it synchronises before it writes and before it reads:",
                    "calls may follow one another, and nothing else need be synchronised for it.")
        case ThroughShared():
            return ("No value leaves its warp: it synchronises each warp before it writes and before it reads;",
                    "calls may follow one another, and nothing else need be synchronised for it.")
        case Shuffle() | GatherByShuffles():
            return ("Its shuffles synchronise the warp; it uses no shared memory.",)
    return ("It synchronises nothing.",)
