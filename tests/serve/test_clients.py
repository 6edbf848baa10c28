"""Real clients: the Python SDK's in both modes, the TypeScript SDK's two lines, and the Inspector's command line, over each transport."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client

from tests.conftest import NODE_MODULES, ROOT, Running, needs_node, running

ISSUE = {"owner": "acme", "repo": "web", "issue_number": 2}
COMMAND = [sys.executable, "-m", "mcp_world", "serve", "source-hosting", "--seed", "7", "--journal", "none"]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("get_issue", ISSUE), ("get_issue", {**ISSUE, "issue_number": 9999}), ("get_issue", {"owner": "acme"}), ("nope", {}),
    ("create_issue", {"owner": "acme", "repo": "web", "title": "Żółw 🐢 \u2028"}),
]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(
        "source-hosting", "--seed", "7", "--journal", "none", log=tmp_path_factory.mktemp("log") / "log"
    ) as started:
        yield started


def check(results: list[dict[str, Any]]) -> None:
    """What every client must have seen."""
    issue, missing, bad, unknown, made = results
    assert issue["structuredContent"]["number"] == 2
    assert json.loads(issue["content"][0]["text"]) == issue["structuredContent"]
    for refused, words in (
        (missing, "Issue not found: 9999"),
        (bad, "received undefined at repo"),
        (unknown, "Tool nope not found"),
    ):
        assert refused["isError"] and "structuredContent" not in refused
        assert words in refused["content"][0]["text"]
    assert made["structuredContent"]["title"] == "Żółw 🐢 \u2028"


def target(transport: str, server: Running) -> Any:
    if transport == "stdio":
        return StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], cwd=str(ROOT))
    return server.agents + "/mcp" if transport == "http" else sse_client(server.agents + "/sse")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_the_python_client(server: Running, transport: str, mode: str) -> None:
    async with Client(target(transport, server), mode=mode) as client:
        assert client.protocol_version == ("2025-11-25" if mode == "legacy" else "2026-07-28")
        assert len((await client.list_tools()).tools) == 20
        results = [await client.call_tool(name, arguments) for name, arguments in CALLS]
        check([result.model_dump(by_alias=True, exclude_none=True, mode="json") for result in results])


@needs_node
@pytest.mark.parametrize("sdk", ["1", "2"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
def test_the_typescript_client(server: Running, transport: str, sdk: str) -> None:
    where = COMMAND if transport == "stdio" else [server.agents + ("/mcp" if transport == "http" else "/sse")]
    done = subprocess.run(
        ["node", "tests/typescript/call.mjs", sdk, transport, *where],
        input=json.dumps(CALLS),
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["server"]["name"] == "source-hosting"
    assert len(seen["tools"]) == 20
    assert seen["instructions"].startswith("Repositories, issues")
    check(seen["results"])


@needs_node
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
def test_the_inspector(server: Running, transport: str) -> None:
    where = (
        COMMAND
        if transport == "stdio"
        else [server.agents + ("/mcp" if transport == "http" else "/sse"), "--transport", transport]
    )
    inspector = ["node", str(NODE_MODULES / ".bin" / "mcp-inspector"), "--cli", *where]
    listed = subprocess.run(
        [*inspector, "--method", "tools/list"], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    shipped = json.loads((ROOT / "tool_specs" / "source-hosting.json").read_text())["tools"]
    assert [t["name"] for t in json.loads(listed.stdout)["tools"]] == [t["name"] for t in shipped]
    call = [
        "--method",
        "tools/call",
        "--tool-name",
        "get_issue",
        "--tool-arg",
        "owner=acme",
        "repo=web",
        "issue_number=2",
    ]
    called = subprocess.run([*inspector, *call], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert json.loads(called.stdout)["structuredContent"]["number"] == 2, called.stderr


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_json_rpc_error_reaches_the_client_as_one(mode: str, tmp_path: Path) -> None:
    with running("email", "--journal", "none", log=tmp_path / "log") as email:
        async with Client(email.agents + "/mcp", mode=mode) as client:
            with pytest.raises(MCPError, match="Unknown tool: nope") as caught:
                await client.call_tool("nope", {})
            assert caught.value.error.code == -32602


@pytest.mark.anyio
async def test_old_clients_get_no_array_as_structured_content_and_keep_the_whole_list(tmp_path: Path) -> None:
    entries = [
        {
            "name": "list_tags",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        },
        {
            "name": "get_motto",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    ]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(entries))
    with running(str(path), "--journal", "none", log=tmp_path / "log") as started:
        async with Client(started.agents + "/mcp", mode="legacy") as old:
            assert [t.name for t in (await old.list_tools()).tools] == ["list_tags", "get_motto"]
            result = await old.call_tool("list_tags", {})
            assert result.structured_content is None
            assert isinstance(json.loads(result.content[0].text), list)
        async with Client(started.agents + "/mcp") as new:
            assert isinstance((await new.call_tool("list_tags", {})).structured_content, list)


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_list_of_more_than_two_megabytes_arrives_whole(tmp_path: Path, transport: str) -> None:
    schema: dict[str, Any] = {"type": "string", "description": "x" * 2_000}
    for _ in range(13):
        schema = {"type": "object", "properties": {"deep": schema}}
    path = tmp_path / "s.json"
    path.write_text(
        json.dumps([{"name": f"t{n}", "description": "y" * 1_000, "inputSchema": schema} for n in range(800)])
    )
    assert path.stat().st_size > 2_200_000
    if transport == "stdio":
        command = StdioServerParameters(
            command=COMMAND[0], args=["-m", "mcp_world", "serve", str(path), "--journal", "none"], cwd=str(ROOT)
        )
        async with Client(command) as client:
            assert len((await client.list_tools()).tools) == 800
    else:
        with running(str(path), "--journal", "none", log=tmp_path / "log") as started:
            async with Client(started.agents + "/mcp", mode="legacy") as client:
                assert len((await client.list_tools()).tools) == 800


@pytest.mark.anyio
async def test_specs_served_apart_are_worlds_of_their_own(tmp_path: Path) -> None:
    with running("weather", "email", "--separate", "--journal", "none", log=tmp_path / "log") as started:
        for name, server in (("weather", "weather"), ("email", "mailbox")):
            async with Client(f"{started.agents}/worlds/{name}/mcp") as client:
                assert client.server_info.name == server


@pytest.mark.anyio
async def test_prompts_and_resources_of_a_spec_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    spec = {
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}},
        "tools": [{"name": "a", "inputSchema": {"type": "object"}}],
        "resources": [{"uri": "doc://one", "name": "One", "description": "The first."}],
        "prompts": [
            {"name": "greet", "description": "Greet somebody.", "arguments": [{"name": "who", "required": True}]}
        ],
    }
    path.write_text(json.dumps(spec))
    with running(str(path), "--journal", "none", log=tmp_path / "log") as started:
        for mode in ("legacy", "auto"):
            async with Client(started.agents + "/mcp", mode=mode) as client:
                assert "The first." in (await client.read_resource("doc://one")).contents[0].text
                assert "who: Ana" in (await client.get_prompt("greet", {"who": "Ana"})).messages[0].content.text
                with pytest.raises(MCPError, match="Resource not found"):
                    await client.read_resource("doc://two")
                with pytest.raises(MCPError, match="Missing required argument: who"):
                    await client.get_prompt("greet")
