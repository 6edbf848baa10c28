"""Asking a live server what it is: identity, capabilities, tools, resources, templates, prompts, all pages, as they come."""

from __future__ import annotations

from collections.abc import Callable

import mcp_types as types

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.cassette import Call, Cassette
from mcp_world.spec.client_config import Launch
from mcp_world.spec.live import Peer, connected

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
    progress("initialize", 0)
    async with connected(launch) as peer:
        return await ask(name, peer, progress)


async def repeat(launch: Launch, cassette: Cassette) -> Cassette:
    """What a live server answers to the requests of a cassette.

    Args:
        launch: How to reach the server.
        cassette: The requests, and the answers to what the server asks meanwhile.

    Raises:
        BadInput: The server cannot be started or reached, or does not speak MCP.
    """
    calls: list[Call] = []
    async with connected(launch, capabilities=cassette.capabilities, answers=cassette.answers) as peer:
        spec = await ask("", peer, lambda what, done: None)
        for _, method, key in _LISTS:
            calls.append(Call(method, {}, result={key: spec[key]}))
        for call in cassette.calls:
            if call.method.endswith("/list") or call.method in ("initialize", "server/discover"):
                continue
            answer = await peer.request(call.method, call.params)
            if isinstance(answer, types.ErrorData):
                error = answer.model_dump(mode="json", exclude_none=True)
                calls.append(Call(call.method, call.params, error=error))
            else:
                calls.append(Call(call.method, call.params, result=answer))
        return Cassette("", {"name": cassette.header.get("name")}, peer.hello, calls)


async def ask(name: str, peer: Peer, progress: Progress) -> dict[str, Json]:
    """The spec of a server that has been greeted; see `capture`."""
    hello = peer.hello
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


async def _all(peer: Peer, method: str, key: str, done: float, progress: Progress) -> list[Json]:
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
