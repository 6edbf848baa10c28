"""A transparent proxy between a client and a real server: every byte passes, and the messages go into a cassette."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO
from urllib.parse import parse_qs, urlsplit

import httpx2
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.cassette import VERSION
from mcp_world.spec.scrub import Scrubber

_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
    "upgrade", "host", "content-length", "accept-encoding",
})  # fmt: skip
_GRACE = 5.0


class CassetteWriter:
    """Writes a cassette, a message a line, each flushed.

    Args:
        path: The file; it must not be there yet.
        name: What to call the server.
        transport: `stdio` or `http`.
        scrubber: Takes secrets out before anything is written.

    Raises:
        BadInput: The file is there already, or cannot be written.
    """

    def __init__(self, path: Path, name: str, transport: str, scrubber: Scrubber) -> None:
        self.path = path
        self.scrubber = scrubber
        self.messages = 0
        self._begun = perf_counter()
        self._sessions: dict[str, int] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = path.open("x", encoding="utf-8")
        except FileExistsError:
            raise BadInput("there is such a file already", where=str(path), do="Give another with --output.") from None
        except OSError as error:
            raise BadInput(error.strerror or str(error), where=str(path)) from None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._line({"cassette": VERSION, "name": name, "transport": transport, "recorded": now})

    def write(self, sender: str, message: Json, session: str = "") -> None:
        """Keep a message.

        Args:
            sender: `client` or `server`.
            message: The JSON-RPC message.
            session: Tells the sessions of one server apart; what is written is a number.
        """
        self.messages += 1
        at = round((perf_counter() - self._begun) * 1000, 1)
        line: dict[str, Json] = {"at": at, "from": sender}
        if session:
            line["session"] = self._sessions.setdefault(session, len(self._sessions) + 1)
        self._line({**line, "message": self.scrubber.scrub(message)})

    def raw(self, sender: str, text: str) -> None:
        """Keep a line that is no message, as some servers print."""
        if text.strip():
            self._line({"from": sender, "raw": self.scrubber.scrub(text)})

    def close(self) -> None:
        """Write what was scrubbed, and close the file."""
        found = self.scrubber.report()
        if found:
            self._line({"scrubbed": found})
        self._file.close()

    def _line(self, value: dict[str, Json]) -> None:
        self._file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._file.flush()


class _Lines:
    """Cuts a stream of bytes into lines, and gives each to a cassette."""

    def __init__(self, writer: CassetteWriter, sender: str) -> None:
        self._writer = writer
        self._sender = sender
        self._rest = b""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            text = line.decode("utf-8", "replace")
            try:
                message = json.loads(text)
            except (ValueError, RecursionError):
                self._writer.raw(self._sender, text)
                continue
            for one in message if isinstance(message, list) else [message]:
                self._writer.write(self._sender, one)


async def record_stdio(command: list[str], environment: Mapping[str, str], writer: CassetteWriter) -> int:
    """Stand between our own stdin and stdout and a server; gives its exit code.

    Args:
        command: Starts the server.
        environment: For the server.
        writer: Takes the messages.

    Raises:
        BadInput: The command cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(environment),
        )
    except OSError as error:
        raise BadInput(error.strerror or str(error), where=" ".join(command)) from None
    assert process.stdin is not None and process.stdout is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, process.terminate)
    inward = asyncio.create_task(_inward(process.stdin, _Lines(writer, "client")))
    outward = _Lines(writer, "server")
    out = sys.stdout.fileno()
    while data := await process.stdout.read(65_536):
        await loop.run_in_executor(None, _write_all, out, data)
        outward.feed(data)
    inward.cancel()
    try:
        return await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        process.kill()
        return await process.wait()


async def _inward(to: asyncio.StreamWriter, lines: _Lines) -> None:
    """Pass our stdin on; a thread reads it, for it may be a pipe, a file or a terminal."""
    loop, chunks = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        while True:
            data = os.read(0, 65_536)
            loop.call_soon_threadsafe(chunks.put_nowait, data)
            if not data:
                return

    threading.Thread(target=read, daemon=True).start()
    while data := await chunks.get():
        lines.feed(data)
        try:
            to.write(data)
            await to.drain()
        except ConnectionError:
            return
    to.close()


def _write_all(out: int, data: bytes) -> None:
    while data:
        data = data[os.write(out, data) :]


class RecordingProxy:
    """An ASGI app that passes HTTP on to a real server.

    Args:
        url: The server's URL.
        headers: Added to every request.
        writer: Takes the messages.
        http: Sends the requests.
    """

    def __init__(self, url: str, headers: Mapping[str, str], writer: CassetteWriter, http: httpx2.AsyncClient) -> None:
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._headers = dict(headers)
        self._writer = writer
        self._http = http

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        response = await self._pass(request)
        await response(scope, receive, send)

    async def _pass(self, request: Request) -> Response:
        body = await request.body()
        headers = [(k, v) for k, v in request.headers.items() if k not in _HOP]
        query = f"?{request.url.query}" if request.url.query else ""
        outgoing = self._http.build_request(
            request.method,
            self._origin + request.url.path + query,
            headers=[*headers, *self._headers.items(), ("accept-encoding", "identity")],
            content=body,
        )
        session = request.headers.get("mcp-session-id") or _session_in(request.url.query)
        sent = _parsed(body)
        known = bool(session)
        if known:
            self._keep("client", sent, session)
        try:
            response = await self._http.send(outgoing, stream=True)
        except httpx2.HTTPError as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}", 502)
        session = session or response.headers.get("mcp-session-id", "")
        if not known:
            self._keep("client", sent, session)
        kept = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _HOP]
        out = StreamingResponse(self._tee(response, session), response.status_code)
        out.raw_headers = [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in kept]
        return out

    async def _tee(self, response: httpx2.Response, session: str) -> AsyncIterator[bytes]:
        """The body as it comes, its messages kept on the way."""
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        rest = b""
        try:
            async for data in response.aiter_raw():
                rest += data
                if events:
                    *whole, rest = rest.replace(b"\r\n", b"\n").split(b"\n\n")
                    for event in whole:
                        session = session or _session_in(event.decode("utf-8", "replace"))
                        self._keep("server", _parsed(_data_of(event)), session)
                yield data
            if not events:
                self._keep("server", _parsed(rest), session)
        finally:
            await response.aclose()

    def _keep(self, sender: str, messages: list[Json], session: str) -> None:
        for message in messages:
            self._writer.write(sender, message, session)


def _session_in(text: str) -> str:
    """The session that the legacy transport names in its URLs."""
    query = text.split("?", 1)[-1].strip()
    found = parse_qs(query).get("session_id") or parse_qs(query).get("sessionId")
    return found[0] if found else ""


def _data_of(event: bytes) -> bytes:
    return b"\n".join(line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:"))


def _parsed(body: bytes) -> list[Json]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return []
    messages = found if isinstance(found, list) else [found]
    return [message for message in messages if isinstance(message, dict) and "jsonrpc" in message]


async def record_http(
    url: str, headers: Mapping[str, str], writer: CassetteWriter, port: int, ready: Callable[[str], Any]
) -> None:
    """Stand between clients and a server over HTTP until a signal comes.

    Args:
        url: The server's URL.
        headers: Added to every request.
        writer: Takes the messages.
        port: Where clients connect, on loopback; 0 for a free port.
        ready: Told the URL for clients.
    """
    import uvicorn

    from mcp_world.serve.run import bind

    bound = bind("127.0.0.1", port, "--port")
    async with httpx2.AsyncClient(timeout=None) as http:
        app = RecordingProxy(url, headers, writer, http)
        config = uvicorn.Config(app, lifespan="off", log_level="warning", access_log=False, timeout_graceful_shutdown=1)
        ready(f"http://127.0.0.1:{bound.getsockname()[1]}{urlsplit(url).path}")
        await uvicorn.Server(config).serve([bound])
