"""The runtime headers as texts, and the C++ names of layoutc's types."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from layoutc.backend.types import C_TYPES
from layoutc.cuda_source import ArrayParam, ConstantParam, MapParam, Param, ScalarParam
from layoutc.templates_dir import templates_dir

INCLUDE = '#include "layoutc.cuh"'


def runtime_dir() -> Path:
    """The folder of arithmetic.h, with the twin headers in ``cpu`` and ``cuda``."""
    return templates_dir() / "runtime"


@cache
def device_header() -> str:
    """The device's ``layoutc.cuh`` with arithmetic.h in its place: all that a kernel's text needs."""
    header = (runtime_dir() / "cuda" / "layoutc.cuh").read_text(encoding="utf-8")
    arithmetic = (runtime_dir() / "arithmetic.h").read_text(encoding="utf-8")
    return header.replace('#include "arithmetic.h"\n', arithmetic.replace("#pragma once\n", ""))


def device_text(name: str, text: str) -> str:
    """A kernel's text that includes nothing: the header stands in it, lines are counted as in ``text``."""
    return f'{device_header()}\n#line 1 "{name}"\n{text.replace(INCLUDE, "")}'


def parameter_type(param: Param) -> str:
    """The C++ type of a parameter, without ``CONSTANT_PARAM``."""
    match param:
        case ArrayParam(_, type, writes):
            return f"{'Out' if writes else 'In'}<{C_TYPES[type]}>"
        case ConstantParam(_, type, count):
            return f"Constant<{C_TYPES[type]}, {count}>"
        case ScalarParam(_, type):
            return C_TYPES[type]
        case MapParam():
            return "TensorMap"
