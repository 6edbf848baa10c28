"""Calls that go on as tasks: the extension `io.modelcontextprotocol/tasks` (SEP-2663) of MCP 2026-07-28."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from mcp_world.core.clock import iso
from mcp_world.core.seed import Rng
from mcp_world.core.types import Event, Json, Observation
from mcp_world.serve.conversation import Act
from mcp_world.spec.script import MISSING_CAPABILITY, TASKS
from mcp_world.world.world import World

_ENDED = ("completed", "failed", "cancelled")
_TTL, _POLL = 300_000, 500


@dataclass(eq=False)
class _Task:
    """One call that goes on after its request was answered."""

    id: str
    created: str
    updated: str
    ttl: int
    poll: int
    status: str = "working"
    outcome: dict[str, Json] = field(default_factory=dict)
    answers: dict[str, Json] = field(default_factory=dict)
    questions: dict[str, Json] = field(default_factory=dict)
    answered: anyio.Event = field(default_factory=anyio.Event)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    def summary(self) -> dict[str, Json]:
        """The fields of every task."""
        return {
            "taskId": self.id,
            "status": self.status,
            "createdAt": self.created,
            "lastUpdatedAt": self.updated,
            "ttlMs": self.ttl,
            "pollIntervalMs": self.poll,
        }


class Tasks:
    """The tasks of one world.

    Args:
        world: The world; it gives tasks their ids and times.
        group: Where they run.
    """

    def __init__(self, world: World, group: TaskGroup) -> None:
        self._world = world
        self._group = group
        self._tasks: dict[str, _Task] = {}

    def create(
        self,
        observation: Observation,
        answers: dict[str, Json],
        act: Act,
        play: Callable[[tuple[Event, ...]], Awaitable[None]],
    ) -> dict[str, Json]:
        """Let a call go on by itself.

        Args:
            observation: The call's observation; what comes after its `task` event happens in the task.
            answers: What the client has answered so far.
            act: Takes all answers and gives the next observation.
            play: Lets events happen.
        """
        at = next(index for index, event in enumerate(observation.events) if event.kind == "task")
        options = observation.events[at].params
        now = iso(self._world.clock.now)
        number = len(self._tasks) + 1
        task = _Task(
            Rng.of(self._world.seed, "task", self._world.id, number).string("0123456789abcdef", 32),
            now,
            now,
            _positive(options.get("ttlMs"), _TTL),
            _positive(options.get("pollIntervalMs"), _POLL),
            answers=answers,
        )
        self._tasks[task.id] = task
        self._group.start_soon(self._run, task, observation, observation.events[at + 1 :], act, play)
        return {"resultType": "task", **task.summary()}

    async def _run(
        self,
        task: _Task,
        observation: Observation,
        events: tuple[Event, ...],
        act: Act,
        play: Callable[[tuple[Event, ...]], Awaitable[None]],
    ) -> None:
        with task.scope:
            while True:
                await play(tuple(event for event in events if event.kind in ("wait", "change")))
                if not observation.questions:
                    break
                task.questions = dict(observation.questions)
                self._turn(task, "input_required")
                while task.questions:
                    task.answered = anyio.Event()
                    await task.answered.wait()
                self._turn(task, "working")
                observation = await act(task.answers)
                events = observation.events
            if observation.error is not None:
                task.outcome = {"error": observation.error.to_json()}
                self._turn(task, "failed")
            else:
                task.outcome = {"result": observation.result}
                self._turn(task, "completed")

    def _turn(self, task: _Task, status: str) -> None:
        task.status = status
        task.updated = iso(self._world.clock.now)

    async def get(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """`tasks/get`: the task, with its result or error once it has ended, or what it waits for."""
        task = self._find(ctx, params)
        waiting = {"inputRequests": task.questions} if task.status == "input_required" else {}
        return {**task.summary(), **waiting, **task.outcome}

    async def update(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """`tasks/update`: answers to some or all of what the task waits for."""
        task = self._find(ctx, params)
        given = params.get("inputResponses")
        if not isinstance(given, Mapping):
            raise MCPError(types.INVALID_PARAMS, "inputResponses is an object")
        for key, answer in given.items():
            if key in task.questions:
                task.answers[key] = answer
                task.questions.pop(key)
        task.answered.set()
        return {}

    async def cancel(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """`tasks/cancel`: end a task, if it has not ended."""
        task = self._find(ctx, params)
        if task.status not in _ENDED:
            task.scope.cancel()
            task.questions = {}
            self._turn(task, "cancelled")
        return {}

    def close(self) -> None:
        """End all tasks."""
        for task in self._tasks.values():
            task.scope.cancel()

    def _find(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> _Task:
        declared = (params.get("_meta") or {}).get(types.CLIENT_CAPABILITIES_META_KEY) or {}
        if TASKS not in (declared.get("extensions") or {}):
            raise MCPError(
                MISSING_CAPABILITY,
                f"Missing required client capability: {TASKS}",
                {"requiredCapabilities": {"extensions": {TASKS: {}}}},
            )
        id = params.get("taskId")
        named = ctx.request.headers.get("mcp-name") if ctx.request is not None else id
        if named != id:
            raise MCPError(types.HEADER_MISMATCH, f"Mcp-Name header {named!r} does not match taskId {id!r}")
        task = self._tasks.get(id) if isinstance(id, str) else None
        if task is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown task: {id}")
        return task


def _positive(value: Json, default: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default
