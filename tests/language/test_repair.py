"""Mending: small things are, others are left to another try."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_world.engines.language.repair import repair
from mcp_world.spec.schema import Schema
from tests.conftest import thing

SCHEMA = Schema(
    thing(
        n={"type": "integer"},
        x={"type": ["number", "null"]},
        on={"type": "boolean"},
        at={"type": "string", "format": "date-time"},
        day={"type": "string", "format": "date"},
        state={"enum": ["in_progress", "done"]},
        tags={"type": "array", "items": {"type": "string"}},
        link={"type": "string", "format": "uri"},
    )
    | {"required": []}
)

MENDED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a number in a string": ({"n": "1,024"}, {"n": 1024}),
    "an amount with its sign": ({"x": "$12.50"}, {"x": 12.5}),
    "a truth in a string": ({"on": "yes"}, {"on": True}),
    "a number for a text": ({"tags": [1, 2]}, {"tags": ["1", "2"]}),
    "one for a list": ({"tags": "a"}, {"tags": ["a"]}),
    "a time without its T": ({"at": "2025-03-01 09:00"}, {"at": "2025-03-01T09:00:00Z"}),
    "a time in UTC": ({"at": "2025-03-01T09:00:00 UTC"}, {"at": "2025-03-01T09:00:00Z"}),
    "a day for a time": ({"at": "2025-03-01"}, {"at": "2025-03-01T00:00:00Z"}),
    "a day with slashes": ({"day": "2025/3/1"}, {"day": "2025-03-01"}),
    "another spelling": ({"state": "In Progress"}, {"state": "in_progress"}),
    "an address without its scheme": ({"link": "example.org/a"}, {"link": "https://example.org/a"}),
    "an extra key": ({"n": 1, "note": "x"}, {"n": 1}),
    "null for what may be left out": ({"n": None}, {}),
}


@pytest.mark.parametrize("row", MENDED.values(), ids=MENDED)
def test_small_things_are_mended(row: tuple[dict[str, Any], dict[str, Any]]) -> None:
    value, wanted = row
    mended = repair(SCHEMA, value)
    assert mended is not None
    assert mended[0] == wanted
    assert mended[1]


def test_what_is_mended_is_a_copy() -> None:
    value = {"tags": ["a", 1]}
    repair(SCHEMA, value)
    assert value == {"tags": ["a", 1]}


@pytest.mark.parametrize(
    "value", [{"n": "many"}, {"state": "lost"}, {"at": "tomorrow"}, {"tags": {"a": 1}}, 3], ids=repr
)
def test_what_would_have_to_be_guessed_is_not(value: Any) -> None:
    assert repair(SCHEMA, value) is None


def test_a_valid_value_needs_no_change() -> None:
    assert repair(SCHEMA, {"n": 1}) == ({"n": 1}, [])
