"""The best schedules found so far, per device, kernel and class of shapes, kept for this user."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from layoutc.module import Kernel
from layoutc.plan.moves.costs import measured_path


def place_of(kernel: Kernel, extents: Mapping[str, int], device: str) -> str:
    """The name under which a kernel's best schedule is kept: shapes of a class differ by less than a factor of 2."""
    meaning = sha256(repr(kernel.with_schedule(None).meaning).encode()).hexdigest()[:16]
    classes = ",".join([f"{name}=2^{n.bit_length() - 1}" for name, n in extents.items() if n])
    return f"{device}: {kernel.meaning.name} {meaning} {classes}"


def remembered(place: str) -> str | None:
    """The clauses kept there; None where there are none, or the file cannot be read."""
    found = _read().get(place)
    return found if isinstance(found, str) else None


def remember(place: str, clauses: str) -> Path:
    """Keep clauses; where."""
    path = tunings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps({**_read(), place: clauses}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(beside, path)
    return path


def tunings_path() -> Path:
    """``tunings.json`` beside the measured costs."""
    return measured_path().with_name("tunings.json")


def _read() -> dict[str, Any]:
    try:
        found = json.loads(tunings_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
