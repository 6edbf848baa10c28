"""A call that says or asks something before it is answered: progress, log messages, questions to the client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, cast

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict

from mcp_world.core.types import Event, Json, Observation
from mcp_world.serve.changes import Changes

Act = Callable[[Mapping[str, Json]], Awaitable[Observation]]
"""Takes the answers so far and gives the next observation."""

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class _Raw(BaseModel):
    """A message of any method."""

    method: str
    params: dict[str, Any] | None = None


class _Answer(BaseModel):
    """A client's answer, whatever is in it."""

    model_config = ConfigDict(extra="allow")


class Conversation:
    """One call, from its request to its result.

    Args:
        ctx: The request.
        changes: Who is told of changes.
        pace: What scripted pauses are multiplied with; 0 for none.
        level: The least severe log message that the client wants; only versions with a handshake have it.
    """

    def __init__(
        self, ctx: ServerRequestContext[Any, Any], changes: Changes, pace: float = 1.0, level: str = "debug"
    ) -> None:
        self.ctx = ctx
        self.modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self._changes = changes
        self._pace = pace
        self._level = level

    @property
    def capabilities(self) -> dict[str, Json]:
        """What the client declared that it can do."""
        if self.modern:
            meta = (self.ctx.params or {}).get("_meta", {})
            return dict(meta.get(types.CLIENT_CAPABILITIES_META_KEY) or {})
        declared = self.ctx.session.client_capabilities
        return {} if declared is None else declared.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def run(self, act: Act, answers: dict[str, Json]) -> Observation:
        """Go on until there is a result, or, from 2026-07-28 on, a question: the client then calls again.

        Raises:
            MCPError: The client answered a question with an error, or with what is no answer to it.
        """
        asked: set[str] = set()
        while True:
            observation = await act(answers)
            await self.play(observation.events)
            if not observation.questions or self.modern:
                return observation
            for key, question in observation.questions.items():
                if key in asked:
                    raise MCPError(types.INVALID_PARAMS, f"Invalid answer to {question['method']}")
                asked.add(key)
                answers[key] = await self._ask(question)

    async def play(self, events: Sequence[Event]) -> None:
        """Let happen what happens before an answer."""
        for event in events:
            await self._happen(event)

    async def _happen(self, event: Event) -> None:
        params = event.params
        match event.kind:
            case "wait":
                await anyio.sleep(params["seconds"] * self._pace)
            case "progress":
                await self.ctx.session.report_progress(params["progress"], params.get("total"), params.get("message"))
            case "log":
                await self._log(params)
            case "notify":
                await self._notify(str(params["method"]), params.get("params"))
            case "change":
                ((what, of),) = params.items()
                await self._changes.publish(self.ctx, what, str(of))
            case "drop":
                if self.ctx.close_sse_stream is not None:
                    await self.ctx.close_sse_stream()
            case "task":  # without tasks, a call simply takes its time
                pass

    async def _log(self, params: Mapping[str, Json]) -> None:
        level = params.get("level", "info")
        meta = (self.ctx.params or {}).get("_meta") or {}
        least = meta.get(types.LOG_LEVEL_META_KEY) if self.modern else self._level
        if level in _LEVELS and least in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(least):
            await self._notify("notifications/message", {"level": level, **params})

    async def _notify(self, method: str, params: Json) -> None:
        raw = _Raw(method=method, params=params)
        await self.ctx.session.send_notification(
            cast("types.ServerNotification", raw), related_request_id=self.ctx.request_id
        )

    async def _ask(self, question: Mapping[str, Json]) -> Json:
        """A request to the client."""
        raw = _Raw(method=str(question["method"]), params=question.get("params"))
        related = ServerMessageMetadata(related_request_id=self.ctx.request_id)
        answer = await self.ctx.session.send_request(cast("Any", raw), _Answer, metadata=related)
        return answer.model_dump(mode="json")
