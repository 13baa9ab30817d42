"""A pytest plugin: scipy's own tests of its filters, run against layoutc.ndimage.

The names of ``scipy.ndimage`` are replaced before its tests are imported. A case of the skip list must fail: one that
passes is an error, as is one that fails and is not on the list.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import scipy.ndimage
from scipy._lib._array_api import xp_capabilities_table

from layoutc import ndimage
from layoutc.ndimage import arrays, gaussian, running
from tests.scipy_suite.skipped import reason_of

NOT_OFFERED = ("generic_filter", "generic_filter1d", "vectorized_filter")


def _not_offered(name: str) -> Any:
    def refuse(*_: object, **__: object) -> None:
        raise NotImplementedError(f"{name} calls Python for every element; layoutc.ndimage does not offer it")

    refuse.__name__ = name
    return refuse


def _replace() -> None:
    """Our filters in the place of scipy's, with what scipy's decorators of tests ask of them."""
    own = {name: getattr(ndimage, name) for name in ndimage.__all__ if hasattr(scipy.ndimage, name)}
    for name, function in {**own, **{name: _not_offered(name) for name in NOT_OFFERED}}.items():
        xp_capabilities_table[function] = xp_capabilities_table[getattr(scipy.ndimage, name)]
        setattr(scipy.ndimage, name, function)
    scipy.ndimage._filters._gaussian_kernel1d = gaussian.gaussian_weights


_replace()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", default="0/1", help="k/n: every n-th case, beginning with the k-th")
    parser.addoption("--counts", help="a file for how many cases are run and how many are on the list")
    parser.addoption("--own-texts", action="store_true", help="write texts for the very window of small arrays too")
    parser.addoption("--kernels-on", default="auto", help="the device that kernels run on")


def pytest_configure(config: pytest.Config) -> None:
    arrays._device.set(config.getoption("--kernels-on"))
    if config.getoption("--own-texts"):
        running.LARGE = 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    which, count = map(int, config.getoption("--shard").split("/"))
    items[:] = items[which::count]
    reasons = [reason_of(item.nodeid.split("::", 1)[1]) for item in items]
    for item, reason in zip(items, reasons, strict=True):
        if reason:
            item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    if path := config.getoption("--counts"):
        Path(path).write_text(json.dumps(Counter(reason or "run" for reason in reasons)))
