"""Recording real servers from npm, and replaying, repeating and exploring them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import NODE_MODULES, ROOT, mcp_world, needs_node

EVERYTHING = ["node", str(NODE_MODULES / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js")]
MEMORY = ["node", str(NODE_MODULES / "@modelcontextprotocol" / "server-memory" / "dist" / "index.js")]
US = [sys.executable, "-m", "mcp_world"]

pytestmark = needs_node


async def errand(command: list[str]) -> list[Any]:
    """All that a client sees of a server: answers, progress, log messages, questions."""
    seen: list[Any] = []

    def keep(tag: str, value: Any) -> None:
        seen.append(
            [
                tag,
                value.model_dump(mode="json", by_alias=True, exclude_none=True)
                if hasattr(value, "model_dump")
                else value,
            ]
        )

    async def elicit(ctx: Any, params: Any) -> types.ElicitResult:
        keep("elicit", params)
        return types.ElicitResult(action="accept", content={"name": "Ada", "check": True})

    async def sample(ctx: Any, params: Any) -> types.CreateMessageResult:
        keep("sample", params)
        return types.CreateMessageResult(
            role="assistant", model="m", content=types.TextContent(type="text", text="Paris")
        )

    async def roots(ctx: Any) -> types.ListRootsResult:
        seen.insert(0, ["roots", None])  # it is asked for some time after the handshake
        return types.ListRootsResult(roots=[types.Root(uri="file:///tmp/x", name="x")])

    async def progress(*how: Any) -> None:
        keep("progress", list(how))

    async def attempt(tag: str, action: Any) -> None:
        try:
            keep(tag, await action)
        except Exception as error:
            keep(tag, f"{type(error).__name__}: {error}")

    server = StdioServerParameters(command=command[0], args=command[1:], cwd=ROOT)
    async with Client(
        stdio_client(server),
        mode="legacy",
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
    ) as client:
        keep("hello", [client.server_info.model_dump(exclude_none=True), client.instructions])
        await anyio.sleep(0.6)
        for tag, action in (
            ("tools", client.list_tools()), ("resources", client.list_resources()), ("templates", client.list_resource_templates()), ("prompts", client.list_prompts()),
        ):  # fmt: skip
            await attempt(tag, action)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("echo", {"message": "hi"}), ("get-sum", {"a": 1, "b": 2}), ("get-sum", {"a": "x"}), ("get-tiny-image", {}),
            ("get-structured-content", {"location": "Chicago"}), ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("get-resource-links", {"count": 2}), ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
            ("trigger-long-running-operation", {"duration": 1, "steps": 3}), ("trigger-sampling-request", {"prompt": "capital?", "maxTokens": 50}),
            ("trigger-elicitation-request", {}), ("get-roots-list", {}), ("nope", {}),
        ]  # fmt: skip
        for name, arguments in calls:
            await attempt(name, client.call_tool(name, arguments, progress_callback=progress))
        for uri in ("demo://resource/static/document/architecture.md", "demo://resource/dynamic/text/3", "demo://nope"):
            await attempt(uri, client.read_resource(uri))
        for name, given in (("simple-prompt", None), ("args-prompt", {"city": "Paris"}), ("nope", None)):
            await attempt(name, client.get_prompt(name, given))
        ref = types.PromptReference(type="ref/prompt", name="completable-prompt")
        await attempt("complete", client.complete(ref, {"name": "department", "value": "S"}))
    return seen


def test_a_replayed_server_cannot_be_told_from_the_recorded_one(tmp_path: Path) -> None:
    tape = tmp_path / "everything.jsonl"
    recorded = anyio.run(errand, [*US, "record", "--output", str(tape), "--", *EVERYTHING])
    replayed = anyio.run(errand, [*US, "serve", str(tape), "--journal", "none"])
    assert replayed == recorded
    tags = [tag for tag, _ in recorded]
    assert tags.count("progress") == 3 and {"sample", "elicit", "roots"} <= set(tags) and len(tags) > 30


def session(command: list[str], lines: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=lines, capture_output=True, cwd=ROOT, timeout=60)


def requests(*methods: tuple[str, dict[str, Any]]) -> bytes:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    all_ = [("initialize", hello), ("notifications/initialized", {}), *methods]
    return b"".join(
        json.dumps({"jsonrpc": "2.0", **({} if method.startswith("notifications/") else {"id": n}), "method": method, "params": params}).encode() + b"\n"
        for n, (method, params) in enumerate(all_)
    )  # fmt: skip


def test_every_byte_passes_in_both_directions(tmp_path: Path) -> None:
    child = tmp_path / "child.py"
    child.write_text(
        "import sys\n"
        "data = sys.stdin.buffer.read()\n"
        "open(sys.argv[1], 'wb').write(data)\n"
        'sys.stdout.buffer.write(b\'stray \\xff\\r\\n{"jsonrpc":"2.0",  "id":1,"result":{}}\\n\' + b\'x\' * 300000 + b\'\\nno newline\')\n'
        "sys.stderr.write('noise')\n"
        "sys.exit(7)\n"
    )
    sent = b'{"jsonrpc":"2.0" , "id":1,"method":"ping"}\r\n\xfe\n' + b"y" * 300_000
    tape = tmp_path / "t.jsonl"
    done = session(
        [*US, "record", "--output", str(tape), "--", sys.executable, str(child), str(tmp_path / "got")], sent
    )
    assert (tmp_path / "got").read_bytes() == sent
    assert done.stdout == b'stray \xff\r\n{"jsonrpc":"2.0",  "id":1,"result":{}}\n' + b"x" * 300_000 + b"\nno newline"
    assert done.returncode == 7 and b"noise" in done.stderr
    kept = [json.loads(line) for line in tape.read_text().splitlines()]
    assert [line["message"]["id"] for line in kept if "message" in line] == [1, 1]
    assert any(line.get("raw", "").startswith("stray") for line in kept)


def test_secrets_are_scrubbed_from_the_cassette_and_not_from_the_wire(tmp_path: Path) -> None:
    secret = "ghp_0123456789abcdefghij0123456789abcdef"
    tape = tmp_path / "t.jsonl"
    call = ("tools/call", {"name": "echo", "arguments": {"message": secret}})
    done = session([*US, "record", "--output", str(tape), "--", *EVERYTHING], requests(call))
    assert secret.encode() in done.stdout
    assert secret not in tape.read_text()
    assert json.loads(tape.read_text().splitlines()[-1])["scrubbed"][0] == {
        "what": "github-token",
        "count": 2,
        "first": "/params/arguments/message",
    }
    assert b"scrubbed 2 x github-token" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["record"], "nothing to ask"),
        (["record", "--output", "{tape}", "--", "no-such-command"], "No such file"),
        (["record", "--output", "{there}", "--", "cat"], "there is such a file already"),
        (["record", "--redact", "(", "--output", "{tape}", "--", "cat"], "no regular expression"),
        (["explore", "--output", "{tape}", "--", "false"], "closed the connection"),
        (["diff", "{there}", "--", "false"], "no cassette"),
    ],
)
def test_what_cannot_be_recorded_ends_in_one_line_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], says: str
) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("{}\n")
    tape = tmp_path / "tape.jsonl"
    done = mcp_world(*(word.format(tape=tape, there=there) for word in arguments), cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
    assert not tape.exists() and there.read_text() == "{}\n"


@contextmanager
def recording(tape: Path, url: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = subprocess.Popen(
        [*US, "record", "--output", str(tape), *options, url], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    try:
        assert process.stderr is not None
        yield process, process.stderr.readline().rsplit(" ", 1)[-1].strip()
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_session_over_http_is_recorded_and_replayed(tmp_path: Path, mode: str) -> None:
    from mcp_world import World, load_one
    from mcp_world.engines import engine_for
    from mcp_world.serve.impersonation import Impersonation
    from mcp_world.serve.run import http_servers
    from mcp_world.world.worlds import Worlds

    async def visit(target: Any) -> list[Any]:
        seen: list[Any] = []

        async def progress(*how: Any) -> None:
            seen.append(how)

        async with Client(target, mode=mode) as client:
            for name, arguments in (
                ("test_tool_with_progress", {}),
                ("greet", {"name": "Ada"}),
                ("test_error_handling", {}),
            ):
                result = await client.call_tool(name, arguments, progress_callback=progress)
                seen.append(result.model_dump(mode="json", exclude={"meta"}))
            seen.append((await client.read_resource("test://static-text")).contents[0].text)
        return seen

    tape = tmp_path / "http.jsonl"
    everything = load_one(str(ROOT / "tests" / "conformance" / "everything.yaml"))
    async with http_servers(Worlds([everything]), control_token="control") as at:
        with recording(tape, f"{at.agents}/mcp", "--header", "X-Secret: s3cr3t-value") as (process, url):
            recorded = await visit(url)
            process.terminate()
            await anyio.to_thread.run_sync(process.wait)
    assert "s3cr3t-value" not in tape.read_text()
    spec = load_one(str(tape))
    assert await visit(Impersonation(World(spec, engine=engine_for(spec, "replay"), pace=0)).server()) == recorded


def test_nothing_has_changed_until_something_has(tmp_path: Path) -> None:
    tape = tmp_path / "memory.jsonl"
    calls = (("tools/list", {}), ("tools/call", {"name": "read_graph", "arguments": {}}))
    environment = {**os.environ, "MEMORY_FILE_PATH": str(tmp_path / "graph.jsonl")}
    session(
        ["env", f"MEMORY_FILE_PATH={tmp_path / 'graph.jsonl'}", *US, "record", "--output", str(tape), "--", *MEMORY],
        requests(*calls),
    )
    same = mcp_world("diff", str(tape), "--", *MEMORY, env=environment)
    assert same.returncode == 0 and "nothing changed" in same.stderr, same.stdout
    (tmp_path / "graph.jsonl").write_text('{"type":"entity","name":"Ada","entityType":"person","observations":[]}\n')
    other = mcp_world("diff", str(tape), "--json", "--", *MEMORY, env=environment)
    changes = json.loads(other.stdout)
    assert other.returncode == 1
    assert {"what": "answer", "name": "read_graph {}", "kind": "changed"}.items() <= next(
        c for c in changes if c["path"].endswith("/entities")
    ).items()
    assert (
        mcp_world(
            "diff", str(tape), "--ignore", "content", "--ignore", "structuredContent", "--", *MEMORY, env=environment
        ).returncode
        == 0
    )


def test_two_cassettes_differ_in_tools_schemas_and_answers(tmp_path: Path) -> None:
    def tape(name: str, tools: list[dict[str, Any]], answer: str) -> str:
        lines: list[dict[str, Any]] = [{"cassette": 1, "name": "s"}]
        for id, (method, params, result) in enumerate(
            [
                ("tools/list", {}, {"tools": tools}),
                ("tools/call", {"name": "a", "arguments": {}}, {"content": [{"type": "text", "text": answer}]}),
            ]
        ):
            lines.append(
                {"from": "client", "message": {"jsonrpc": "2.0", "id": id, "method": method, "params": params}}
            )
            lines.append({"from": "server", "message": {"jsonrpc": "2.0", "id": id, "result": result}})
        path = tmp_path / name
        path.write_text("\n".join(map(json.dumps, lines)))
        return str(path)

    a = {"name": "a", "description": "old", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    changed = {
        "name": "a",
        "description": "new",
        "inputSchema": {"type": "object", "properties": {"n": {"type": "string"}}},
    }
    before = tape("a.jsonl", [a, {"name": "gone", "inputSchema": {"type": "object"}}], "1")
    after = tape("b.jsonl", [changed, {"name": "fresh", "inputSchema": {"type": "object"}}], "2")
    done = mcp_world("diff", before, after, "--json")
    assert done.returncode == 1
    assert [(c["what"], c["name"], c["kind"], c["path"]) for c in json.loads(done.stdout)] == [
        ("tool", "gone", "removed", ""), ("tool", "fresh", "added", ""), ("tool", "a", "changed", "/description"),
        ("tool", "a", "changed", "/inputSchema/properties/n/type"), ("answer", "a {}", "changed", "/content/0/text"),
    ]  # fmt: skip
    assert mcp_world("diff", before, before).returncode == 0


def test_only_tools_that_read_are_explored_unless_they_are_named(tmp_path: Path) -> None:
    def called(*options: str) -> set[str]:
        tape = tmp_path / f"{len(options)}.jsonl"
        done = mcp_world(
            "explore",
            "--output",
            str(tape),
            "--calls",
            "2",
            *options,
            "--",
            *MEMORY,
            env={**os.environ, "MEMORY_FILE_PATH": str(tmp_path / "g")},
        )
        assert done.returncode == 0, done.stderr
        lines = [json.loads(line) for line in tape.read_text().splitlines()]
        return {
            line["message"]["params"]["name"] for line in lines if line.get("message", {}).get("method") == "tools/call"
        }

    assert called() == {"read_graph", "search_nodes", "open_nodes"}
    assert called("--tool", "create_entities") == {"read_graph", "search_nodes", "open_nodes", "create_entities"}


def test_a_server_that_reads_nothing_or_lacks_a_named_tool_is_left_alone(tmp_path: Path) -> None:
    server = [sys.executable, "-m", "mcp_world", "serve", "chat", "--journal", "none"]
    done = mcp_world("explore", "--tool", "no_such", "--output", str(tmp_path / "t.jsonl"), "--", *server, cwd=ROOT)
    assert done.returncode == 2 and "no tool 'no_such'" in done.stderr
