"""Actions, observations, predictions and verdicts: the words of a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Json = Any
"""A JSON value: None, bool, int, float, str, list of Json or dict of str to Json."""

LATEST_HANDSHAKE = "2025-11-25"
"""The last protocol version that opens with `initialize`."""

LATEST = "2026-07-28"
"""The first protocol version without a handshake, and the newest."""


def leaves(value: Json) -> Iterator[Json]:
    """The values inside a value that hold no others, in order; keys are none."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


_NONE: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call, as the agent sent it.

    Args:
        tool: The tool's name.
        arguments: Its arguments.
        answers: What the client has answered so far to the questions of this call, by key.
        capabilities: What the client declared that it can do.
    """

    tool: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    answers: Mapping[str, Json] = field(default_factory=lambda: _NONE)
    capabilities: Mapping[str, Json] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class RpcError:
    """A JSON-RPC error in place of a result."""

    code: int
    message: str
    data: Json = None

    def to_json(self) -> dict[str, Json]:
        """The error member of a JSON-RPC response."""
        out: dict[str, Json] = {"code": self.code, "message": self.message}
        return out if self.data is None else {**out, "data": self.data}


EventKind = Literal["progress", "log", "notify", "change", "wait", "drop", "task"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens before an observation is sent: progress, a log message, a pause.

    Args:
        kind: What happens.
        params: How, in the words of `docs/scripts.md`.
    """

    kind: EventKind
    params: Mapping[str, Json] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True)
class Observation:
    """What the agent receives: a CallToolResult in wire form, or a JSON-RPC error.

    Exactly one of `result` and `error` is set. A result with `resultType: input_required` asks the client something
    first (MCP 2026-07-28, multi round-trip requests).

    Args:
        result: The result.
        error: The error in its place.
        events: What happens before it is sent, in order.
    """

    result: dict[str, Json] | None = None
    error: RpcError | None = None
    events: tuple[Event, ...] = ()

    @property
    def questions(self) -> Mapping[str, Json]:
        """What the client is asked before the call can go on, by key; empty where nothing is."""
        if self.result is None or self.result.get("resultType") != "input_required":
            return _NONE
        asked = self.result.get("inputRequests")
        return asked if isinstance(asked, dict) else _NONE

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
            return {"error": self.error.to_json()}
        return {"result": self.result}

    @classmethod
    def failure(cls, message: str) -> Observation:
        """A tool error: text, `isError`, and never `structuredContent` (MCP 2025-06-18, tools, error handling)."""
        return cls({"content": [{"type": "text", "text": message}], "isError": True})


Severity = Literal["error", "warning", "info"]
"""An error makes an observation wrong; a warning makes it doubtful; an info costs nothing."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One finding of a verifier.

    Args:
        rule: The rule's name, such as `schema`.
        path: JSON pointer into the observation's data: its structured content, else the JSON in its text.
        message: What is wrong, for a person.
        severity: How bad it is.
        evidence: What shows it: the values that disagree, the step that said otherwise.
    """

    rule: str
    path: str
    message: str
    severity: Severity = "error"
    evidence: Json = None

    def to_json(self) -> dict[str, Json]:
        """The violation as journals and reports keep it."""
        out = {"rule": self.rule, "severity": self.severity, "path": self.path, "message": self.message}
        return out if self.evidence is None else {**out, "evidence": self.evidence}


@dataclass(slots=True)
class Prediction:
    """An engine's answer to one request, before it is verified.

    Args:
        observation: The answer.
        engine: Which engine made it.
        verbatim: It was written or recorded by someone, and is sent as it stands.
        violations: What the engine itself finds wrong with it; then it is asked again.
        unseen: The ledger does not know of it yet: the engine is to witness it, once it is found valid.
        notes: How it came about, for the journal; None where there is nothing to tell.
    """

    observation: Observation
    engine: str
    verbatim: bool = False
    violations: tuple[Violation, ...] = ()
    unseen: bool = False
    notes: dict[str, Json] | None = None
