"""The arrays of a call: what is accepted, and what a plan must know of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

import numpy as np

from layoutc.backend.guarded import distinct
from layoutc.backend.types import numpy_dtype
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.plan.machine import BOX_AXES
from layoutc.plan.nodes import Signature
from layoutc.resolve.program import Kernel, Tensor
from layoutc.resolve.types import I64, Type

Array = Any                     # a NumPy or CuPy array
NARROW = 2**31 - 2**24          # elements from which an index takes 64 bits; the rest is room for halos
NARROW_EXTENT = 2**30 - 2**24   # folding doubles an extent
WIDEST_ACCESS = 16              # bytes


def refuse(slug: str, message: str, help: str = "") -> LayoutcError:
    """The error of an argument; it lies in no text."""
    return LayoutcError([Diagnostic(slug, message, help=help)])


def is_on_gpu(value: object) -> bool:
    """Whether an argument's elements lie in a GPU's memory."""
    if isinstance(value, np.ndarray | int | float | list | tuple):
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == 2


def as_array(tensor: Tensor, value: object, help: str = "") -> Array:
    """A NumPy or CuPy array of the tensor's type over the argument's own memory; numbers and lists become arrays.

    Raises LayoutcError (``argument-type``) where it is no array or holds another type.
    """
    if isinstance(value, np.ndarray) and hasattr(value, "mask") and isinstance(value, np.ma.MaskedArray):
        raise refuse("argument-type", f"`{tensor.name}` is a masked array, and a kernel knows no mask",
                     "fill it: `x.filled(value)`")
    if isinstance(value, np.ndarray):
        array: Array = value
    elif isinstance(value, bool | int | float | list | tuple | np.generic):
        array = _from_numbers(tensor, value)
    else:
        array = _from_protocol(tensor, value)
    wanted = numpy_dtype(tensor.type.name)
    if array.dtype != wanted or not array.dtype.isnative:
        raise refuse("argument-type", f"`{tensor.name}` holds {tensor.type}, the argument holds {array.dtype}",
                     help or _conversion(tensor, value, array))
    if _is_plain(array):
        return array
    if isinstance(array, np.ndarray):
        return np.broadcast_to(distinct(array).copy(), array.shape)
    raise refuse("argument-type", f"`{tensor.name}` is not aligned to its elements", "pass a copy that is")


def as_ranks(value: object) -> Array:
    """A NumPy or CuPy array of integers of any type; lists become i64.

    Raises LayoutcError (``argument-type``) where it holds anything else.
    """
    any_integer = Tensor("rank", I64, ())
    array = value if isinstance(value, np.ndarray) else (
        _from_numbers(any_integer, value) if isinstance(value, bool | int | float | list | tuple | np.generic)
        else _from_protocol(any_integer, value))
    if array.dtype.kind not in "iu":
        raise refuse("argument-type", f"`rank` holds integers, the argument holds {array.dtype}",
                     "convert it: `rank.astype(numpy.int32)`")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def as_output(tensor: Tensor, value: object, shape: tuple[int, ...]) -> Array:
    """The array that a call was given to write a tensor of this shape to.

    Raises LayoutcError where it is no writable array of that shape and the tensor's type.
    """
    if isinstance(value, bool | int | float | list | tuple | np.generic):
        raise refuse("argument-type", f"`out` for `{tensor.name}` must be an array of {tensor.type}")
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        raise refuse("argument-type", f"`out` for `{tensor.name}` is read-only")
    array = as_array(tensor, value, "give an array of that type to write into")
    if tuple(array.shape) != shape:
        raise refuse("extent-mismatch", f"`out` for `{tensor.name}` has shape {tuple(array.shape)}, not {shape}")
    if isinstance(value, np.ndarray) and array is not value:
        raise refuse("argument-type", f"`out` for `{tensor.name}` is not aligned to its elements")
    if overlaps_itself(array):
        raise refuse("overlapping-output", f"with strides {array.strides} the axes of `out` for `{tensor.name}` run "
                     "into each other: elements could share their places",
                     "pass an array whose stride along each axis is past what the axes inside it span")
    return array


def _is_plain(array: Array) -> bool:
    """Whether elements lie at multiples of their size, as kernels address them."""
    size = int(array.itemsize)
    steps = (stride for stride, extent in zip(array.strides, array.shape, strict=True) if extent > 1)
    return array.size == 0 or (address(array) % min(size, 8) == 0 and all(step % size == 0 for step in steps))


def _conversion(tensor: Tensor, value: object, array: Array) -> str:
    """What makes an argument that holds another type an array of the tensor's."""
    name, wanted, held = tensor.name, _numpy_name(tensor.type), array.dtype
    if not hasattr(value, "astype"):        # a number, a list, an array of another library
        library = "numpy" if isinstance(array, np.ndarray) else "cupy"
        return f"make it an array of {tensor.type}: `{library}.asarray({name}).astype({wanted})`"
    if held.names is not None:
        return f"pass one of its fields, such as `{name}[{held.names[0]!r}]`"
    if held.type is np.void:
        return f"say what its bytes are: `{name}.view({wanted})`"
    match held.kind:
        case "S" | "U" | "T":
            return f"it holds text; if that spells numbers, convert it: `{name}.astype({wanted})`"
        case "M" | "m":
            return f"its ticks are integers: `{name}.view(numpy.int64).astype({wanted})`"
        case "c":
            return f"pass its real or its imaginary part: `{name}.real.astype({wanted})`"
    return f"convert it: `{name}.astype({wanted})`"


def _numpy_name(type: Type) -> str:
    return "ml_dtypes.bfloat16" if type.name == "bf16" else f"numpy.{numpy_dtype(type.name).name}"


def _from_numbers(tensor: Tensor, value: object) -> np.ndarray[Any, Any]:
    """Numbers written out take the tensor's type if they fit."""
    wanted = numpy_dtype(tensor.type.name)
    try:
        given = np.asarray(value)
        if given.dtype == object or given.dtype.kind not in "biuf":
            raise ValueError
        if given.size and (isinstance(value, np.generic) or (given.dtype.kind == "f" and not tensor.type.is_float)):
            return given
        with np.errstate(over="ignore"):
            out = given.astype(wanted)
    except (ValueError, OverflowError, TypeError):
        raise refuse("argument-type", f"`{tensor.name}` holds {tensor.type}; {value!r:.60} is no array of it") from None
    fits = np.array_equal(np.isinf(out), np.isinf(given)) if tensor.type.is_float else np.array_equal(out, given)
    if given.size and not fits:
        raise refuse("argument-type", f"`{tensor.name}` holds {tensor.type}; {value!r:.60} does not fit")
    return out


def _from_protocol(tensor: Tensor, value: object) -> Array:
    if is_on_gpu(value):
        import cupy

        return cupy.from_dlpack(value) if not hasattr(value, "__cuda_array_interface__") else cupy.asarray(value)
    if hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        return np.asarray(value)
    raise refuse("argument-type", f"`{tensor.name}` takes an array of {tensor.type}, not {type(value).__name__}",
                 "pass a NumPy array, or anything that speaks DLPack or __cuda_array_interface__")


def address(array: Array) -> int:
    """Where element (0, 0, …) lies."""
    return int(array.ctypes.data) if isinstance(array, np.ndarray) else int(array.data.ptr)


def byte_range(array: Array) -> tuple[int, int]:
    """``[low, high)``: the bytes that the array spans."""
    low = high = address(array)
    if array.size == 0:
        return low, low
    for extent, stride in zip(array.shape, array.strides, strict=True):
        reach = (extent - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high + array.itemsize


def overlap(a: Array, b: Array) -> bool:
    """Whether two arrays may share memory: by the bytes they span, unless one lies between the other's elements."""
    if isinstance(a, np.ndarray) != isinstance(b, np.ndarray):
        return False
    (a_low, a_high), (b_low, b_high) = byte_range(a), byte_range(b)
    if a_low >= b_high or b_low >= a_high:
        return False
    steps = [stride for array in (a, b) for stride, n in zip(array.strides, array.shape, strict=True) if n > 1]
    common = gcd(*steps)
    apart = (address(b) - address(a)) % common if common else 0
    return not int(a.itemsize) <= apart <= common - int(b.itemsize)


def overlaps_itself(array: Array) -> bool:
    """Whether two elements may share their place: a stride too small for the axes inside it."""
    spread = sorted((abs(stride), extent) for extent, stride in zip(array.shape, array.strides, strict=True)
                    if extent > 1)
    reach = int(array.itemsize)
    for stride, extent in spread:
        if stride < reach:
            return bool(array.size)
        reach = stride * (extent - 1) + reach
    return False


def signature_of(kernel: Kernel, arrays: Sequence[Array], far: bool = False) -> Signature:
    """What the text may rely on for these arrays, in the order inputs, outputs; ``far``: subscripts need 64 bits."""
    tensors = (*kernel.inputs, *kernel.outputs)
    return Signature(
        wide=far or any(is_wide(a) for a in arrays),
        unit=tuple(_is_unit(a) for a in arrays),
        vectors=tuple(_vector(a) for a, _ in zip(arrays, tensors, strict=True)),
        boxes=tuple(_has_boxes(a) for a, _ in zip(arrays, tensors, strict=True)),
    )


def is_wide(array: Array) -> bool:
    """Whether places in an array, with a halo around them, leave 32 bits, counted in elements."""
    reach = sum(abs(stride) * int(n) for n, stride in zip(array.shape, strides_in_elements(array), strict=True))
    return max(reach, array.size) >= NARROW or any(int(extent) >= NARROW_EXTENT for extent in array.shape)


def _is_unit(array: Array) -> bool:
    return bool(array.ndim == 0 or array.shape[-1] <= 1 or array.strides[-1] == array.itemsize)


def _vector(array: Array) -> int:
    """The most elements, a power of two, that one access may move at any multiple of that many elements."""
    if array.ndim == 0 or not _is_unit(array):
        return 1
    size = int(array.itemsize)
    elements = max(WIDEST_ACCESS // size, 1)
    outer = zip(array.strides[:-1], array.shape[:-1], strict=True)
    places = [address(array), *(stride for stride, extent in outer if extent > 1)]
    while elements > 1 and any(place % (elements * size) for place in places):
        elements //= 2
    return elements


def _has_boxes(array: Array) -> bool:
    """Whether the engine that copies boxes knows such an array: whole vectors, no line runs backwards or repeats."""
    outer = zip(array.strides[:-1], array.shape[:-1], strict=True)
    return (2 <= array.ndim <= BOX_AXES and _vector(array) * int(array.itemsize) >= WIDEST_ACCESS
            and all(stride > 0 for stride, extent in outer if extent > 1))


def strides_in_elements(array: Array) -> tuple[int, ...]:
    """Strides as the text counts them: 0 where an axis has no second element, so that they do not matter."""
    if not array.size:
        return (0,) * len(array.shape)
    size = int(array.itemsize)
    return tuple(int(s) // size if n > 1 else 0 for s, n in zip(array.strides, array.shape, strict=True))
