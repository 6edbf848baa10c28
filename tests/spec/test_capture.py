"""Asking real servers what they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.conftest import NODE_MODULES, mcp_world, needs_node, running

EVERYTHING = ["node", str(NODE_MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js")]
MEMORY = ["node", str(NODE_MODULES / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js")]


@needs_node
def test_a_real_server_over_stdio_is_written_whole(tmp_path: Path) -> None:
    done = mcp_world("capture", "--name", "everything", "--", *EVERYTHING, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spec = json.loads((tmp_path / "tool_specs" / "everything.json").read_text())
    assert spec["serverInfo"]["name"] == "mcp-servers/everything"
    assert "echo" in {t["name"] for t in spec["tools"]}
    assert spec["prompts"] and spec["resources"] and spec["resourceTemplates"]
    assert "completions" in spec["capabilities"]
    assert mcp_world("check", "everything", cwd=tmp_path).returncode == 0


@needs_node
def test_every_server_of_a_config_is_asked_and_one_that_fails_loses_no_other(tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    servers = {"memory": {"command": MEMORY[0], "args": MEMORY[1:]}, "broken": {"command": "no-such-command-anywhere"}}
    config.write_text(json.dumps({"mcpServers": servers}))
    done = mcp_world("capture", "--config", str(config), cwd=tmp_path)
    assert done.returncode == 2
    assert "broken: no-such-command-anywhere: there is no such command" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(json.loads((tmp_path / "tool_specs" / "memory.json").read_text())["tools"]) == 9


def test_a_server_over_http_and_sse_is_captured_as_it_is_served(tmp_path: Path) -> None:
    with running("kubernetes", "--journal", "none", "--token", "secret", log=tmp_path / "log") as server:
        for end in ("mcp", "sse"):
            out = tmp_path / f"{end}.json"
            done = mcp_world(
                "capture",
                f"{server.agents}/{end}",
                "--header",
                "Authorization: Bearer secret",
                "--output",
                str(out),
                cwd=tmp_path,
            )
            assert done.returncode == 0, done.stderr
            captured, shipped = (
                json.loads(out.read_text()),
                json.loads((Path(__file__).parents[2] / "tool_specs" / "kubernetes.json").read_text()),
            )
            assert captured["tools"] == shipped["tools"]
            assert captured["serverInfo"] == shipped["serverInfo"]
            assert captured["instructions"] == shipped["instructions"]


PAGED = """
import json, sys
print("starting up, this is no JSON")
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "initialize":
        r = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "paged", "version": "1", "x": [1]}, "capabilities": {"tools": {}}}
    else:
        page = int(m["params"].get("cursor", 0))
        r = {"tools": [{"name": f"t{page}", "inputSchema": {"type": "object"}, "odd": page}], "nextCursor": str(page + 1) if page < 4 else None}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""


def test_all_pages_come_with_unknown_fields_from_a_server_that_also_chats_on_stdout(tmp_path: Path) -> None:
    script = tmp_path / "paged.py"
    script.write_text(PAGED)
    done = mcp_world("capture", "--output", "-", "--", sys.executable, str(script), cwd=tmp_path)
    spec = json.loads(done.stdout)
    assert [(t["name"], t["odd"]) for t in spec["tools"]] == [(f"t{i}", i) for i in range(5)]
    assert spec["serverInfo"]["x"] == [1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--", sys.executable, "-c", "pass"], "closed the connection"),
        (["http://127.0.0.1:9/mcp"], "cannot be reached"),
        (["--", "no-such-command-anywhere"], "there is no such command"),
        (["http://127.0.0.1:9/mcp", "--header", "nonsense"], "a header has a colon"),
        ([], "nothing to ask"),
    ],
)
def test_what_cannot_be_asked_ends_in_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = mcp_world("capture", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
