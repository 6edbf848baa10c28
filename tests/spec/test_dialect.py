"""Which SDK a server was written with: stated, learned from a session beside it, or guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_world import load_one, parse
from mcp_world.spec.dialect import Dialect
from tests.conftest import SHARED, needs_shared, tool


@pytest.mark.parametrize("dialect", list(Dialect))
def test_a_stated_dialect_wins(dialect: Dialect) -> None:
    assert parse({"dialect": dialect.value, "package": "@a/b", "tools": [tool("a", {})]}, name="t").dialect is dialect


@pytest.mark.parametrize(
    ("marks", "dialect"),
    [
        ({"package": "@scope/server@1.0.0"}, Dialect.TYPESCRIPT),
        ({"capabilities": {"experimental": {}, "tools": {}}}, Dialect.PYTHON_V1),
        (
            {"tools": [{"name": "a", "inputSchema": {"type": "object", "title": "aArguments", "properties": {}}}]},
            Dialect.PYTHON_V2,
        ),
        ({}, Dialect.TYPESCRIPT),
    ],
)
def test_the_marks_that_sdks_leave_are_read(marks: dict[str, object], dialect: Dialect) -> None:
    assert parse({"tools": [tool("a", {})], **marks}, name="t").dialect is dialect


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("MCP error -32602: Input validation error: …", Dialect.TYPESCRIPT),
        ("Input validation error: 'q' is a required property", Dialect.PYTHON_V1),
        ("Error executing tool a: 1 validation error for aArguments", Dialect.PYTHON_V2),
    ],
)
def test_a_session_beside_the_spec_teaches_its_dialect(tmp_path: Path, text: str, dialect: Dialect) -> None:
    (tmp_path / "s.json").write_text(json.dumps([tool("a", {})]))
    line = {"request": {"name": "a"}, "result": {"isError": True, "content": [{"type": "text", "text": text}]}}
    (tmp_path / "s.jsonl").write_text(json.dumps(line) + "\n")
    assert load_one(str(tmp_path / "s.json")).dialect is dialect


@needs_shared
@pytest.mark.parametrize(
    ("server", "dialect"),
    [
        ("fetch", Dialect.PYTHON_V2),
        ("sqlite", Dialect.PYTHON_V1),
        ("memory", Dialect.TYPESCRIPT),
        ("filesystem", Dialect.TYPESCRIPT),
    ],
)
def test_recorded_servers_have_the_dialect_of_their_sessions(server: str, dialect: Dialect) -> None:
    assert load_one(str(SHARED / "real" / "specs" / f"{server}.json")).dialect is dialect
