"""The short way of a hot call over HTTP: past the SDK, where nobody can tell.

A `tools/call` of a known session (or of 2026-07-28, which has none), in good form and with nothing to stream, is
answered here as JSON, and so is a plain `tools/list`. Everything else, and whatever is wrong in any way, goes the SDK's
way, which words the refusal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from mcp_world.core.encoding import encode
from mcp_world.core.types import LATEST, LATEST_HANDSHAKE, Action, Json
from mcp_world.serve.impersonation import Impersonation

_MEMBERS = {"jsonrpc", "id", "method", "params"}
_MAX_BODY = 1024 * 1024
_SESSION = b"mcp-session-id"
_JSON = (b"content-type", b"application/json")

Handler = Callable[[Scope, Receive, Send], Awaitable[None]]


class ShortWay:
    """Answers hot calls; passes on the rest.

    Args:
        impersonation: The world's server.
        long_way: The SDK's ASGI handler.
        checks: Lets in the hosts and origins that may.
    """

    def __init__(self, impersonation: Impersonation, long_way: Handler, checks: TransportSecurityMiddleware) -> None:
        self.impersonation = impersonation
        self._long_way = long_way
        self._checks = checks
        self._sessions: dict[bytes, str] = {}
        """Open sessions of the handshake era, and their protocol versions."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _single(scope["headers"])
        if headers is None or scope["method"] != "POST" or not self._may(headers):
            await self._watched(scope, receive, send, headers or {})
            return
        body, messages = await _read(receive)
        request = None if body is None else self._call(body, headers)
        if request is None or await self._checks.validate_request(Request(scope), is_post=True) is not None:
            await self._watched(scope, _again(messages, receive), send, headers, body)
            return
        await self._answer(request, headers, send)

    def _may(self, headers: dict[bytes, bytes]) -> bool:
        """Whether the headers are those of a call that is in good form."""
        accept = headers.get(b"accept", b"")
        if b"application/json" not in accept or b"text/event-stream" not in accept:
            return False
        if headers.get(b"content-type", b"").split(b";")[0].strip() != b"application/json":
            return False
        version = headers.get(b"mcp-protocol-version")
        if version == LATEST.encode():
            return headers.get(b"mcp-method") == b"tools/call" and not any(
                name.startswith(b"mcp-param-") for name in headers
            )
        return headers.get(_SESSION) in self._sessions and (
            version is None or version.decode("latin-1") in HANDSHAKE_PROTOCOL_VERSIONS
        )

    def _call(self, body: bytes, headers: dict[bytes, bytes]) -> dict[str, Any] | None:
        """The call in a body, or None where it must go the long way."""
        try:
            request = orjson.loads(body)
        except orjson.JSONDecodeError:
            return None
        if not isinstance(request, dict) or request.get("jsonrpc") != "2.0":
            return None
        if request.get("method") == "tools/list":
            return request if self._plain_list(request, headers) else None
        if request.get("method") != "tools/call":
            return None
        id, params = request.get("id"), request.get("params")
        if (
            isinstance(id, bool)
            or not isinstance(id, str | int)
            or not isinstance(params, dict)
            or request.keys() - _MEMBERS
        ):
            return None
        name, arguments, meta = params.get("name"), params.get("arguments", {}), params.get("_meta", {})
        if (
            not isinstance(name, str)
            or not isinstance(arguments, dict)
            or not isinstance(meta, dict)
            or "progressToken" in meta
        ):
            return None
        if params.keys() - {"name", "arguments", "_meta"} or self.impersonation.world.engine.talks(name):
            return None
        if headers.get(b"mcp-protocol-version") == LATEST.encode():
            good = meta.get(PROTOCOL_VERSION_META_KEY) == LATEST and isinstance(
                meta.get(CLIENT_CAPABILITIES_META_KEY), dict
            )
            if (
                not good
                or headers.get(b"mcp-name") != name.encode()
                or _has_header_arguments(self.impersonation.input_schema(name))
            ):
                return None
        elif PROTOCOL_VERSION_META_KEY in meta:
            return None
        return request

    def _plain_list(self, request: dict[str, Any], headers: dict[bytes, bytes]) -> bool:
        """Whether this is a handshake-era call for the whole list, which as one SSE event some clients find too long."""
        id, params = request.get("id"), request.get("params", {})
        plain = isinstance(id, str | int) and not isinstance(id, bool) and params in ({}, {"_meta": {}})
        old = headers.get(b"mcp-protocol-version") != LATEST.encode()
        return plain and old and headers.get(_SESSION) in self._sessions and not request.keys() - _MEMBERS

    async def _answer(self, request: dict[str, Any], headers: dict[bytes, bytes], send: Send) -> None:
        modern = headers.get(b"mcp-protocol-version") == LATEST.encode()
        session = headers.get(_SESSION, b"")
        protocol = LATEST if modern else self._sessions.get(session, LATEST_HANDSHAKE)
        params = request.get("params", {})
        reply: dict[str, Json] = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            if request["method"] == "tools/list":
                reply["result"] = self.impersonation.tools(protocol)
                await self._send(reply, 200, session, send)
                return
            observation = await self.impersonation.step(Action(params["name"], params.get("arguments", {})), protocol)
            if observation.error is not None:
                reply["error"] = observation.error.to_json()
            else:
                assert observation.result is not None
                reply["result"] = (
                    self.impersonation.envelope("tools/call", observation.result) if modern else observation.result
                )
        except MCPError as error:
            reply["error"] = {"code": error.error.code, "message": error.error.message}
        status = ERROR_CODE_HTTP_STATUS.get(reply["error"]["code"], 200) if modern and "error" in reply else 200
        await self._send(reply, status, session, send)

    async def _send(self, reply: dict[str, Json], status: int, session: bytes, send: Send) -> None:
        data = encode(reply)
        answered = [_JSON, (b"content-length", str(len(data)).encode())]
        if session:
            answered.append((_SESSION, session))
        await send({"type": "http.response.start", "status": status, "headers": answered})
        await send({"type": "http.response.body", "body": data})

    async def _watched(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        headers: dict[bytes, bytes],
        body: bytes | None = None,
    ) -> None:
        """The long way, noting which sessions open and end."""
        session = headers.get(_SESSION)
        opening: list[bytes] = []
        ended = False

        async def watch(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                if session is None and message["status"] < 300:
                    opening.extend(value for name, value in message["headers"] if name.lower() == _SESSION)
                ended = message["status"] == 404 or (scope["method"] == "DELETE" and message["status"] < 300)
            elif opening and message["type"] == "http.response.body" and message.get("body"):
                self._open(opening.pop(), message["body"])
            await send(message)

        await self._long_way(scope, receive, watch)
        if ended and session is not None:
            self._sessions.pop(session, None)

    def _open(self, session: bytes, body: bytes) -> None:
        """Note a session and the version that its handshake agreed on."""
        start = body.find(b"{")
        try:
            result = orjson.loads(body[start : body.rfind(b"}") + 1]).get("result", {})
        except orjson.JSONDecodeError:
            return
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(version, str):
            self._sessions[session] = version


def _single(headers: list[tuple[bytes, bytes]]) -> dict[bytes, bytes] | None:
    """The headers by name, or None where one that matters comes twice."""
    out: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in out and (name.startswith(b"mcp-") or name in (b"content-type", b"host", b"origin")):
            return None
        out[name] = value
    return out


def _has_header_arguments(schema: dict[str, Json] | None) -> bool:
    """Whether a tool wants some arguments mirrored in `Mcp-Param-*` headers."""
    properties = (schema or {}).get("properties")
    return isinstance(properties, dict) and any(
        isinstance(p, dict) and "x-mcp-header" in p for p in properties.values()
    )


async def _read(receive: Receive) -> tuple[bytes | None, list[Message]]:
    """A body of at most 1 MiB, and the messages that it came in; None where it is larger or the client has gone."""
    messages: list[Message] = []
    body = b""
    while True:
        message = await receive()
        messages.append(message)
        if message["type"] != "http.request":
            return None, messages
        body += message.get("body", b"")
        if len(body) > _MAX_BODY:
            return None, messages
        if not message.get("more_body"):
            return body, messages


def _again(messages: list[Message], receive: Receive) -> Receive:
    """A receive that gives messages once more before it goes on."""
    waiting = list(messages)

    async def replay() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return replay
