"""onnx's own cases of convolutions, pools, pads, reductions and transposes: what nobody here wrote decides."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the oracle is an optional package")

from layoutc import LayoutcError
from tests.onnx_suite.cases import OPERATORS, Case, all_cases
from tests.onnx_suite.loader import WRITERS, Compute, by_reference, on, outputs

HERE = Path(__file__).parent
SKIPPED: dict[str, str] = tomllib.loads((HERE / "onnx_suite" / "skipped.toml").read_text(encoding="utf-8"))


def agree(case: Case, compute: Compute) -> None:
    """As onnx's own runner compares: shape, type, and values to the tolerances of the case."""
    given = outputs(case, compute)
    assert len(given) == len(case.expected)
    for ours, theirs in zip(given, case.expected, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_a_node_gives_what_onnx_says(case: Case, device: str) -> None:
    for compute in (on(device), by_reference):
        if case.name in SKIPPED:
            with pytest.raises((AssertionError, LayoutcError)):     # one that passes is struck off the list
                agree(case, compute)
        else:
            agree(case, compute)


def test_every_operator_has_cases_and_at_least_nine_in_ten_pass() -> None:
    cases = all_cases()
    assert {case.op for case in cases} == set(OPERATORS) == set(WRITERS)
    assert SKIPPED.keys() <= {case.name for case in cases}
    assert all(reason.strip() for reason in SKIPPED.values())
    for op in OPERATORS:
        names = [case.name for case in cases if case.op == op]
        assert len(SKIPPED.keys() & set(names)) <= len(names) / 10


def test_the_readme_has_the_counts() -> None:
    readme = (HERE.parent / "README.md").read_text(encoding="utf-8")
    assert f"| {len(all_cases()) - len(SKIPPED)} of {len(all_cases())} |" in readme
