"""Ways for the arrays of a call to lie in memory, drawn beforehand so that a test picks among them.

The text of a kernel depends on whether neighbours along a tensor's last axis are neighbours in memory (``unit``);
each combination of that costs a compilation, so there are few combinations, and many forms in each.
"""

from __future__ import annotations

from random import Random

from layoutc.resolve.program import Kernel, Tensor
from layoutc.testing.memory import Form

FORMS = 16                      # a tensor, for each combination; the first is the plainest
OFFSETS = (0, 0, 0, 0, 0, 1, 2, 3)     # elements: an access takes 4 of most types
ALIGNMENTS = (1, 4, 4, 16)         # elements: rows that begin at whole vectors need not end there
PADS = (0, 0, 1, 2, 3, 4)       # elements

Choices = tuple[tuple[Form, ...], ...]      # per tensor, inputs first


def form_choices(kernel: Kernel, mixed: int, random: Random) -> tuple[Choices, ...]:
    """Combinations: all of unit stride but no further apart than alignment asks, all unit, none, some mixed."""
    tensors = (*kernel.inputs, *kernel.outputs)
    units = [(True,) * len(tensors), (False,) * len(tensors)]
    units += [tuple(random.random() < 0.5 for _ in tensors) for _ in range(mixed)]
    inputs = [n < len(kernel.inputs) for n in range(len(tensors))]
    plain = tuple(_plain_forms(t) for t in tensors)
    return (plain, *(
        tuple(_forms(t, unit, is_input, random) for t, unit, is_input in zip(tensors, wanted, inputs, strict=True))
        for wanted in units))


def plain_choices(kernel: Kernel) -> tuple[Choices, ...]:
    """Contiguous arrays alone."""
    return (tuple((Form(),) for _ in (*kernel.inputs, *kernel.outputs)),)


def _plain_forms(tensor: Tensor) -> tuple[Form, ...]:
    return tuple(Form(align=a) for a in sorted(set(ALIGNMENTS))) if len(tensor.extents) > 1 else (Form(),)


def _forms(tensor: Tensor, unit: bool, is_input: bool, random: Random) -> tuple[Form, ...]:
    rank = len(tensor.extents)
    if tensor.strides is not None or rank == 0:
        return tuple(Form(offset=o) for o in sorted(set(OFFSETS)))
    found = [Form()] if unit else [Form(pad=(0,) * (rank - 1) + (1,))]
    found += [_form(rank, unit, is_input, random) for _ in range(FORMS - 1)]
    return tuple(dict.fromkeys(found))


def _form(rank: int, unit: bool, is_input: bool, random: Random) -> Form:
    last = rank - 1
    order = (*random.sample(range(last), last), last)
    pad = (*(random.choice(PADS) for _ in range(last)), 0)
    reverse = tuple(axis for axis in range(last) if random.random() < 0.4)
    repeat = tuple(axis for axis in range(last) if is_input and random.random() < 0.15)
    if not unit:
        order, pad, reverse, repeat = _not_unit(order, pad, reverse, repeat, is_input, random)
    said = () if order == tuple(range(rank)) else order
    return Form(said, pad if any(pad) else (), reverse, repeat, random.choice(ALIGNMENTS), random.choice(OFFSETS))


Axes = tuple[int, ...]


def _not_unit(
    order: Axes, pad: Axes, reverse: Axes, repeat: Axes, is_input: bool, random: Random
) -> tuple[Axes, Axes, Axes, Axes]:
    """The last axis spread, reversed, repeated, or not the narrowest."""
    last = len(order) - 1
    match random.choice(("spread", "reversed", *(["wider"] if last else []), *(["repeated"] if is_input else []))):
        case "spread":
            pad = (*pad[:-1], random.choice((1, 2, 3)))
        case "reversed":
            reverse = (*reverse, last)
        case "repeated":
            repeat = (*repeat, last)
        case _:
            order = (last, *order[:-1])
    return order, pad, reverse, repeat
