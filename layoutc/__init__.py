"""layoutc compiles a page of layout notation into a CUDA kernel that you can read.

    module = layoutc.load("blur.layout", R=2)
    y = module.blur(x, w)

Importing it is cheap: what compiles, runs or tests a kernel is imported when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from layoutc.diagnostics import LayoutcError

if TYPE_CHECKING:
    from layoutc import ndimage as ndimage
    from layoutc import testing as testing
    from layoutc.module import compile as compile
    from layoutc.module import load as load

    __version__: str

__all__ = ["LayoutcError", "__version__", "compile", "load", "ndimage", "testing"]


def __getattr__(name: str) -> Any:
    """The public names that are imported when they are first used."""
    match name:
        case "load" | "compile":
            return getattr(import_module("layoutc.module"), name)
        case "ndimage" | "testing":
            return import_module(f"layoutc.{name}")
        case "__version__":
            return import_module("importlib.metadata").version("layoutc")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
