"""Cassettes: recorded sessions with real servers, and what they hold.

Ours are JSON Lines (docs/cassettes.md): a header, then a message a line. Sessions of `{request, result, elapsed_ms}` lines
and HAR files are read as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.files import read_text
from mcp_world.spec.script import Step

VERSION = 1
_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_CHANGES = {f"notifications/{name}/list_changed": name for name in ("tools", "prompts", "resources")}
_PLAYED = ("tools/call", "resources/read", "prompts/get", "completion/complete")
_SHORTEST = 0.001
"""Pauses below this many seconds are the machine's, not the server's."""


@dataclass(eq=False)
class Call:
    """One request and its answer.

    Args:
        method: Of the request, such as `tools/call`.
        params: Of the request, without `_meta`.
        events: Steps that came before the answer: progress, log messages, questions, pauses.
        result: The result, or None where there was an error.
        error: `{code, message, data}`, or None.
        elapsed: Seconds from the request to the answer.
    """

    method: str
    params: dict[str, Json]
    events: list[Step] = field(default_factory=list)
    result: dict[str, Json] | None = None
    error: dict[str, Json] | None = None
    elapsed: float = 0.0

    @property
    def tool(self) -> str:
        """The tool that was called, or an empty string."""
        return str(self.params.get("name", "")) if self.method == "tools/call" else ""

    @property
    def arguments(self) -> dict[str, Json]:
        """The arguments of a tool call or a prompt."""
        given = self.params.get("arguments")
        return given if isinstance(given, dict) else {}

    @property
    def failed(self) -> bool:
        """Whether the answer was an error, of either kind."""
        return self.result is None or bool(self.result.get("isError"))

    @cached_property
    def key(self) -> bytes:
        """What tells this request from others: its method and parameters."""
        return encode([self.method, _sorted(self.params)])

    def steps(self) -> list[Step]:
        """The call as a script, with the server's own pauses."""
        if self.error is not None:
            return [*self.events, {"error": self.error}]
        return [*self.events, {"reply": self.result}]


@dataclass(eq=False)
class Cassette:
    """A recorded session.

    Args:
        where: The file, for messages.
        header: What it says of itself.
        hello: The result of `initialize` or `server/discover`, or an empty dict.
        calls: All requests that were answered, in order.
        greeting: Steps that the server took by itself after the handshake, before it was asked for anything.
        capabilities: What the client declared that it can do.
        answers: The method and the result of each question that the client answered, in order.
    """

    where: str
    header: dict[str, Json]
    hello: dict[str, Json]
    calls: list[Call]
    greeting: list[Step] = field(default_factory=list)
    capabilities: dict[str, Json] = field(default_factory=dict)
    answers: list[tuple[str, dict[str, Json]]] = field(default_factory=list)

    def spec(self) -> dict[str, Json] | None:
        """The server as the session shows it, in the layout that `capture` writes; None where its tools were not listed.

        A list that nobody asked for is None.
        """
        found: dict[str, list[Json] | None] = dict.fromkeys(_LISTS.values())
        pages: set[bytes] = set()
        for call in self.calls:
            key = _LISTS.get(call.method)
            if key is not None and call.result is not None and call.key not in pages:
                pages.add(call.key)
                found[key] = [*(found[key] or []), *(call.result.get(key) or [])]
        if not found["tools"]:
            return None
        info = self.hello.get("serverInfo") or (self.hello.get("_meta") or {}).get("io.modelcontextprotocol/serverInfo")
        return {
            "server": self.header.get("name"),
            "protocolVersion": self.hello.get("protocolVersion"),
            "serverInfo": info,
            "capabilities": self.hello.get("capabilities"),
            "instructions": self.hello.get("instructions"),
            **found,
        }


def read_cassette(path: Path) -> Cassette:
    """Read a cassette, a session, or a HAR file.

    Raises:
        BadInput: It is none of these, or a line of it is broken.
    """
    text = read_text(path)
    if path.suffix == ".har":
        return _har(text, path)
    lines = list(_lines(text, path))
    if not lines:
        raise BadInput("it is empty", where=str(path), do="Record a session with `mcp-world record`.")
    first = lines[0][1]
    if "cassette" in first:
        if first["cassette"] != VERSION:
            raise BadInput(
                f"it is a cassette of version {first['cassette']!r}, and this is version {VERSION}", where=str(path)
            )
        messages = [line for _, line in lines[1:] if isinstance(line.get("message"), dict)]
        return _assembled(str(path), first, messages)
    if "request" in first:
        return Cassette(str(path), {"name": path.stem}, {}, [_session_call(line, f"{path}:{n}") for n, line in lines])
    raise BadInput(
        "it is no cassette: its first line has neither `cassette` nor `request`",
        where=f"{path}:1",
        do="Record a session with `mcp-world record`.",
    )


def is_cassette(path: Path) -> bool:
    """Whether a file is to be read as a cassette, by its name."""
    return path.suffix in (".jsonl", ".har")


def _lines(text: str, path: Path) -> Iterable[tuple[int, dict[str, Json]]]:
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        if not row.strip():
            continue
        try:
            line = json.loads(row)
        except (ValueError, RecursionError):
            if number == len(rows) and number > 1:
                return  # a recording that was cut off ends in half a line
            raise BadInput("not a JSON line", where=f"{path}:{number}") from None
        if not isinstance(line, dict):
            raise BadInput("a line is a JSON object", where=f"{path}:{number}")
        yield number, line


def _session_call(line: dict[str, Json], where: str) -> Call:
    request = line.get("request")
    if not isinstance(request, dict) or not isinstance(request.get("name"), str):
        raise BadInput("a request has a name", where=where)
    result, error = line.get("result"), line.get("error")
    if not isinstance(result, dict) and not isinstance(error, dict):
        raise BadInput("a line has a result or an error", where=where)
    params = {"name": request["name"], "arguments": request.get("arguments") or {}}
    elapsed = float(line.get("elapsed_ms") or 0) / 1000
    if isinstance(result, dict):
        return Call("tools/call", params, [], result, None, elapsed)
    return Call("tools/call", params, [], None, error, elapsed)


# messages to calls


@dataclass
class _Open:
    call: Call
    begun: float
    last: float
    token: Json

    def pause(self, at: float) -> None:
        if at - self.last >= _SHORTEST:
            self.call.events.append({"wait": round(at - self.last, 3)})
        self.last = at


def _assembled(where: str, header: dict[str, Json], lines: Sequence[Mapping[str, Json]]) -> Cassette:
    """Calls of the messages that made them."""
    hello: dict[str, Json] = {}
    calls: list[Call] = []
    open_: dict[tuple[Json, Json], _Open] = {}
    early: list[Step] = []
    questions = 0
    capabilities: dict[str, Json] = {}
    asked: dict[tuple[Json, Json], str] = {}
    answers: list[tuple[str, dict[str, Json]]] = []
    for line in lines:
        message, at, session = line["message"], float(line.get("at") or 0) / 1000, line.get("session", "")
        if line.get("from") == "client":
            if "method" in message and "id" in message:
                params = {k: v for k, v in (message.get("params") or {}).items() if k != "_meta"}
                token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
                call = Call(str(message["method"]), params, early)
                early = []
                open_[session, _id(message)] = _Open(call, at, at, token)
                if message["method"] == "initialize":
                    capabilities = params.get("capabilities") or {}
            elif isinstance(message.get("result"), dict) and (session, _id(message)) in asked:
                answers.append((asked.pop((session, _id(message))), message["result"]))
            continue
        if "method" in message:
            waiting = _concerned(message, session, open_)
            steps = early if waiting is None else waiting.call.events
            if waiting is not None:
                waiting.pause(at)
            if "id" not in message:
                steps.extend(_said(message))
            elif message["method"] != "ping":
                questions += 1
                asked[session, _id(message)] = str(message["method"])
                question = {"method": message["method"], "params": message.get("params") or {}}
                steps.append({"ask": {f"question{questions}": question}})
            continue
        done = open_.pop((session, _id(message)), None)
        if done is None:
            continue
        call = done.call
        done.pause(at)
        call.elapsed = at - done.begun
        if isinstance(message.get("result"), dict):
            call.result = message["result"]
        else:
            call.error = message.get("error") or {"code": -32603, "message": "Internal error"}
        if call.method in ("initialize", "server/discover") and call.result is not None:
            hello = hello or call.result
        calls.append(call)
    joined = _rounds_joined(calls)
    return Cassette(where, header, hello, joined, _greeting(joined), capabilities, answers)


def _greeting(calls: Sequence[Call]) -> list[Step]:
    """What came before the first call that can be played; what came with later lists goes to the next such call."""
    greeting: list[Step] = []
    carried = greeting
    for call in calls:
        if call.method in _PLAYED:
            if carried is not greeting:
                call.events[:0] = carried
            carried = []
        else:
            carried.extend(step for step in call.events if "wait" not in step)
            call.events.clear()
    return greeting


def _id(message: Mapping[str, Json]) -> Json:
    return json.dumps(message.get("id"))


def _concerned(message: Mapping[str, Json], session: Json, open_: Mapping[tuple[Json, Json], _Open]) -> _Open | None:
    """The call that a notification or a question of the server belongs to: by its token, else the latest."""
    mine = [waiting for (of, _), waiting in open_.items() if of == session]
    token = (message.get("params") or {}).get("progressToken")
    if token is not None:
        return next((waiting for waiting in mine if waiting.token == token), None)
    return mine[-1] if mine else None


def _said(message: Mapping[str, Json]) -> list[Step]:
    """A notification as a step."""
    method, params = str(message["method"]), message.get("params") or {}
    if method == "notifications/progress":
        return [{"progress": {k: v for k, v in params.items() if k in ("progress", "total", "message")}}]
    if method == "notifications/message":
        return [{"log": params}]
    if method in _CHANGES:
        return [{"change": {"list": _CHANGES[method]}}]
    return [{"notify": {"method": method, "params": params}}]


def _rounds_joined(calls: Iterable[Call]) -> list[Call]:
    """The rounds of one call as one, with its questions (MCP 2026-07-28, multi round-trip requests)."""
    out: list[Call] = []
    waiting: dict[bytes, Call] = {}
    for call in calls:
        rounds = ("inputResponses", "requestState")
        begun = encode([call.method, _sorted({k: v for k, v in call.params.items() if k not in rounds})])
        first = waiting.pop(begun, None) if "inputResponses" in call.params else None
        if first is None:
            out.append(call)
            first = call
        else:
            first.events.extend(call.events)
            first.result, first.error = call.result, call.error
        if first.result is not None and first.result.get("resultType") == "input_required":
            first.events.append({"ask": first.result.get("inputRequests") or {}})
            waiting[begun] = first
    return out


def _sorted(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(inner) for inner in value] if isinstance(value, list) else value


# HAR


def _har(text: str, path: Path) -> Cassette:
    """JSON-RPC over HTTP as browsers and proxies save it (HTTP Archive 1.2)."""
    try:
        entries = json.loads(text)["log"]["entries"]
        assert isinstance(entries, list)
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise BadInput("it is no HAR file: it has no log.entries", where=str(path)) from None
    lines: list[dict[str, Json]] = []
    at = 0.0
    for entry in entries:
        if not isinstance(entry, dict):
            continue
        request, response = entry.get("request") or {}, entry.get("response") or {}
        sent = _messages(str((request.get("postData") or {}).get("text") or ""))
        received = _messages(str((response.get("content") or {}).get("text") or ""))
        session = next(
            (
                header.get("value")
                for header in [*(request.get("headers") or []), *(response.get("headers") or [])]
                if isinstance(header, dict) and str(header.get("name")).lower() == "mcp-session-id"
            ),
            "",
        )
        lines += [{"at": at, "from": "client", "session": session, "message": message} for message in sent]
        at += float(entry.get("time") or 0)
        lines += [{"at": at, "from": "server", "session": session, "message": message} for message in received]
    if not lines:
        raise BadInput("no entry of it is JSON-RPC", where=str(path))
    return _assembled(str(path), {"name": path.stem}, lines)


def _messages(body: str) -> list[dict[str, Json]]:
    """The JSON-RPC messages in a body: JSON, or the data of server-sent events."""
    texts = [body]
    if not body.lstrip().startswith(("{", "[")):
        events = body.replace("\r\n", "\n").split("\n\n")
        texts = ["\n".join(r[5:].strip() for r in event.split("\n") if r.startswith("data:")) for event in events]
    out: list[dict[str, Json]] = []
    for text in texts:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for message in found if isinstance(found, list) else [found]:
            if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
                out.append(message)
    return out
