"""A live server that we ask things: started or reached, and past the handshake."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
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

Tap = Callable[[str, Json], None]
"""Told of each message: who sent it (`client` or `server`), and the message."""


@asynccontextmanager
async def connected(
    launch: Launch,
    tap: Tap = lambda sender, message: None,
    capabilities: Mapping[str, Json] | None = None,
    answers: Iterable[tuple[str, dict[str, Json]]] = (),
) -> AsyncIterator[Peer]:
    """A server that has been greeted; its answer to that is `peer.hello`.

    Args:
        launch: How to reach the server.
        tap: Told of each message.
        capabilities: What we say that we can do; nothing where none are given.
        answers: Method and result for each question of the server, in order; what has none is declined.

    Raises:
        BadInput: The server cannot be started or reached, does not speak MCP, or stops to answer.
    """
    where = launch.url or " ".join(launch.command)
    try:
        async with AsyncExitStack() as stack:
            read, write = await stack.enter_async_context(_connect(launch))
            peer = Peer(read, write, tap, answers)
            await peer.greet(capabilities or {})
            yield peer
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


class Peer:
    """Speaks JSON-RPC over a transport, without the SDK's result models, which would drop what they do not know."""

    def __init__(self, read: Any, write: Any, tap: Tap, answers: Iterable[tuple[str, dict[str, Json]]] = ()) -> None:
        self.hello: dict[str, Json] = {}
        self._read = read
        self._write = write
        self._tap = tap
        self._answers = list(answers)
        self._number = 0

    async def greet(self, capabilities: Mapping[str, Json]) -> None:
        """The handshake.

        Raises:
            BadInput: The server refused it.
        """
        hello = await self.request(
            "initialize",
            {
                "protocolVersion": LATEST_HANDSHAKE,
                "capabilities": dict(capabilities),
                "clientInfo": {"name": "mcp-world", "version": "1"},
            },
        )
        if isinstance(hello, types.ErrorData):
            raise BadInput(f"it refused the handshake: {hello.message}")
        self.hello = hello
        await self._send(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"))

    async def _send(self, message: types.JSONRPCMessage) -> None:
        self._tap("client", message.model_dump(mode="json", by_alias=True, exclude_unset=True))
        await self._write.send(SessionMessage(message))

    async def request(
        self, method: str, params: dict[str, Json], patience: float = PATIENCE
    ) -> dict[str, Json] | types.ErrorData:
        """The result, or the error, of one request.

        Raises:
            TimeoutError: There was none in time; the connection stays as it is.
            BadInput: The server closed the connection.
        """
        self._number += 1
        await self._send(types.JSONRPCRequest(jsonrpc="2.0", id=self._number, method=method, params=params))
        with anyio.fail_after(patience):
            while True:
                try:
                    item = await self._read.receive()
                except (anyio.EndOfStream, anyio.ClosedResourceError):
                    raise BadInput("it closed the connection", do="Does it start by itself?") from None
                if isinstance(item, Exception):
                    continue  # a line that is no JSON-RPC, as some servers write to stdout
                message = item.message
                self._tap("server", message.model_dump(mode="json", by_alias=True, exclude_unset=True))
                if isinstance(message, types.JSONRPCResponse) and message.id == self._number:
                    return dict(message.result)
                if isinstance(message, types.JSONRPCError) and message.id == self._number:
                    return message.error
                if isinstance(message, types.JSONRPCRequest):
                    await self._reply(message)

    async def _reply(self, message: types.JSONRPCRequest) -> None:
        """Answer a question of the server."""
        reply: types.JSONRPCMessage
        known = next((answer for answer in self._answers if answer[0] == message.method), None)
        if known is not None:
            self._answers.remove(known)
            reply = types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result=known[1])
        elif message.method == "ping":
            reply = types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result={})
        else:
            error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
            reply = types.JSONRPCError(jsonrpc="2.0", id=message.id, error=error)
        await self._send(reply)


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
