"""scipy's own tests of its filters hold for layoutc.ndimage, but for the cases of tests/scipy_suite/skipped.py."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SHARDS = 4


def run_suite(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """scipy's tests in a process of their own, with its names replaced before they are imported."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "pytest", "--pyargs", "scipy.ndimage.tests.test_filters", "-q", "--tb=short",
               "-c", os.devnull, f"--rootdir={folder}", "-p", "no:cacheprovider", "-p", "no:xdist", "-p",
               "tests.scipy_suite.plugin", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False,
                          env={**kept, "PYTHONPATH": os.pathsep.join(paths)})


@pytest.mark.parametrize("shard", range(SHARDS))
def test_scipys_own_cases(shard: int, device: str, tmp_path: Path) -> None:
    done = run_suite(tmp_path, f"--shard={shard}/{SHARDS}", f"--kernels-on={device}")
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    found = re.search(r"(\d+) passed, (\d+) xfailed", done.stdout)
    assert found, done.stdout[-500:]
    assert int(found[1]) > 500


def test_a_sample_of_them_on_texts_of_their_own(device: str, tmp_path: Path) -> None:
    """Their arrays are small and share a few texts for any window; here each has one, as large arrays do."""
    done = run_suite(tmp_path, "--shard=3/41", "--own-texts", f"--kernels-on={device}")
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def test_the_counts_of_the_readme(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    done = run_suite(tmp_path, "--collect-only", f"--counts={counts}")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    found = json.loads(counts.read_text())
    passed, total = found["run"], sum(found.values())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{passed} of {total}" in readme, f"scipy.ndimage: {passed} of {total}"
