"""A bipartite multigraph's edges in as few matchings as its greatest degree (D. Konig, 1916)."""

from __future__ import annotations

from collections import Counter


def colour(edges: list[tuple[int, int]], left: int, right: int) -> list[int]:
    """A colour for each edge (a, b), a < left, b < right; edges that meet differ; as many colours as the degree.

    An edge takes a colour free at both ends, or one free at ``a`` after the path of two colours from ``b`` is swapped.
    """
    degree = max([0, *Counter(a for a, _ in edges).values(), *Counter(b for _, b in edges).values()])
    at_left: list[dict[int, int]] = [{} for _ in range(left)]       # colour -> edge
    at_right: list[dict[int, int]] = [{} for _ in range(right)]
    colours = [-1] * len(edges)
    for number, (a, b) in enumerate(edges):
        free_a = next(c for c in range(degree) if c not in at_left[a])
        free_b = next(c for c in range(degree) if c not in at_right[b])
        if free_a != free_b:
            _swap_path(edges, colours, at_left, at_right, b, free_a, free_b)
        colours[number] = free_a
        at_left[a][free_a] = at_right[b][free_a] = number
    return colours


def _swap_path(
    edges: list[tuple[int, int]], colours: list[int], at_left: list[dict[int, int]], at_right: list[dict[int, int]],
    start: int, one: int, two: int,
) -> None:
    """Swap colours ``one`` and ``two`` along the path from right vertex ``start``, so that ``one`` is free there."""
    path = []
    on_right, vertex, wanted = True, start, one
    while (edge := (at_right if on_right else at_left)[vertex].get(wanted)) is not None:
        path.append(edge)
        vertex = edges[edge][0 if on_right else 1]
        on_right, wanted = not on_right, two if wanted == one else one
    for edge in path:
        a, b = edges[edge]
        del at_left[a][colours[edge]], at_right[b][colours[edge]]
    for edge in path:
        a, b = edges[edge]
        colours[edge] = two if colours[edge] == one else one
        at_left[a][colours[edge]] = at_right[b][colours[edge]] = edge
