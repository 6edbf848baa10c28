"""Serving one world over stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from mcp_world.core.encoding import encode as encode_json
from mcp_world.serve.impersonation import Impersonation
from mcp_world.world.world import World

_LINE_LIMIT = 64 * 1024 * 1024
GRACE = 10.0
"""Seconds that calls in flight have to finish once the input has ended or a stop was asked for."""


async def serve_stdio(world: World) -> None:
    """Serve until the input ends or a SIGINT or SIGTERM comes; calls in flight are answered first."""
    source, sink = _claim()
    wire = _Wire(source, sink)
    to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    answers, from_server = anyio.create_memory_object_stream[SessionMessage](64)
    async with anyio.create_task_group() as tg:
        server = Impersonation(world, group=tg).server()
        tg.start_soon(wire.write, from_server)
        tg.start_soon(wire.read, to_server)
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            tg.start_soon(_stop_on, signals, wire)
            await server.run(requests, answers, server.create_initialization_options())
            tg.cancel_scope.cancel()


def _claim() -> tuple[int, int]:
    """Take the wire for ourselves: whatever else prints goes to stderr, and whatever else reads finds nothing."""
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return source, sink


async def _stop_on(signals: AsyncIterator[Any], wire: _Wire) -> None:
    async for _ in signals:
        wire.stop()
        return


class _Wire:
    """JSON-RPC lines in and out, and the count of requests that wait for an answer."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self.sink = sink
        self.waiting: set[str | int] = set()
        self.idle = asyncio.Event()
        self.ended = asyncio.Event()

    def stop(self) -> None:
        """Read no more."""
        self.ended.set()

    async def read(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Pass lines on until the input ends; then wait for the answers that are owed."""
        async with to_server:
            lines = await _reader(self.source)
            ended = asyncio.ensure_future(self.ended.wait())
            while True:
                line = asyncio.ensure_future(lines())
                await asyncio.wait({line, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done() or not line.result():
                    line.cancel()
                    break
                await to_server.send(self._message(line.result()))
            ended.cancel()
            with anyio.move_on_after(GRACE):
                while self.waiting:
                    self.idle.clear()
                    await self.idle.wait()

    def _message(self, line: bytes) -> SessionMessage | Exception:
        try:
            message = types.jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
        except ValueError as error:
            return error
        if isinstance(message, types.JSONRPCRequest):
            self.waiting.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            cancelled = (message.params or {}).get("requestId")
            if isinstance(cancelled, str | int):
                self.waiting.discard(cancelled)
        return SessionMessage(message)

    async def write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Write messages as lines."""
        send = await _writer(self.sink)
        async with from_server:
            async for item in from_server:
                message = item.message
                await send(encode(message) + b"\n")
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
                    self.waiting.discard(message.id)
                    self.idle.set()


def encode(message: types.JSONRPCMessage) -> bytes:
    """A message as JSON bytes, its result untouched."""
    if isinstance(message, types.JSONRPCResponse):
        return encode_json({"jsonrpc": "2.0", "id": message.id, "result": message.result})
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def _is_stream(fd: int) -> bool:
    """Whether an event loop can wait for it: a pipe or a socket, not a file, a terminal or /dev/null."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


async def _reader(fd: int) -> Callable[[], Any]:
    """A function that reads the next line, b"" at the end."""
    if not _is_stream(fd):
        file = anyio.wrap_file(os.fdopen(fd, "rb"))
        return file.readline
    reader = asyncio.StreamReader(limit=_LINE_LIMIT)
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", 0)
    )

    async def line() -> bytes:
        try:
            return await reader.readline()
        except ValueError:
            print("a line longer than 64 MiB was dropped", file=sys.stderr)
            return b"\n"

    return line


async def _writer(fd: int) -> Callable[[bytes], Any]:
    """A function that writes bytes, waiting where the other side is slow."""
    if not _is_stream(fd):
        file = os.fdopen(fd, "wb", 0)

        async def put(data: bytes) -> None:
            file.write(data)

        return put
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop), os.fdopen(fd, "wb", 0)
    )
    writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def send(data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    return send
