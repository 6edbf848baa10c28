"""Calls a live server's read-only tools with made-up arguments, to collect examples of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import mcp_types as types

from mcp_world.core.errors import BadInput
from mcp_world.core.seed import digest
from mcp_world.core.types import Json
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.capture import ask
from mcp_world.spec.client_config import Launch
from mcp_world.spec.live import Tap, connected
from mcp_world.spec.model import Tool, tools_of
from mcp_world.spec.names import words
from mcp_world.spec.schema import Schema, SchemaError

_THEN = datetime(2025, 1, 6, 8, 0, tzinfo=UTC)
_PATIENCE = 15.0
"""Seconds that a call may take."""
_MOST = 2_000
"""Values of answers that are remembered as arguments."""


async def explore(
    launch: Launch,
    tap: Tap,
    named: frozenset[str],
    calls: int,
    seed: int,
    progress: Callable[[str, float], None],
) -> Counter[str]:
    """Call what may be called; gives how often each tool was.

    Arguments are fabricated from the tool's inputSchema; where an earlier answer had a value of an argument's name, that
    is taken at times, so that what exists is asked for too.

    Args:
        launch: How to reach the server.
        tap: Told of each message.
        named: Tools to call although they do not say that they only read.
        calls: How often each tool is called.
        seed: Other arguments with another seed.
        progress: Told of each call.

    Raises:
        BadInput: The server cannot be reached, or has no tool that may be called.
    """
    called: Counter[str] = Counter()
    async with connected(launch, tap) as peer:
        spec = await ask("", peer, lambda what, done: progress(what, 0.0))
        tools, _, _ = tools_of(spec["tools"], "tools")
        unknown = named - {tool.name for tool in tools}
        if unknown:
            raise BadInput(f"there is no tool {min(unknown)!r}", where="--tool")
        chosen = [tool for tool in tools if tool.annotations.get("readOnlyHint") is True or tool.name in named]
        if not chosen:
            raise BadInput("none of its tools says that it only reads", do="Name those that may be called with --tool.")
        seen: dict[tuple[str, ...], list[Json]] = {}
        values = Values("en_US")
        for turn in range(calls):
            for number, tool in enumerate(chosen):
                progress(f"{tool.name}, call {turn + 1}", (turn * len(chosen) + number) / (calls * len(chosen)))
                arguments = _arguments(tool, values, seen, digest(seed, tool.name, turn), turn)
                if arguments is None:
                    continue
                try:
                    answer = await peer.request("tools/call", {"name": tool.name, "arguments": arguments}, _PATIENCE)
                except TimeoutError:
                    continue  # it takes its time, or hangs; the others are asked all the same
                called[tool.name] += 1
                if not isinstance(answer, types.ErrorData) and not answer.get("isError"):
                    _remember(answer.get("structuredContent"), seen)
    return called


def _arguments(
    tool: Tool, values: Values, seen: Mapping[tuple[str, ...], list[Json]], key: int, turn: int
) -> dict[str, Json] | None:
    """Arguments that a tool takes; None where none can be made."""
    try:
        fabricator = Fabricator(Schema(tool.raw.get("inputSchema") or {"type": "object"}), values)
        made = fabricator.root(key, now=_THEN, kind="")
    except (SchemaError, Unsatisfiable):
        return None
    if not isinstance(made, dict):
        return None
    known = {name: seen[words(name)][turn % len(seen[words(name)])] for name in made if seen.get(words(name))}
    better = {**made, **known}
    return better if tool.input is None or tool.input.is_valid(better) else made


def _remember(value: Any, seen: dict[tuple[str, ...], list[Json]]) -> None:
    if isinstance(value, list):
        for inner in value:
            _remember(inner, seen)
    elif isinstance(value, dict):
        for name, inner in value.items():
            known = seen.setdefault(words(name), [])
            if isinstance(inner, str | int) and inner not in known and len(known) < _MOST:
                known.append(inner)
            else:
                _remember(inner, seen)
