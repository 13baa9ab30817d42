"""Shared fixtures; ``--device cuda`` runs the same tests on a GPU."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", choices=("cpu", "cuda"), default="cpu", help="where kernels run")
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew instead of comparing")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """Where the kernels of this run execute."""
    return str(request.config.getoption("--device"))
