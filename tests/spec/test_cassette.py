"""Cassettes: messages become calls, whatever came between; broken files end in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_world import load_one
from mcp_world.core.errors import BadInput
from mcp_world.spec.cassette import read_cassette

HEADER = {"cassette": 1, "name": "s", "transport": "stdio"}
TOOLS = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}


def client(id: int, method: str, at: float = 0, **params: Any) -> dict[str, Any]:
    return {"at": at, "from": "client", "message": {"jsonrpc": "2.0", "id": id, "method": method, "params": params}}


def server(at: float = 0, **message: Any) -> dict[str, Any]:
    return {"at": at, "from": "server", "message": {"jsonrpc": "2.0", **message}}


def cassette(tmp_path: Path, *lines: dict[str, Any], name: str = "s.jsonl", tail: str = "") -> Path:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(line) for line in (HEADER, *lines)) + tail)
    return path


def test_answers_find_their_requests_out_of_order(tmp_path: Path) -> None:
    path = cassette(
        tmp_path,
        client(1, "tools/call", 0, name="a", arguments={}), client(2, "tools/call", 10, name="b", arguments={}),
        server(500, id=2, result={"content": [], "n": 2}), server(900, id=1, error={"code": -1, "message": "no"}),
    )  # fmt: skip
    first, second = read_cassette(path).calls
    assert (first.tool, first.result, first.elapsed) == ("b", {"content": [], "n": 2}, 0.49)
    assert (second.tool, second.error, second.failed) == ("a", {"code": -1, "message": "no"}, True)


def test_what_came_between_belongs_to_the_call_of_its_token(tmp_path: Path) -> None:
    path = cassette(
        tmp_path,
        client(1, "tools/call", 0, name="a", _meta={"progressToken": "x"}), client(2, "tools/call", 0, name="b", _meta={"progressToken": "y"}),
        server(100, method="notifications/progress", params={"progressToken": "x", "progress": 1, "total": 2}),
        server(200, method="notifications/message", params={"level": "info", "data": "hi"}),
        server(300, id=9, method="elicitation/create", params={"message": "?"}),
        {"from": "client", "at": 350, "message": {"jsonrpc": "2.0", "id": 9, "result": {"action": "decline"}}},
        server(400, id=1, result={}), server(400, id=2, result={}),
    )  # fmt: skip
    tape = read_cassette(path)
    a, b = tape.calls
    assert [next(iter(step)) for step in a.events] == ["wait", "progress", "wait"]
    assert [step for step in b.events if "wait" not in step] == [
        {"log": {"level": "info", "data": "hi"}},
        {"ask": {"question1": {"method": "elicitation/create", "params": {"message": "?"}}}},
    ]
    assert tape.answers == [("elicitation/create", {"action": "decline"})]


def test_pages_make_one_list_and_the_server_is_served_from_it(tmp_path: Path) -> None:
    two = {"tools": [{"name": "u", "inputSchema": {"type": "object"}}]}
    path = cassette(
        tmp_path,
        client(1, "initialize"), server(id=1, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "2"}, "instructions": "be kind"}),
        client(2, "tools/list"), server(id=2, result={**TOOLS, "nextCursor": "c"}), client(3, "tools/list", cursor="c"), server(id=3, result=two),
        client(4, "tools/list"), server(id=4, result={**TOOLS, "nextCursor": "c"}),
    )  # fmt: skip
    spec = load_one(str(path))
    assert [tool.name for tool in spec.tools] == ["t", "u"]
    assert spec.info == {"name": "shop", "version": "2"} and spec.instructions == "be kind"


def test_rounds_of_one_call_are_one_call_with_a_question(tmp_path: Path) -> None:
    ask = {"who": {"method": "elicitation/create", "params": {}}}
    path = cassette(
        tmp_path,
        client(1, "tools/call", name="t", arguments={"a": 1}), server(id=1, result={"resultType": "input_required", "inputRequests": ask, "requestState": "s"}),
        client(2, "tools/call", name="t", arguments={"a": 1}, inputResponses={"who": {}}, requestState="s"), server(id=2, result={"content": []}),
    )  # fmt: skip
    (call,) = read_cassette(path).calls
    assert call.events == [{"ask": ask}] and call.result == {"content": []}


def test_what_a_server_does_by_itself_at_the_start_is_a_greeting(tmp_path: Path) -> None:
    path = cassette(
        tmp_path,
        client(1, "initialize", capabilities={"roots": {}}), server(id=1, result={}), client(2, "tools/list"),
        server(id=7, method="roots/list"), server(id=2, result=TOOLS), client(3, "tools/call", name="t"), server(id=3, result={}),
    )  # fmt: skip
    tape = read_cassette(path)
    assert tape.greeting == [{"ask": {"question1": {"method": "roots/list", "params": {}}}}]
    assert tape.capabilities == {"roots": {}} and not tape.calls[-1].events


def test_a_recording_that_was_cut_off_is_read_to_its_last_whole_line(tmp_path: Path) -> None:
    path = cassette(tmp_path, client(1, "tools/call", name="t"), server(id=1, result={}), tail='\n{"at": 1, "fro')
    assert len(read_cassette(path).calls) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("{}\n", ":1: it is no cassette"),
        ("[1]\n", ":1: a line is a JSON object"),
        ("not json\n{}\n", ":1: not a JSON line"),
        ('{"cassette": 9}\n', "of version 9"),
        ('{"request": {"name": "a"}}\n', ":1: a line has a result or an error"),
        ('{"request": {}, "result": {}}\n', ":1: a request has a name"),
    ],
)
def test_a_file_that_is_none_ends_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_cassette(path)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_a_session_without_a_list_says_to_add_it_to_a_spec(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(
        json.dumps({"request": {"name": "t", "arguments": {}}, "result": {"content": []}, "elapsed_ms": 12}) + "\n"
    )
    assert read_cassette(path).calls[0].elapsed == 0.012
    with pytest.raises(BadInput, match="--cassette"):
        load_one(str(path))


def entry(sent: Any, received: str, kind: str) -> dict[str, Any]:
    return {
        "time": 40,
        "request": {
            "method": "POST",
            "headers": [{"name": "Mcp-Session-Id", "value": "1"}],
            "postData": {"text": json.dumps(sent)},
        },
        "response": {"headers": [], "content": {"mimeType": kind, "text": received}},
    }


def test_har_is_read_with_json_and_with_events(tmp_path: Path) -> None:
    listed = json.dumps({"jsonrpc": "2.0", "id": 1, "result": TOOLS})
    progress = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}})
    called = json.dumps({"jsonrpc": "2.0", "id": 2, "result": {"content": []}})
    path = tmp_path / "s.har"
    path.write_text(json.dumps({"log": {"entries": [
        {"request": {"method": "GET"}, "response": {"content": {"text": "<html>"}}},
        entry({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, listed, "application/json"),
        entry({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "t", "arguments": {}}}, f"event: message\r\ndata: {progress}\r\n\r\nevent: message\r\ndata: {called}\r\n\r\n", "text/event-stream"),
    ]}}))  # fmt: skip
    spec = load_one(str(path))
    assert [tool.name for tool in spec.tools] == ["t"]
    assert [step for step in spec.examples[-1].events if "wait" not in step] == [{"log": {"data": "x"}}]


@pytest.mark.parametrize(
    "text", ["{}", '{"log": 3}', "nope", '{"log": {"entries": []}}', '{"log": {"entries": [3, {}]}}']
)
def test_a_har_without_messages_ends_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "s.har"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"HAR|JSON-RPC"):
        read_cassette(path)
