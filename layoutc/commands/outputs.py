"""The results of ``layoutc run``: into files, as text, as JSON."""

from __future__ import annotations

import io
import json
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from layoutc.backend.errors import MissingToolError
from layoutc.commands.files import Write, cannot_write, writable_place, write_all
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Tensor

Array = NDArray[Any]

_CHANNELS = (3, 4)


def check_places(files: list[tuple[Tensor, str]]) -> None:
    """Refuse before a kernel runs what could not be written after it."""
    for tensor, path in files:
        if not path.lower().endswith((".npy", ".png")):
            raise _error("unknown-output", f"`{path}` names no kind of file that can be written",
                         "end the name in .npy or .png")
        writable_place(path)
        if path.lower().endswith(".png"):
            _check_image(tensor, path)
    places = [writable_place(path) for _, path in files]
    for (tensor, path), place in zip(files, places, strict=True):
        if places.count(place) > 1:
            raise cannot_write(path, f"`{tensor.name}` is not the only output that is to go there")


def _check_image(tensor: Tensor, path: str) -> None:
    axes = len(tensor.extents)
    if tensor.type.name != "u8" or axes not in (2, 3):
        raise _error("no-image", f"`{tensor.name}` is {tensor.type} of {_axes(axes)}, and `{path}` an image",
                     "a .png takes u8 of [H, W], [H, W, 3] or [H, W, 4]; write a .npy, or cast in the kernel: `u8(…)`")
    try:
        import PIL.Image  # noqa: F401 - asked for before the run, needed after it
    except ImportError:
        raise MissingToolError("Pillow, which writes images, is not installed",
                               "run `pip install 'layoutc[image]'`, or write a .npy") from None


def write_outputs(files: list[tuple[str, Array]]) -> None:
    """Write arrays as .npy or .png, all or none."""
    write_all([(path, _writer(path, array)) for path, array in files])


def _writer(path: str, array: Array) -> Write:
    if not path.lower().endswith(".png"):
        return lambda file: np.lib.format.write_array(file, array, allow_pickle=False)
    if array.size == 0 or (array.ndim == 3 and array.shape[2] not in _CHANNELS):
        raise _error("no-image", f"an array of shape {array.shape} is no image",
                     "a .png takes [H, W], [H, W, 3] or [H, W, 4], and no extent of 0; write a .npy")
    return lambda file: _write_png(path, array, file)


def _write_png(path: str, array: Array, file: BinaryIO) -> None:
    from PIL import Image

    room = io.BytesIO()
    try:
        Image.fromarray(np.ascontiguousarray(array)).save(room, "PNG")
    except (ValueError, SystemError, MemoryError) as error:
        raise cannot_write(path, f"it is too large for an image: {error}") from None
    file.write(room.getbuffer())


# ---- shown


def as_text(tensor: Tensor, array: Array) -> str:
    """A tensor's name, type and shape, and its elements; of a large one the first and the last."""
    head = head_of(tensor, array)
    if array.ndim == 0:
        return f"{head} = {array[()]}"
    return f"{head}\n{np.array2string(array, threshold=1000, max_line_width=120)}"


def head_of(tensor: Tensor, array: Array) -> str:
    """Name, type and shape, as a kernel's head has them."""
    return f"{tensor.name}: {tensor.type}[{', '.join(map(str, array.shape))}]"


def as_json(arrays: dict[str, Array]) -> str:
    """The arrays by name; what JSON has no number for is written "NaN", "Infinity", "-Infinity"."""
    return json.dumps({name: _numbers(array) for name, array in arrays.items()})


def _numbers(array: Array) -> object:
    if array.dtype.kind in "biu":
        return array.tolist()
    wide = array.astype(np.float64)
    if bool(np.isfinite(wide).all()):
        return wide.tolist()
    out = wide.astype(object)
    out[np.isnan(wide)] = "NaN"
    out[wide == np.inf] = "Infinity"
    out[wide == -np.inf] = "-Infinity"
    return out.tolist()


def _axes(count: int) -> str:
    return "one axis" if count == 1 else f"{count} axes" if count else "no axis"


def _error(slug: str, message: str, help: str = "") -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message, help=help)])
