"""The arrays of a redistribution: ``v`` and ``out`` hold a row a thread, ``rank`` goes with one of them."""

from __future__ import annotations

from collections.abc import Sequence

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Redistribute

Shape = tuple[int, ...]


def inputs_of(r: Redistribute) -> tuple[str, ...]:
    """The names of its arguments."""
    return ("v",) if r.kind == "exchange" else ("v", "rank")


def tile_shape(r: Redistribute, argument: str) -> tuple[int, int]:
    """``(threads, items)`` of one tile of ``v``, ``rank`` or ``out``."""
    before = argument == "v" or (argument == "rank" and r.kind == "scatter")
    return r.threads, r.items[0 if before else 1]


def bind_tiles(r: Redistribute, shapes: Sequence[Sequence[int]]) -> Shape:
    """``()`` for one tile, ``(tiles,)`` for several, from the shapes of the arguments.

    Raises LayoutcError (``argument-count``, ``extent-mismatch``) where they do not fit the redistribution.
    """
    names = inputs_of(r)
    if len(shapes) != len(names):
        raise _mismatch("argument-count", f"`{r.name}` takes {' and '.join(names)}; {len(shapes)} were given")
    found: list[Shape] = []
    for name, shape in zip(names, shapes, strict=True):
        wanted = tile_shape(r, name)
        if len(shape) not in (2, 3) or tuple(shape[-2:]) != wanted:
            one = f"({wanted[0]}, {wanted[1]})"
            raise _mismatch("extent-mismatch", f"`{name}` has shape {tuple(shape)}, and a tile of it {one}",
                            f"pass {one} for one tile, or (tiles, {one[1:]} for several")
        found.append(tuple(shape[:-2]))
    if len(set(found)) > 1:
        raise _mismatch("extent-mismatch", f"`v` holds {_tiles(found[0])} and `rank` {_tiles(found[1])}")
    return found[0]


def _tiles(outer: Shape) -> str:
    return f"{outer[0]} tiles" if outer else "one tile without an axis of tiles"


def _mismatch(slug: str, message: str, help: str = "") -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message, help=help)])
