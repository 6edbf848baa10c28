"""The command line: what it prints, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mcp_world as package
from tests.conftest import mcp_world


def test_the_demo_shows_the_errand_and_is_the_same_each_time() -> None:
    one, two = mcp_world("demo"), mcp_world("demo")
    assert one.returncode == 0, one.stderr
    assert one.stdout == two.stdout
    for line in (
        "→ search_repositories(",
        "→ create_issue(",
        "→ update_issue(",
        "✗ Issue not found:",
        "✗ MCP error -32602: Input validation error",
    ):
        assert line in one.stdout
    assert mcp_world("demo", "--seed", "8").stdout != one.stdout


def test_help_names_every_command() -> None:
    text = mcp_world("--help").stdout
    for command in ("serve", "check", "capture", "log", "specs", "demo"):
        assert command in text
    assert package.__version__ in mcp_world("--version").stdout


def test_specs_lists_what_can_be_served() -> None:
    text = mcp_world("specs").stdout
    assert "source-hosting" in text and "kubernetes" in text


def test_check_says_how_each_tool_is_read_and_where_its_shape_comes_from(tmp_path: Path) -> None:
    tools = [
        {
            "name": "get_note",
            "inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
        }
    ]
    (tmp_path / "notes.json").write_text(json.dumps(tools))
    report = json.loads(mcp_world("check", str(tmp_path / "notes.json"), "--json").stdout)
    assert report["tools"] == [
        {
            "name": "get_note",
            "verb": "get",
            "kind": "note",
            "shape": "{id, name, created_at, updated_at}",
            "source": "inferred",
        }
    ]
    shipped = json.loads(mcp_world("check", "weather", "--json").stdout)
    assert {t["source"] for t in shipped["tools"]} == {"outputSchema"}
    assert shipped["problems"] == []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["serve"], "no spec was given"),
        (["serve", "crm", "--engine", "warp"], "no engine 'warp'"),
        (["serve", "crm", "--locale", "xx_YY"], "no locale"),
        (["serve", "crm", "--start", "soon"], "--start: 'soon' is not a date"),
        (["serve", "crm", "--facts", "/no/such/file.yaml"], "there is no such file"),
        (["serve", "crm", "--separate"], "--separate"),
        (["serve", "crm", "--journal", "/proc/nope/j.db"], "/proc/nope/j.db"),
        (["serve", "crm", "--port", "many"], "port"),
        (["serve", "crm", "--http", "--host", "256.0.0.1", "--journal", "none"], "cannot be bound"),
        (["fly"], "fly"),
        (["log", "/no/such.db"], "there is no such file"),
        (["check"], "no spec was given"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments: list[str], says: str) -> None:
    done = mcp_world(*arguments)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_bad_tool_is_named_on_stderr_when_it_is_served(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(
        json.dumps(
            [
                {"name": "a", "inputSchema": {"type": "object"}},
                {"name": "b", "inputSchema": {"type": "object", "$ref": "http://x/y"}},
            ]
        )
    )
    done = mcp_world("serve", str(path), "--journal", "none", input="")
    assert done.returncode == 0
    assert f"{path}#/1/inputSchema: $ref 'http://x/y' leaves the document; nothing is fetched" in done.stderr
