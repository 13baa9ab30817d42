"""What a user would pick instead, as functions of the same arrays; only those that are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rows import Row

Call = Callable[[], Any]        # does the work once and gives the result
PEERS = ("cupy", "torch", "triton")


def peers_of(row: Row, inputs: Sequence[Any], names: Sequence[str]) -> dict[str, Call]:
    """By name, of :data:`PEERS`; nothing where a package is missing or does not know the work."""
    known: dict[str, Callable[[Row, Sequence[Any]], Call | None]] = {
        "cupy": _cupy, "torch": _torch, "triton": _triton}
    found: dict[str, Call] = {}
    for name in names:
        try:
            call = known[name](row, inputs)
        except ImportError:
            continue
        if call is not None:
            found[name] = call
    return found


def _cupy(row: Row, inputs: Sequence[Any]) -> Call | None:
    return array_peer(row, inputs, importlib.import_module("cupy"), importlib.import_module("cupyx.scipy.ndimage"))


def array_peer(row: Row, inputs: Sequence[Any], arrays: Any, image: Any) -> Call | None:
    """By an array package and its image filters: CuPy's, or NumPy and scipy.ndimage."""
    x = inputs[0]
    match row.peer:
        case "box" | "box_3d":
            return lambda: image.correlate(x, inputs[1], mode="constant")
        case "laplace":
            return lambda: image.laplace(x, mode="reflect")
        case "separable":
            w = inputs[1]
            return lambda: image.correlate1d(image.correlate1d(x, w, axis=1, mode="constant"), w, axis=0,
                                             mode="constant")
        case "maximum":
            return lambda: image.maximum_filter(x, size=3, mode="nearest")
        case "median":
            return lambda: image.median_filter(x, size=3, mode="nearest")
        case "star":
            weights = arrays.asarray(star_weights(inputs[1].tolist()))
            return lambda: image.correlate(x, weights, mode="constant")
        case "transpose" | "fields":
            return lambda: arrays.ascontiguousarray(x.T)
        case "sum_all" | "sum_rows" | "sum_columns":
            axis = {"sum_all": None, "sum_rows": 1, "sum_columns": 0}[row.peer]
            return lambda: x.sum(axis=axis)
    return None


def _torch(row: Row, inputs: Sequence[Any]) -> Call | None:
    torch = importlib.import_module("torch")
    functional = torch.nn.functional
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    match row.peer:
        case "box":
            x, w = (torch.from_dlpack(a)[None, None] for a in inputs)
            return lambda: functional.conv2d(x, w, padding=row.words[0] // 2)[0, 0]
        case "transpose" | "fields":
            x = torch.from_dlpack(inputs[0])
            return lambda: x.t().contiguous()
        case "sum_all" | "sum_rows" | "sum_columns":
            x = torch.from_dlpack(inputs[0])
            axis = {"sum_all": None, "sum_rows": 1, "sum_columns": 0}[row.peer]
            return lambda: x.sum(axis)
        case "conv_f32" | "conv_bf16":
            type = torch.bfloat16 if row.peer == "conv_bf16" else torch.float32
            x, w = (torch.as_tensor(a.view(np.uint8), device="cuda").view(type).permute(0, 3, 1, 2) for a in inputs)
            return lambda: functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1)
        case "product_bf16":
            a, b = (torch.as_tensor(x.view(np.uint8), device="cuda").view(torch.bfloat16) for x in inputs)
            return lambda: a @ b.T
    return None


def _triton(row: Row, inputs: Sequence[Any]) -> Call | None:
    importlib.import_module("triton")
    call: Call | None = importlib.import_module("triton_peer").call_of(row, inputs)
    return call


def star_weights(w: list[float]) -> np.ndarray[Any, Any]:
    """The cube of weights that says what a star of r + 1 weights says."""
    r = len(w) - 1
    cube = np.zeros((2 * r + 1,) * 3, np.float32)
    cube[r, r, r] = w[0]
    for u in range(1, r + 1):
        for axis in range(3):
            for place in (r - u, r + u):
                at = [r, r, r]
                at[axis] = place
                cube[tuple(at)] = w[u]
    return cube
