"""Which compiler is taken, what it is told, and what is said where there is none."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from layoutc.backend import BuildError, MissingToolError, cpu, load_cpu, problem_with
from layoutc.backend.compilers import COMMON, _find, find_compiler
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.backend.headers import runtime_dir
from layoutc.backend.machine import load_runtime
from layoutc.cuda_source import CudaSource
from tests.backend_support import HERE, kernels, source_of
from tests.backend_vocabulary import ENDS, FUNCTIONS
from tests.test_backend_kernels import CASES

VOCABULARY = source_of("vocabulary.cu", '#include "layoutc.cuh"\n' + ENDS + "\n".join(f.text for f in FUNCTIONS))
TEXTS = [*(kernels(path.stem) for path in sorted((HERE / "kernels").glob("*.cu"))), VOCABULARY]
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"]


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no compiler; programs can be put on its path, the folder given."""
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("layoutc.backend.compilers.importlib.util.find_spec", lambda name: None)
    return tmp_path


def put_program(folder: Path, name: str) -> Path:
    program = folder / name
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    return program


def test_no_compiler_is_a_missing_tool(bare_machine: Path) -> None:
    problem = problem_with("cpu")
    assert problem is not None
    assert problem.diagnostics[0].slug == "missing-tool"
    assert "pip install 'layoutc[cpu]'" in problem.diagnostics[0].help
    with pytest.raises(MissingToolError, match="no C\\+\\+ compiler"):
        load_cpu(kernels("blur"))


def test_order_of_preference(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("clang++", "g++", "c++"):
        program = put_program(bare_machine, name)
        monkeypatch.setenv("PATH", f"{bare_machine}:")      # a new path is looked at anew
        _find.cache_clear()
        assert find_compiler().command == (str(program),)
    own = put_program(bare_machine, "my-compiler")
    monkeypatch.setenv("CXX", "my-compiler -m64")
    assert find_compiler().command == (str(own), "-m64")


def test_the_zig_wheel_serves_where_nothing_else_does(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = put_program(bare_machine, "zig")

    class Found:
        submodule_search_locations = (str(bare_machine),)

    monkeypatch.setattr("layoutc.backend.compilers.importlib.util.find_spec", lambda name: Found)
    compiler = find_compiler()
    assert compiler.command == (str(program), "cc", "-x", "c++")
    assert compiler.is_zig


def test_a_refused_text_is_told_with_the_compilers_words() -> None:
    text = '#include "layoutc.cuh"\nKERNEL(32) broken(Out<float> y) {\n    y[0] = nonsense;\n}\n'
    with pytest.raises(BuildError, match="nonsense") as caught:
        load_cpu(source_of("broken.cu", text))
    assert "broken.cu:3:" in str(caught.value)


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: source.name)
def test_hosts_compilers_have_nothing_to_warn_of(source: CudaSource, tmp_path: Path) -> None:
    text = tmp_path / "kernel.cpp"
    text.write_text(cpu.host_text(source))
    flags = [flag for flag in COMMON if flag not in ("-w", "-shared")]
    for name in filter(shutil.which, ("g++", "clang++", "clang++-14")):
        for checked in ([], ["-DLC_UNCHECKED"]):
            command = [name, *flags, *WARNINGS, *checked, f"-I{runtime_dir() / 'cpu'}", "-fsyntax-only", str(text)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.stderr == ""
            assert done.returncode == 0


@pytest.mark.parametrize("source", TEXTS, ids=lambda source: source.name)
def test_nvrtc_has_nothing_to_warn_of(source: CudaSource) -> None:
    for arch in architectures():
        ptx, log = compile_ptx(source, arch)
        assert log == ""
        assert all(f".entry {entry.name}(" in ptx for entry in source.entries)


def test_vectors_become_single_instructions() -> None:
    _, newest = architectures()
    ptx, _ = compile_ptx(kernels("exchange"), newest)
    assert "ld.global.nc.v4" in ptx
    assert "st.shared.v4" in ptx


def test_no_multiplication_is_fused_that_was_not_written_so() -> None:
    text = '#include "layoutc.cuh"\nKERNEL(32) f(In<float> x, Out<float> y) {\n    y[0] = x[0] * x[1] + x[2];\n}\n'
    for arch in architectures():
        assert "fma" not in compile_ptx(source_of("f.cu", text), arch)[0]


def test_fibers_by_ucontext_run_the_same_kernels() -> None:
    """The switch for processors without one of ours, which any POSIX system has."""
    runtime = load_runtime(find_compiler(), ("-DLC_UCONTEXT",))
    for case in CASES:
        module = replace(load_cpu(kernels(case.file)), runtime=runtime)
        module.launch(case.entry, case.blocks, case.args)
        params = module.entries[case.entry].entry.params
        outputs = [arg for param, arg in zip(params, case.args, strict=True) if getattr(param, "writes", False)]
        for output, wanted in zip(outputs, case.wanted, strict=True):
            np.testing.assert_array_equal(output, wanted)


def test_another_program_is_another_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a compiler makes is kept apart by its path, size and date."""
    identities = set()
    for content in ("#!/bin/sh\n", "#!/bin/sh\nexit 2\n"):
        put_program(tmp_path, "mine").write_text(content)
        monkeypatch.setenv("CXX", str(tmp_path / "mine"))
        _find.cache_clear()
        identities.add(find_compiler().identity)
    assert len(identities) == 2
