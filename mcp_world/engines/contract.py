"""The contract of every engine: `predict(request) -> prediction`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mcp_world.core.ledger import Ledger
from mcp_world.core.types import Action, Json, Observation, Prediction, Violation
from mcp_world.spec.model import ServerSpec, Tool

Facts = Mapping[str, Sequence[Mapping[str, Json]]]
"""Records by kind, singular or plural: `{"issue": [{"number": 1, "title": "…"}]}`."""


class Past(Protocol):
    """A step that was taken."""

    @property
    def tool(self) -> str:
        """The tool that was called."""
        ...

    @property
    def arguments(self) -> Mapping[str, Json]:
        """The arguments."""
        ...

    @property
    def questions(self) -> Mapping[str, Json]:
        """What the client was asked in place of an answer."""
        ...

    @property
    def committed(self) -> Observation:
        """The true observation."""
        ...


@dataclass(slots=True)
class Request:
    """What an engine is asked. It never sees the transport, a fault, or another world.

    Args:
        spec: The server that is impersonated.
        tool: The tool that was called; its arguments have been checked.
        action: The call.
        ledger: The world's entities; changes made here are kept only if the observation is a success.
        seed: The world's seed.
        step: The step's number, from 1.
        now: The world's time.
        start: The world's time before its first step.
        facts: What was stated of the world at its start.
        violations: What was wrong with the previous attempt at this step; empty at the first.
        previous: That attempt.
        attempt: 0 at first, then 1, 2, …
        history: The steps before this one, in order.
    """

    spec: ServerSpec
    tool: Tool
    action: Action
    ledger: Ledger
    seed: int
    step: int
    now: datetime
    start: datetime
    facts: Facts = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    previous: Prediction | None = None
    attempt: int = 0
    history: Sequence[Past] = ()


Report = Callable[[str], None]
"""Takes a word on how far something has come, for a person to read."""


class Engine(ABC):
    """Predicts the observation of an action.

    Attributes:
        name: What it is called by.
        attempts: How often it is asked for one step, each time told what was wrong before.
    """

    name: str
    attempts: int = 4

    async def open(self, report: Report) -> None:
        """Load what takes long to load, such as a model; asked again, it does nothing.

        Raises:
            BadInput: It cannot be loaded here; says what to do.
        """

    async def close(self) -> None:
        """Let go of what was loaded."""

    def state(self, ledger: Ledger, facts: Facts) -> None:
        """Put the stated records of a new world into its empty ledger.

        Raises:
            BadInput: A record contradicts the schema of a result that would show it.
        """

    def talks(self, tool: str) -> bool:
        """Whether calls of a tool may say or ask something (progress, a question) before they are answered."""
        return False

    def holds(self, action: Action) -> bool:
        """Whether it has a recorded answer to this very call, which goes before all rules about arguments."""
        return False

    async def witness(self, request: Request, observation: Observation) -> None:
        """Take note of what a call really did and gave."""

    @abstractmethod
    async def predict(self, request: Request) -> Prediction:
        """Answer one request."""
