"""Declarations in an order in which each needs only earlier ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def in_order(needs: Mapping[K, Sequence[K]]) -> tuple[list[K], list[list[K]]]:
    """The keys, each after those that it needs, and the circles of keys that need each other.

    Keys of a circle stand in the order too, wherever the walk left them. No key is in two of the circles given.
    """
    done: dict[K, None] = {}
    circles: list[list[K]] = []
    in_circle: set[K] = set()
    for start in needs:
        path: dict[K, Iterator[K]] = {} if start in done else {start: iter(needs[start])}
        while path:
            key, rest = next(reversed(path.items()))
            need = next((n for n in rest if n not in done), None)
            if need is None:
                done[key] = None
                del path[key]
            elif need in path:
                walked = list(path)
                circle = walked[walked.index(need) :]
                if in_circle.isdisjoint(circle):
                    circles.append(circle)
                in_circle.update(circle)
            else:
                path[need] = iter(needs[need])
    return list(done), circles
