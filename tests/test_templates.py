"""Templates only print: one a record, its fields and nothing else, no logic, short."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

import jinja2
import jinja2.nodes
import pytest
from jinja2 import meta

from layoutc.plan import steps
from layoutc.render import environment, template_name
from layoutc.templates_dir import templates_dir

RECORDS = {record.__name__: record for record in get_args(steps.Step)}
FOLDER = templates_dir() / "steps"
FILES = sorted(FOLDER.glob("*.jinja"))
FORBIDDEN = (
    jinja2.nodes.Compare, jinja2.nodes.BinExpr, jinja2.nodes.Call, jinja2.nodes.Assign, jinja2.nodes.CondExpr,
    jinja2.nodes.Macro, jinja2.nodes.Getattr, jinja2.nodes.Getitem, jinja2.nodes.Include,
)


def tree(path: Path) -> jinja2.nodes.Template:
    return environment().parse(path.read_text())


def test_records_and_templates_are_in_bijection() -> None:
    assert {template_name(name) for name in RECORDS} == {path.name for path in FILES}


@pytest.mark.parametrize("name", RECORDS)
def test_a_template_prints_exactly_the_fields_of_its_record(name: str) -> None:
    found = meta.find_undeclared_variables(tree(FOLDER / template_name(name)))
    assert found == {f.name for f in fields(RECORDS[name])}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_template_decides_nothing(path: Path) -> None:
    offences = [
        f"{path.name}:{node.lineno} {type(node).__name__}"
        for node in tree(path).find_all(FORBIDDEN)
        if not (isinstance(node, jinja2.nodes.Getattr) and isinstance(node.node, jinja2.nodes.Name)
                and node.node.name == "loop")
    ]
    assert offences == []


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_template_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 20
