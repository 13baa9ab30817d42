"""Text of the runtime's vocabulary as plain CUDA: its macros replaced, the definitions that it needs picked out."""

from __future__ import annotations

import re
from functools import cache

from layoutc.backend.headers import device_header

# The runtime's definitions that redistributions use; each needs only those before it.
HELPERS = (
    "alignment", "Pack", "load", "store", "SameType", "Same", "store_any", "place_of", "shuffle", "word_of", "part_of",
    "load_words", "store_words", "word_at", "put", "exchange_bytes", "load_columns", "store_columns",
)

MACROS = (
    (r"\bDEVICE\b", "__device__ __forceinline__"),
    (r"\bUNROLL\b", "#pragma unroll"),
    (r"\bNO_UNROLL\b", "#pragma unroll 1"),
    (r"\bSHARED\(([^,]+), (\w+), ([^)]+)\)", r"__shared__ __align__(16) \1 \2[\3]"),
    (r"\bShared<([^<>]+)>", r"\1*"),
    (r"\blc::", ""),
    (r"\bi64\b", "long long"),
    (r"\bu64\b", "unsigned long long"),
)


def plain_cuda(text: str) -> str:
    """The text without the runtime's macros and namespace."""
    for pattern, replacement in MACROS:
        text = re.sub(pattern, replacement, text)
    return text


def helpers_of(text: str) -> tuple[str, ...]:
    """The runtime's definitions that a text needs, those first that others need, in plain CUDA."""
    found: list[str] = []
    for name in reversed(HELPERS):
        if re.search(rf"\b{name}\b", "\n".join([text, *found])):
            found.insert(0, _definition(name))
    return tuple(map(plain_cuda, found))


@cache
def _definition(name: str) -> str:
    """A function, structure or alias of the runtime with the comment above it."""
    kinds = r"DEVICE [^\n(]*|struct (?:alignas\([^\n]*\) )?|using "
    start = rf"^(?://.*\n)*(?:template <[^\n]*> )?(?:{kinds})\b{name}\b[^\n]*"
    match = re.search(rf"{start}(?:\}}|;)[^\n]*$|{start}\n(?:[^}}\n].*\n)*\}};?$", device_header(), re.MULTILINE)
    assert match is not None, f"the runtime defines {name}"
    return match[0]
