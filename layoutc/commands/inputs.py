"""The arrays of ``layoutc run``: from files, from numbers written out, or drawn at random."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend.errors import MissingToolError
from layoutc.backend.types import numpy_dtype
from layoutc.calling.arguments import as_array, as_ranks
from layoutc.commands.literals import is_literal, read_literal
from layoutc.diagnostics import Diagnostic, LayoutcError, did_you_mean
from layoutc.resolve.program import Tensor
from layoutc.resolve.types import TYPES, Type, integer_range

Array = NDArray[Any]

IMAGES = (".png", ".jpg", ".jpeg")
_NPZ = re.compile(r"(.*\.npz)(?::(.*))?", re.I | re.S)
_SHAPE = re.compile(r"\(\s*((?:\d+\s*,\s*)*\d*)\s*\)|((?:\d+\s*,\s*)*\d+)")
_GREATEST_RANDOM = 1000


def read_input(tensor: Tensor, text: str, seed: tuple[int, ...]) -> Array:
    """The array that ``--in tensor=text`` means, in the tensor's type.

    Raises LayoutcError where it cannot be read or holds another type, MissingToolError for an image without Pillow.
    """
    if text.startswith("random:"):
        return random_array(tensor, text.removeprefix("random:"), seed)
    path = text.lower()
    if not path.endswith((".npy", *IMAGES)) and not _NPZ.fullmatch(path) and is_literal(text):
        array: Array = as_array(tensor, read_literal(tensor.name, text))
        return array
    return _in_type(tensor, _load(text), text)


def read_ranks(tensor: Tensor, text: str, seed: tuple[int, ...]) -> Array:
    """The integers, of any type, that ``--in tensor=text`` means; numbers written out are i64."""
    if text.startswith("random:") or is_literal(text):
        return read_input(tensor, text, seed)
    array: Array = as_ranks(_load(text))
    return array


# ---- drawn at random


def random_array(tensor: Tensor, shape: str, seed: tuple[int, ...]) -> Array:
    """An array drawn at random: floats of the normal distribution, bytes of all values, integers up to 1000."""
    found = _SHAPE.fullmatch(shape.strip())
    if found is None:
        raise _error("bad-shape", f"`random:{shape}` names no shape", "write `random:(1080, 1920)`")
    try:
        extents = tuple(int(n) for n in (found[1] or found[2] or "").split(",") if n.strip())
        return _drawn(tensor.type, extents, np.random.default_rng(seed))
    except (MemoryError, ValueError, OverflowError):
        raise _error("bad-shape", f"an array of shape {shape:.100} is too large for this machine") from None


def _drawn(type: Type, extents: tuple[int, ...], random: np.random.Generator) -> Array:
    dtype = numpy_dtype(type.name)
    if type.is_float:
        return np.asarray(random.standard_normal(extents), dtype)
    low, high = integer_range(type)
    if type.bits > 8:
        low, high = max(low, -_GREATEST_RANDOM), min(high, _GREATEST_RANDOM)
    return np.asarray(random.integers(low, high, extents, endpoint=True), dtype)


# ---- files


def _load(path: str) -> Array:
    name = path.lower()
    if (npz := _NPZ.fullmatch(path)) is not None:
        return _guarded(npz[1], lambda: _from_npz(npz[1], npz[2]))
    if name.endswith(".npy"):
        return _guarded(path, lambda: np.array(np.lib.format.open_memmap(path, mode="r")))
    if name.endswith(IMAGES):
        return _guarded(path, lambda: _image(path))
    raise _error("unknown-input", f"`{path}` is neither numbers nor the name of a file that can be read",
                 "give numbers such as `[[1, 2], [3, 4]]`, `random:(1080, 1920)`, "
                 "or a file .npy, .npz:name, .png, .jpg")


def _guarded(path: str, read: Callable[[], Array]) -> Array:
    try:
        return read()
    except LayoutcError:
        raise
    except FileNotFoundError:
        raise _error("no-such-file", f"there is no file `{path}`") from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise _error("unreadable-file", f"`{path}` cannot be read: {why}") from None
    except Exception as error:      # a damaged file makes its reader say all manner of things
        why = " ".join(str(error).split()) or type(error).__name__
        raise _error("unreadable-file", f"`{path}` cannot be read: {why:.200}") from None


def _from_npz(path: str, name: str | None) -> Array:
    with np.load(path, allow_pickle=False) as held:
        if not isinstance(held, np.lib.npyio.NpzFile):
            raise _error("unreadable-file", f"`{path}` is no .npz file")
        names = list(held.files)
        wanted = names[0] if name is None and len(names) == 1 else name
        if wanted not in names:
            what = f"no array `{name}`" if name is not None else f"{len(names)} arrays"
            raise _error("unknown-array", f"`{path}` holds {what}",
                         did_you_mean(name or "", names) or f"write `{path}:NAME`; it holds {', '.join(names)}")
        array = held[wanted]
        if not isinstance(array, np.ndarray):
            raise _error("unreadable-file", f"`{path}:{wanted}` is no array")
        return array


def _image(path: str) -> Array:
    try:
        from PIL import Image
    except ImportError:
        raise MissingToolError("Pillow, which reads images, is not installed",
                               "run `pip install 'layoutc[image]'`") from None
    with warnings.catch_warnings(), Image.open(path) as image:
        warnings.simplefilter("ignore")
        return np.array(image.convert("RGBA" if "transparency" in image.info else "RGB")
                        if image.mode == "P" else image)


# ---- types


def _in_type(tensor: Tensor, array: Array, given: str) -> Array:
    wanted = numpy_dtype(tensor.type.name)
    if tensor.type.name == "bf16" and array.dtype == np.dtype("V2"):
        array = array.view(wanted)      # .npy knows no bfloat16 and keeps its bytes
    if array.dtype != wanted and array.dtype.newbyteorder("=") == wanted:
        array = array.astype(wanted)
    if array.dtype == wanted:
        return array
    held = next((t for t in TYPES.values() if numpy_dtype(t.name) == array.dtype.newbyteorder("=")), None)
    raise _error("argument-type", f"`{tensor.name}` holds {tensor.type}, `{given}` holds {held or array.dtype}",
                 _mending(tensor, held))


def _mending(tensor: Tensor, held: Type | None) -> str:
    if held is None:
        return f"convert the array to {numpy_dtype(tensor.type.name)}"
    axes = ", ".join("…" for _ in tensor.extents)
    read = f"{tensor.type}({tensor.name}[{axes}])"
    return (f"declare `{tensor.name}: {held}[{axes}]` and cast where it is read, `{read}`; "
            f"or convert the array to {numpy_dtype(tensor.type.name)}")


def _error(slug: str, message: str, help: str = "") -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message, help=help)])
