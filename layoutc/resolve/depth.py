"""How deep values nest, and room for walks over them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from layoutc.resolve.errors import Errors
from layoutc.resolve.program import Read, Stage, Value
from layoutc.resolve.trees import children

FRAMES = 20_000         # of Python's stack: values nest as deep as below, and each level takes a few calls
DEEPEST = 400           # of lets read through one another; what is written at one place nests less


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Python's limit of nested calls, raised for the time being."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def check_depth(stages: Sequence[Stage], errors: Errors) -> bool:
    """Whether no let nests too deep, those that it reads put in their places; the first that does is reported.

    ``stages`` stand in an order in which each reads only earlier ones.
    """
    depths: dict[str, int] = {}
    for stage in stages:
        depths[stage.name] = _depth(stage.value, depths)
        if depths[stage.name] > DEEPEST:
            errors.report(
                "lets-too-deep", stage.span,
                f"with the lets that it reads, `{stage.name}` nests more than {DEEPEST} deep", "too deep",
                help="make two kernels of it",
            )
            return False
    return True


def _depth(value: Value, depths: dict[str, int]) -> int:
    own = depths.get(value.tensor, 0) if isinstance(value, Read) else 0
    return 1 + max([own, *(_depth(child, depths) for child in children(value))])
