"""Kernels against what NumPy says they mean: Hypothesis strategies and checks, for layoutc and for a user's tests."""

from __future__ import annotations

from importlib.util import find_spec

from layoutc.backend import MissingToolError

if find_spec("hypothesis") is None:
    raise MissingToolError("tests need Hypothesis, which is not installed", "run `pip install 'layoutc[testing]'`")

from layoutc.testing.assertions import assert_matches_numpy
from layoutc.testing.redistributions import MoveReport, check_move_case, check_redistribution
from layoutc.testing.report import Report
from layoutc.testing.search import check_case, check_kernel
from layoutc.testing.strategies import arrays_for, extents_for

__all__ = [
    "MoveReport", "Report", "arrays_for", "assert_matches_numpy", "check_case", "check_kernel", "check_move_case",
    "check_redistribution", "extents_for",
]
