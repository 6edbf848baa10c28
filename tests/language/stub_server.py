"""A server of chat completions that answers as a test has it answer. (A real one is served in test_models.py.)"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.from_thread
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass
class Stub:
    """What it says, and what it was sent.

    Args:
        says: Answers in turn, the last one for ever: a text, a status, or `break` for a stream that breaks off.
        refuses: Words in a request's body that are answered with 400.
        owner: How it calls itself.
        tokenizes: Whether it has an address for its tokenizer.
    """

    says: list[str | int]
    refuses: tuple[str, ...] = ()
    owner: str = "stub"
    tokenizes: bool = False
    key: str = ""
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    busy: int = 0
    most: int = 0
    sent: int = 0

    async def models(self, request: Request) -> Response:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return JSONResponse({"error": {"message": f"Wrong key: {request.headers.get('authorization')}"}}, 401)
        return JSONResponse(
            {
                "object": "list",
                "data": [
                    {"id": "tiny", "object": "model", "created": 0, "owned_by": self.owner, "max_model_len": 4096}
                ],
            }
        )

    async def tokenize(self, request: Request) -> Response:
        if not self.tokenizes:
            return JSONResponse({}, 404)
        return JSONResponse({"tokens": (await request.json())["prompt"].split()})

    async def complete(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        word = next((word for word in self.refuses if word in json.dumps(body)), None)
        if word is not None:
            return JSONResponse(
                {"error": {"message": f"Unsupported parameter: '{word}'", "type": "invalid_request_error"}}, 400
            )
        say = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        if isinstance(say, int):
            key = request.headers.get("authorization")
            return JSONResponse({"error": {"message": f"no: {key}"}}, say, {"retry-after-ms": "1"})
        return StreamingResponse(self._stream(say), media_type="text/event-stream")

    async def _stream(self, say: str) -> AsyncIterator[str]:
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await anyio.sleep(0.01)
            for piece in _pieces(say):
                self.sent += 1
                yield _event({"choices": [{"index": 0, "delta": {"content": piece}}]})
                await anyio.sleep(0)
                if say == "break":
                    raise RuntimeError("breaks off")
            yield _event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
            yield _event({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}})
            yield "data: [DONE]\n\n"
        finally:
            self.busy -= 1


def _pieces(text: str) -> Iterator[str]:
    for at in range(0, len(text), 16):
        yield text[at : at + 16]


def _event(data: dict[str, Any]) -> str:
    return (
        f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'created': 0, 'model': 'tiny', **data})}\n\n"
    )


@asynccontextmanager
async def serving(stub: Stub) -> AsyncIterator[Stub]:
    """Serve on a free port of this machine."""
    app = Starlette(
        routes=[
            Route("/v1/models", stub.models),
            Route("/v1/chat/completions", stub.complete, methods=["POST"]),
            Route("/tokenize", stub.tokenize, methods=["POST"]),
        ]
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off", ws="none"))
    server.install_signal_handlers = lambda: None  # type: ignore[method-assign]
    async with anyio.create_task_group() as tg:
        tg.start_soon(server.serve)
        while not server.started:
            await anyio.sleep(0.005)
        stub.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
        try:
            yield stub
        finally:
            server.should_exit = True


@contextmanager
def served(stub: Stub) -> Iterator[Stub]:
    """Serve from another thread, for tests that wait for a process."""
    with anyio.from_thread.start_blocking_portal() as portal, portal.wrap_async_context_manager(serving(stub)):
        yield stub
