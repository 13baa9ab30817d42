"""The table of costs: what a user measured goes before what layoutc comes with; ``layoutc tune --costs``."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from layoutc.backend.cuda import compile_ptx, cuda_problem
from layoutc.diagnostics import LayoutcError
from layoutc.layout import blocked, warp_striped
from layoutc.plan.moves import choose
from layoutc.plan.moves.costs import costs_of, measured_path, store_costs
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Shuffle, ThroughShared
from layoutc.tuning.costs import costs_source
from tests.cli_support import invoke


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LAYOUTC_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_measured_goes_before_shipped(data: Path) -> None:
    shipped = costs_of("sm_90")
    mine = replace(shipped, select=2 * shipped.select)
    path = store_costs("sm_90", mine)
    assert path == data / "costs.json" == measured_path()
    assert costs_of("sm_90") == mine
    store_costs("sm_120", shipped)
    assert costs_of("sm_90") == mine
    assert costs_of("sm_120") == costs_of("sm_121") == shipped
    assert json.loads(path.read_text()) == {"sm_120": asdict(shipped), "sm_90": asdict(mine)}


def test_an_unknown_architecture_is_its_nearest() -> None:
    assert costs_of("sm_75") == costs_of("sm_90") == costs_of("sm_90a")


@pytest.mark.parametrize("text", [
    "", "[]", "{", '{"sm_90": {}}', '{"sm_90": {"select": 1}}', '{"sm_90": 3}', "\x00",
    '{"sm_90": {"select": -1, "shuffle": 1, "wavefront": 1, "warp_barrier": 1, "block_barrier": 1}}',
    '{"sm_90": {"select": NaN, "shuffle": 1, "wavefront": 1, "warp_barrier": 1, "block_barrier": 1}}',
])
def test_a_damaged_file_is_named_and_written_anew(data: Path, text: str) -> None:
    shipped = costs_of("sm_90")
    data.mkdir()
    (data / "costs.json").write_text(text)
    with pytest.raises(LayoutcError, match="damaged-costs") as caught:
        costs_of("sm_89")
    assert str(data) in caught.value.diagnostics[0].message
    store_costs("sm_90", shipped)
    assert costs_of("sm_90") == shipped


def test_the_table_decides() -> None:
    """Three items inside a warp: shuffled on an H200, through shared memory where selects are dear."""
    exchange = Exchange(blocked(256, 3), warp_striped(256, 3, 32), 4)
    shipped = costs_of("sm_90")
    assert isinstance(choose(exchange, shipped)[0], Shuffle)
    store_costs("sm_90", replace(shipped, select=1.0))
    assert isinstance(choose(exchange, costs_of("sm_90"))[0], ThroughShared)


def test_timed_kernels_compile_without_a_gpu() -> None:
    text, _ = compile_ptx(costs_source(), "sm_75")
    assert all(f".entry {entry.name}(" in text for entry in costs_source().entries)


def test_tune_measures_and_keeps_or_says_what_is_missing(data: Path) -> None:
    result = invoke("tune", "--costs", "--json")
    if cuda_problem():
        assert result.exit_code == 3
        assert "missing-tool" in result.stderr
        assert not data.exists()
        return
    found = json.loads(result.stdout)
    assert asdict(costs_of(found["arch"])) == found["costs"]
    assert min(found["costs"][name] for name in ("select", "shuffle", "wavefront")) > 0


def test_tune_wants_to_be_told_what() -> None:
    assert invoke("tune").exit_code == 2
