"""Asking a live server what it is: identity, capabilities, tools, resources, templates, prompts, all pages, as they come."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from mcp_world.core.errors import BadInput
from mcp_world.core.types import LATEST_HANDSHAKE, Json
from mcp_world.spec.client_config import Launch

PATIENCE = 60.0
"""Seconds that a server has for each answer."""
_MAX_PAGES = 10_000
_LISTS = (
    ("tools", "tools/list", "tools"),
    ("resources", "resources/list", "resources"),
    ("resources", "resources/templates/list", "resourceTemplates"),
    ("prompts", "prompts/list", "prompts"),
)

Progress = Callable[[str, float], None]
"""Told what is being asked for, and how much of the whole is done, in [0, 1]."""


async def capture(name: str, launch: Launch, progress: Progress = lambda what, done: None) -> dict[str, Json]:
    """The spec of a live server, in the layout that `load` reads; nothing in it is changed.

    Args:
        name: What to call the spec.
        launch: How to reach the server.
        progress: Told of each request.

    Raises:
        BadInput: The server cannot be started or reached, or does not speak MCP.
    """
    where = launch.url or " ".join(launch.command)
    try:
        async with AsyncExitStack() as stack:
            read, write = await stack.enter_async_context(_connect(launch))
            return await _ask(name, _Peer(read, write), progress)
    except BadInput as error:
        raise BadInput(error.what, where=where, do=error.do) from None
    except FileNotFoundError:
        raise BadInput("there is no such command", where=where) from None
    except (OSError, httpx2.HTTPError) as error:
        raise BadInput(f"it cannot be reached: {error}", where=where) from None
    except TimeoutError:
        raise BadInput(f"it did not answer within {PATIENCE:.0f} s", where=where, do="Is it an MCP server?") from None
    except BaseExceptionGroup as group:
        raise _first(group, where) from None


def _first(group: BaseExceptionGroup[BaseException], where: str) -> BaseException:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _first(error, where)
        if isinstance(error, BadInput):
            return BadInput(error.what, where=where, do=error.do)
        if isinstance(error, TimeoutError):
            return BadInput(f"it did not answer within {PATIENCE:.0f} s", where=where, do="Is it an MCP server?")
        if isinstance(error, Exception):
            return BadInput(f"it cannot be reached: {str(error) or type(error).__name__}", where=where)
        return error
    return group


def _connect(launch: Launch) -> Any:
    if launch.command:
        environment = {**get_default_environment(), **os.environ, **launch.env}
        return stdio_client(StdioServerParameters(command=launch.command[0], args=launch.command[1:], env=environment))
    if not launch.url.startswith(("http://", "https://")):
        raise BadInput("a URL begins with http:// or https://", do="Give a URL, or a command behind --.")
    if launch.sse or launch.url.rstrip("/").endswith("/sse"):
        return sse_client(launch.url, headers=launch.headers)
    return streamable_http_client(
        launch.url,
        http_client=httpx2.AsyncClient(headers=launch.headers, timeout=PATIENCE, follow_redirects=True),
    )


class _Peer:
    """Speaks JSON-RPC over a transport, without the SDK's result models, which would drop what they do not know."""

    def __init__(self, read: Any, write: Any) -> None:
        self.read = read
        self.write = write
        self.number = 0

    async def notify(self, method: str) -> None:
        await self.write.send(SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method=method)))

    async def request(self, method: str, params: dict[str, Json]) -> dict[str, Json] | types.ErrorData:
        """The result, or the error, of one request."""
        self.number += 1
        await self.write.send(
            SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=self.number, method=method, params=params))
        )
        with anyio.fail_after(PATIENCE):
            while True:
                try:
                    item = await self.read.receive()
                except (anyio.EndOfStream, anyio.ClosedResourceError):
                    raise BadInput("it closed the connection", do="Does it start by itself?") from None
                if isinstance(item, Exception):
                    continue  # a line that is no JSON-RPC, as some servers write to stdout
                message = item.message
                if isinstance(message, types.JSONRPCResponse) and message.id == self.number:
                    return dict(message.result)
                if isinstance(message, types.JSONRPCError) and message.id == self.number:
                    return message.error
                if isinstance(message, types.JSONRPCRequest):
                    await self._decline(message)

    async def _decline(self, message: types.JSONRPCRequest) -> None:
        reply: types.JSONRPCMessage
        if message.method == "ping":
            reply = types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result={})
        else:
            error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
            reply = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
        await self.write.send(SessionMessage(reply))


async def _ask(name: str, peer: _Peer, progress: Progress) -> dict[str, Json]:
    progress("initialize", 0)
    hello = await peer.request(
        "initialize",
        {
            "protocolVersion": LATEST_HANDSHAKE,
            "capabilities": {},
            "clientInfo": {"name": "mcp-world", "version": "1"},
        },
    )
    if isinstance(hello, types.ErrorData):
        raise BadInput(f"it refused the handshake: {hello.message}")
    await peer.notify("notifications/initialized")
    capabilities = hello.get("capabilities") or {}
    spec: dict[str, Json] = {
        "server": name,
        "protocolVersion": hello.get("protocolVersion"),
        "serverInfo": hello.get("serverInfo"),
        "capabilities": capabilities,
        "instructions": hello.get("instructions"),
    }
    for number, (capability, method, key) in enumerate(_LISTS, 1):
        done = number / (len(_LISTS) + 1)
        spec[key] = await _all(peer, method, key, done, progress) if capability in capabilities else []
    progress("done", 1)
    return spec


async def _all(peer: _Peer, method: str, key: str, done: float, progress: Progress) -> list[Json]:
    """Every page of a list."""
    out: list[Json] = []
    seen: set[str] = set()
    cursor: Json = None
    for page in range(1, _MAX_PAGES):
        progress(f"{method}, page {page}", done)
        result = await peer.request(method, {} if cursor is None else {"cursor": cursor})
        if isinstance(result, types.ErrorData):
            if result.code == types.METHOD_NOT_FOUND:
                return out
            raise BadInput(f"{method} failed: {result.message}")
        out.extend(result.get(key) or [])
        cursor = result.get("nextCursor")
        if not isinstance(cursor, str) or cursor in seen:
            return out
        seen.add(cursor)
    return out
