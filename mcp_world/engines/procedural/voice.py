"""How the impersonated service says no."""

from __future__ import annotations

from mcp_world.core.types import Json, Observation
from mcp_world.engines.procedural.fabricate import MISSING
from mcp_world.spec.dialect import Dialect
from mcp_world.spec.names import spoken


class Refusal(Exception):
    """The service refuses; the message is for the agent.

    Args:
        message: In our own words.
        kind: Why: `missing`, `exists`, `already` or `cursor`.
        id: What was asked for.
    """

    def __init__(self, message: str, kind: str, id: Json) -> None:
        super().__init__(message)
        self.kind = kind
        self.id = id


def not_found(kind: str, id: Json) -> Refusal:
    """There is no such thing."""
    return Refusal(f"{_title(kind)} not found: {id}", "missing", id)


def exists(kind: str, id: Json) -> Refusal:
    """There is one of this name already."""
    return Refusal(f"{_title(kind)} already exists: {id}", "exists", id)


def already(kind: str, id: Json, state: str) -> Refusal:
    """It is in that state, and cannot be brought there again."""
    return Refusal(f"{_title(kind)} {id} is already {state}", "already", id)


def bad_cursor(cursor: str) -> Refusal:
    """A cursor that was never given out."""
    return Refusal(f"Invalid cursor: {cursor}", "cursor", cursor)


def say(refusal: Refusal, tool: str, dialect: Dialect) -> Observation:
    """The refusal as the server's SDK sends an exception of a tool."""
    text = str(refusal)
    return Observation.failure(f"Error executing tool {tool}: {text}" if dialect is Dialect.PYTHON_V2 else text)


def success(text: str, value: Json, dialect: Dialect) -> Observation:
    """A success as the server's SDK sends it: the text, and structured content beside it unless that is MISSING."""
    result: dict[str, Json] = {"content": [{"type": "text", "text": text}]}
    if value is not MISSING:
        result["structuredContent"] = value
    if dialect is not Dialect.TYPESCRIPT:
        result["isError"] = False
    return Observation(result)


def _title(kind: str) -> str:
    text = spoken(kind.rsplit(".", 1)[-1]) or "item"
    return text[:1].upper() + text[1:]
