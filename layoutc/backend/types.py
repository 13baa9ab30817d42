"""layoutc's element types in C++ and in NumPy."""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

C_TYPES = {
    "bool": "bool",
    "i8": "i8", "i16": "i16", "i32": "int", "i64": "i64",
    "u8": "u8", "u16": "u16", "u32": "unsigned", "u64": "u64",
    "f16": "f16", "bf16": "bf16", "f32": "float", "f64": "double",
}   # fmt: skip


@cache
def numpy_dtype(type: str) -> np.dtype[Any]:
    """The dtype of arrays of this element type."""
    own: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "bool": np.bool_}
    dtype: np.dtype[Any] = np.dtype(own[type] if type in own else f"{type[0]}{int(type[1:]) // 8}")
    return dtype
