"""A world: one isolated simulated environment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from time import perf_counter_ns

import anyio

from mcp_world.core.clock import Clock, iso
from mcp_world.core.ledger import Ledger
from mcp_world.core.types import LATEST, Action, Json, Observation, Prediction, Violation
from mcp_world.engines import engine_for
from mcp_world.engines.contract import Engine, Facts, Request
from mcp_world.spec.load import load_one
from mcp_world.spec.model import ServerSpec, Tool
from mcp_world.verify.schema import conforms
from mcp_world.world import arguments
from mcp_world.world.journal import Journal
from mcp_world.world.step import Step


class World:
    """One isolated environment: spec, engine, ledger, journal, clock and seed.

    Args:
        spec: The server, or its name or path.
        engine: What predicts; the procedural engine where none is given.
        seed: Same seed, spec, facts and calls: the same bytes.
        facts: Records that the world starts with, by kind.
        start: The world's time at the start; drawn from the seed where none is given.
        journal: Where steps are written before their answers leave.
        pace: What scripted and recorded pauses are multiplied with; 0 for none.
        id: The world's name.

    Raises:
        BadInput: The spec cannot be loaded, or a fact contradicts it.
    """

    __slots__ = (
        "_lock", "_number", "_start", "clock", "engine", "facts", "id", "journal", "ledger", "pace", "seed", "spec",
        "start", "steps",
    )  # fmt: skip

    def __init__(
        self,
        spec: ServerSpec | str,
        *,
        engine: Engine | None = None,
        seed: int = 0,
        facts: Facts | None = None,
        start: datetime | None = None,
        journal: Journal | None = None,
        pace: float = 1.0,
        id: str = "default",
    ) -> None:
        self.spec = load_one(spec) if isinstance(spec, str) else spec
        self.engine = engine or engine_for(self.spec)
        self.id = id
        self.seed = seed
        self.facts = facts or {}
        self.journal = journal
        self.pace = pace
        self._start = start
        self._lock = anyio.Lock(fast_acquire=True)
        self._begin()

    def _begin(self) -> None:
        self.clock = Clock(self.seed, self._start)
        self.start = self.clock.now
        self.ledger = Ledger()
        self.steps: list[Step] = []
        if self.facts:
            self.engine.state(self.ledger, self.facts)
        self._number: int | None = None

    async def reset(self, seed: int | None = None) -> None:
        """Go back to the start, with another seed if one is given; steps in flight finish first."""
        async with self._lock:
            self.seed = self.seed if seed is None else seed
            self._begin()

    async def step(self, action: Action, *, protocol: str = LATEST) -> Observation:
        """Take one action; what is returned has been committed.

        Args:
            action: The call.
            protocol: The MCP version that it came by, for the journal.

        Raises:
            JournalError: The step could not be written, and did not happen.
        """
        begun = perf_counter_ns()
        try:
            self._lock.acquire_nowait()
        except anyio.WouldBlock:
            await self._lock.acquire()
        try:
            self.ledger.begin(len(self.steps) + 1)
            observation, engine, attempts, notes = await self._observe(action)
            step = Step(
                len(self.steps) + 1, action, observation, observation, engine, attempts, protocol,
                self.clock.text, (perf_counter_ns() - begun) // 1000, notes,
            )  # fmt: skip
            if self.journal is not None:
                await self._write(self.journal, step)
            self.ledger.commit()
            self.steps.append(step)
            self.clock.tick()
        except BaseException:
            self.ledger.rollback()
            raise
        finally:
            self._lock.release()
        return observation

    async def witness(self, action: Action, observation: Observation) -> None:
        """Take a step that really happened elsewhere: its observation is the true one, and the engine learns from it.

        Args:
            action: The call.
            observation: What was really observed.
        """
        async with self._lock:
            number = len(self.steps) + 1
            self.ledger.begin(number)
            tool = self.spec.by_name.get(action.tool)
            if tool is not None:
                await self.engine.witness(self._request(tool, action, None, (), 0), observation)
            self.ledger.commit()
            step = Step(number, action, observation, observation, "witness", 0, LATEST, self.clock.text, 0)
            if self.journal is not None:
                await self._write(self.journal, step)
            self.steps.append(step)
            self.clock.tick()

    async def _observe(self, action: Action) -> tuple[Observation, str, int, Sequence[dict[str, Json]]]:
        """Check the arguments, predict, verify.

        Gives the observation, who made it, the number of predictions, and what is to be told of them.
        """
        tool = self.spec.by_name.get(action.tool)
        if tool is None:
            return arguments.unknown_tool(action.tool, self.spec.dialect), "arguments", 0, ()
        refusal = None if self.engine.talks(tool.name) else arguments.as_task_only(tool)
        refusal = refusal or arguments.check(tool, action.arguments, self.spec.dialect)
        if refusal is not None and not self.engine.holds(action):
            return refusal, "arguments", 0, ()
        notes: list[dict[str, Json]] = []
        violations: Sequence[Violation] = ()
        previous: Prediction | None = None
        for attempt in range(self.engine.attempts):
            request = self._request(tool, action, previous, violations, attempt)
            prediction = await self.engine.predict(request)
            observation = prediction.observation
            violations = prediction.violations or (() if prediction.verbatim else conforms(tool, observation))
            if violations or prediction.notes is not None:
                notes.append(_note(prediction, violations))
            if not violations:
                if observation.is_error:
                    self.ledger.rollback()
                if prediction.unseen and not observation.questions:
                    await self.engine.witness(request, observation)
                return observation, prediction.engine, attempt + 1, notes
            self.ledger.rollback()
            previous = prediction
        wrong = violations[0]
        return (
            Observation.failure(
                f"Internal error: {tool.name} gave no valid result ({wrong.path or '/'}: {wrong.message})"
            ),
            "none",
            self.engine.attempts,
            notes,
        )

    def _request(
        self,
        tool: Tool,
        action: Action,
        previous: Prediction | None,
        violations: Sequence[Violation],
        attempt: int,
    ) -> Request:
        return Request(
            self.spec,
            tool,
            action,
            self.ledger,
            self.seed,
            len(self.steps) + 1,
            self.clock.now,
            self.start,
            self.facts,
            tuple(violations),
            previous,
            attempt,
            self.steps,
        )

    async def _write(self, journal: Journal, step: Step) -> None:
        if self._number is None:
            self._number = journal.world(
                self.id,
                self.spec.name,
                self.engine.name,
                self.seed,
                iso(self.start),
            )
        await journal.append(self._number, step)


def _note(prediction: Prediction, violations: Sequence[Violation]) -> dict[str, Json]:
    """What the journal keeps of one prediction."""
    note: dict[str, Json] = {"engine": prediction.engine, **(prediction.notes or {})}
    if violations:
        note["violations"] = [{"rule": v.rule, "path": v.path, "message": v.message} for v in violations]
    return note
