"""The parser's stored tables: used when whole, built anew when not, never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from layoutc.parse.tables import lark

BUILD = lark.__wrapped__
TEXT = "kernel k(x: f32[H]) -> (y: f32[H]) { y[i] = sum(u in -1..=1) x[i + u] }"


@pytest.mark.parametrize("content", [None, b"", b"damaged", b"0" * 40 + b"\n" + b"\x80\x05K\x01."])
def test_tables_are_built_and_kept(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(tmp_path))
    stored = tmp_path / "grammar.tables"
    if content is not None:
        stored.write_bytes(content)
    first = BUILD().parse(TEXT)
    whole = stored.read_bytes()
    assert len(whole) > 1000
    assert BUILD().parse(TEXT) == first
    stored.write_bytes(whole[:len(whole) // 2])
    assert BUILD().parse(TEXT) == first
    assert capfd.readouterr() == ("", "")


def test_a_machine_without_a_place_for_them_parses_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").write_text("no folder")
    for place in (tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(place))
        assert BUILD().parse(TEXT)
    (tmp_path / "grammar.tables").mkdir()
    monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(tmp_path))
    assert BUILD().parse(TEXT)
    assert capfd.readouterr() == ("", "")
