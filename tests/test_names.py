"""Every name that a spec may use becomes C++ that compiles, whatever C++, CUDA, our headers or our text mean by it."""

from __future__ import annotations

import re

import pytest

from layoutc.backend.cpu import host_text
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.backend.headers import runtime_dir
from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.cuda_source import CudaSource
from layoutc.plan.names import Names
from layoutc.plan.nodes import Target
from layoutc.source import Source
from tests.fuzz.compilation import refused
from tests.fuzz.valid import COMPILERS

_HEADERS = [path.read_text(encoding="utf-8") for path in sorted(runtime_dir().rglob("*.*"))]
_MACROS = sorted({name for text in _HEADERS for name in re.findall(r"#define (\w+)", text)})
_NAMES = tuple(dict.fromkeys((*COMPILERS, *_MACROS)))
_ROLES = ("kernel_", "input_", "output_", "index_", "extent_", "let_", "bound_", "table_")
_TEXT = """
kernel kernel_(input_: f32[extent_], table_: i32[5]) -> (output_: i64[extent_]) {
    let let_[index_] = input_[index_] * 2
    output_[index_] = i64(let_[index_]) + argmax(bound_ in 0..extent_) input_[bound_] * f32(table_[3])
}
schedule kernel_ { tile (index_: 32)  stage let_ in shared  stage table_ in constant }
"""


def _texts() -> list[CudaSource]:
    """Each name in each role: the names take the roles by turns."""
    found = []
    for first in range(len(_NAMES)):
        text = _TEXT
        for k, role in enumerate(_ROLES):
            text = re.sub(rf"\b{role}\b", _NAMES[(first + 7 * k) % len(_NAMES)], text)
        program = read_program(Source("<text>", text))
        kernel, = program.kernels
        found.append(plan_kernel(program, kernel, kernel.schedule(None), default_signature(kernel), Target())[1])
    return found


@pytest.fixture(scope="module")
def together() -> CudaSource:
    """All in one file, where every kernel's name meets what the headers and the compiler declare."""
    texts = {source.entries[0].name: source for source in _texts()}
    assert len(texts) > 0.9 * len(_NAMES)       # `x_` and `x` may come to the same
    return CudaSource(
        "names.cu", "".join(source.text for source in texts.values()),
        tuple(entry for source in texts.values() for entry in source.entries))


def test_the_host_s_compiler_takes_every_name(together: CudaSource) -> None:
    assert not refused(host_text(together))


def test_nvrtc_takes_every_name(together: CudaSource) -> None:
    assert compile_ptx(together, architectures()[0])[1].strip("\0 \n") == ""


@pytest.mark.parametrize(("name", "given"), [
    ("x", "x"), ("float", "float_2"), ("threadIdx", "threadIdx_2"), ("__shared__", "shared"), ("_", "name"),
    ("_1", "name_1"), ("__2x", "name_2x"), ("LC_LINE", "name_LC_LINE"), ("_LC_LINE", "name_LC_LINE"),
    ("layoutc_state", "name_layoutc_state"), ("x__y", "x_y"),
])
def test_names_stay_as_near_as_they_can(name: str, given: str) -> None:
    assert Names().take(name) == given
