"""Actions, observations, predictions and verdicts: the words of a step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any
"""A JSON value: None, bool, int, float, str, list of Json or dict of str to Json."""

LATEST_HANDSHAKE = "2025-11-25"
"""The last protocol version that opens with `initialize`."""

LATEST = "2026-07-28"
"""The first protocol version without a handshake, and the newest."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call, as the agent sent it."""

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RpcError:
    """A JSON-RPC error in place of a result."""

    code: int
    message: str


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent receives: a CallToolResult in wire form, or a JSON-RPC error.

    Exactly one of `result` and `error` is set.
    """

    result: dict[str, Json] | None = None
    error: RpcError | None = None

    @property
    def is_error(self) -> bool:
        """True for a JSON-RPC error and for a result with `isError`."""
        return self.result is None or bool(self.result.get("isError"))

    @property
    def structured(self) -> Json:
        """The `structuredContent`, or None where there is none."""
        return None if self.result is None else self.result.get("structuredContent")

    @property
    def text(self) -> str:
        """The text blocks of the result, joined by newlines, or the JSON-RPC error's message."""
        if self.result is None:
            return self.error.message if self.error else ""
        blocks = self.result.get("content", ())
        return "\n".join(block["text"] for block in blocks if block.get("type") == "text")

    def to_json(self) -> dict[str, Json]:
        """`{"result": …}` or `{"error": {"code", "message"}}`."""
        if self.error is not None:
            return {"error": {"code": self.error.code, "message": self.error.message}}
        return {"result": self.result}

    @classmethod
    def failure(cls, message: str) -> Observation:
        """A tool error: text, `isError`, and never `structuredContent` (MCP 2025-06-18, tools, error handling)."""
        return cls({"content": [{"type": "text", "text": message}], "isError": True})


@dataclass(frozen=True, slots=True)
class Violation:
    """One finding of a verifier.

    Args:
        rule: The rule's name, such as `schema`.
        path: JSON pointer into the observation's structured content.
        message: What is wrong, for a person.
    """

    rule: str
    path: str
    message: str


@dataclass(slots=True)
class Prediction:
    """An engine's answer to one request, before it is verified."""

    observation: Observation
    engine: str
