"""What lies around an array by the language's edge rules, as NumPy's ``pad`` has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

Mode = Literal["edge", "symmetric", "reflect", "wrap"]
MODES: dict[str, Mode] = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect", "wrap": "wrap"}


def padded(x: np.ndarray[Any, Any], room: int | Sequence[tuple[int, int]], rule: str) -> np.ndarray[Any, Any]:
    """So many elements more before and behind each axis; of ``constant(7)`` the number."""
    made: np.ndarray[Any, Any]
    if rule.startswith("constant"):
        made = np.pad(x, room, constant_values=float(rule.removeprefix("constant(").removesuffix(")")))
    else:
        made = np.pad(x, room, mode=MODES[rule])
    return made
