"""Random kernels under the compiler's own and random schedules give what NumPy says, on random calls.

``python -m tests.random_kernels COUNT --first SEED`` (``--families``) runs other seeds and reduces what fails.
"""

from __future__ import annotations

import pytest

from tests.random_families import random_family_text
from tests.random_kernels import problem_of
from tests.random_texts import random_steps_text, random_text


@pytest.mark.parametrize("seed", range(1000, 1022))
def test_random_kernel(seed: int, device: str) -> None:
    assert not problem_of(random_text(seed), seed, device)


@pytest.mark.parametrize("seed", range(3000, 3006))
def test_random_family(seed: int, device: str) -> None:
    assert not problem_of(random_family_text(seed), seed, device)


@pytest.mark.parametrize("seed", range(2000, 2006))
def test_random_kernel_with_steps(seed: int, device: str) -> None:
    assert not problem_of(random_steps_text(seed), seed, device)
