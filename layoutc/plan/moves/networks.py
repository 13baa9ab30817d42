"""Registers rearranged differently in every thread, by few selects."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from layoutc.plan.moves.exchange import Numbers
from layoutc.plan.moves.nodes import Layer, selects_of

Network = tuple[tuple[Layer, ...], tuple[int, ...]]     # layers, the register that each wanted one is in afterwards


def rearranged(wanted: Numbers) -> Network:
    """Layers after which register ``index[k]`` of every thread holds what ``wanted[k, thread]`` names.

    The cheapest of: selects straight from the table; a barrel rotation, and the same by exclusive or, where every
    thread's arrangement is thread 0's, turned before or after by an amount of the thread's own.
    """
    count = len(wanted)
    if (wanted == wanted[:, :1]).all():
        return (), tuple(wanted[:, 0].tolist())
    direct = (rows_of(wanted),)
    best: Network = (direct, tuple(range(count)))
    if np.unique(wanted[:, 0]).size != count or wanted.max() >= count:
        return best
    first = wanted[:, 0]
    turned_first = np.argsort(first)[wanted]
    for network in (_rotation(wanted), _exclusive(wanted), *(
        _renamed(found, first) for found in (_rotation(turned_first), _exclusive(turned_first)) if found is not None
    )):
        if network is not None and _cost(network) < _cost(best):
            best = network
    return best


def _cost(network: Network) -> int:
    return sum(map(selects_of, network[0]))


def _renamed(network: Network, names: Numbers) -> Network:
    """The network of registers that are renamed first: register ``r`` is ``names[r]``."""
    first, *rest = network[0]
    return (rows_of(names[np.array(first)]), *rest), network[1]


def _rotation(wanted: Numbers) -> Network | None:
    """``wanted[k, thread] = (wanted[k, 0] + turn[thread]) % count``."""
    count = len(wanted)
    turn = (wanted[0] - wanted[0, 0]) % count
    if ((wanted[:, :1] + turn) % count != wanted).any():
        return None
    step = math.gcd(count, *turn.tolist())
    return _by_bits(wanted, turn // step, lambda registers, amounts: (registers + step * amounts) % count)


def _exclusive(wanted: Numbers) -> Network | None:
    """``wanted[k, thread] = wanted[k, 0] ^ turn[thread]``."""
    turn = wanted[0] ^ wanted[0, 0]
    if len(wanted) & (len(wanted) - 1) or (wanted[:, :1] ^ turn != wanted).any():
        return None
    return _by_bits(wanted, turn, lambda registers, amounts: registers ^ amounts)


def _by_bits(wanted: Numbers, turn: Numbers, turned: Callable[[Numbers, Numbers], Numbers]) -> Network:
    """A layer for every bit of the turn in which threads differ."""
    registers = np.arange(len(wanted))[:, None]
    amounts = [turn & 1 << bit for bit in range(int(turn.max()).bit_length())]
    layers = tuple(rows_of(turned(registers, amount)) for amount in amounts if amount.any())
    return layers, tuple(wanted[:, 0].tolist())


def rows_of(table: Numbers) -> Layer:
    """A table as tuples."""
    return tuple(map(tuple, table.tolist()))
