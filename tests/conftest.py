"""Shared fixtures; ``--device cuda`` runs the same tests on a GPU."""

from __future__ import annotations

import signal

import pytest


def pytest_configure() -> None:
    """A shell's background job ignores interrupts, and so would all that tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--device", choices=("cpu", "cuda"), default="cpu", help="where kernels run")
    parser.addoption("--update-goldens", action="store_true", help="write the goldens anew instead of comparing")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """Where the kernels of this run execute."""
    return str(request.config.getoption("--device"))
