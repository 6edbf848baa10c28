"""A step: one action and its observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_world.core.types import Action, Json, Observation


@dataclass(slots=True)
class Step:
    """One action and what came of it.

    Args:
        number: From 1.
        action: The call.
        committed: The true observation.
        sent: The one that the agent received; the same, unless a fault stood between.
        engine: Which engine predicted it; `arguments` where the arguments were refused.
        attempts: How many predictions it took.
        protocol: The MCP version of the call.
        time: The world's time, RFC 3339.
        micros: How long it took, in microseconds of the machine's time; for the journal only.
        notes: What is to be told of the predictions that it took: refused ones, repairs, tokens.
    """

    number: int
    action: Action
    committed: Observation
    sent: Observation
    engine: str
    attempts: int
    protocol: str
    time: str
    micros: int
    notes: Sequence[dict[str, Json]] = ()

    @property
    def tool(self) -> str:
        """The tool that was called."""
        return self.action.tool

    @property
    def arguments(self) -> Mapping[str, Json]:
        """The arguments."""
        return self.action.arguments

    @property
    def questions(self) -> Mapping[str, Json]:
        """What the client was asked in place of an answer; empty where nothing was."""
        return self.committed.questions

    def to_json(self) -> dict[str, Json]:
        """The step as the control API and the log show it."""
        return {
            "step": self.number,
            "tool": self.action.tool,
            "arguments": dict(self.action.arguments),
            "committed": self.committed.to_json(),
            "sent": self.sent.to_json(),
            "engine": self.engine,
            "attempts": self.attempts,
            "protocol": self.protocol,
            "time": self.time,
            "micros": self.micros,
            "notes": list(self.notes),
        }
