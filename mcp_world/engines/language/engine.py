"""A language model as the environment: ask, read, verify, repair, ask again, and at last the procedural engine."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio

from mcp_world.core.ledger import Ledger
from mcp_world.core.seed import digest
from mcp_world.core.types import Json, Observation, Prediction, Violation
from mcp_world.engines.contract import Engine, Facts, Report, Request
from mcp_world.engines.language import prompt
from mcp_world.engines.language.answer import Answer, Unusable, read, without_thinking
from mcp_world.engines.language.graft import graft
from mcp_world.engines.language.grammar import Grammar
from mcp_world.engines.language.history import Historian
from mcp_world.engines.language.model import LanguageModel, Message, ModelError, Reply, Sampling
from mcp_world.engines.language.repair import repair
from mcp_world.engines.procedural.engine import ProceduralEngine, wrapped_by
from mcp_world.engines.procedural.fabricate import MISSING
from mcp_world.engines.procedural.voice import success
from mcp_world.spec.infer import infer
from mcp_world.spec.model import ServerSpec, Tool
from mcp_world.spec.schema import Schema

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Draft(Prediction):
    """A model's answer that was refused, kept to ask again with and to take what is right in it.

    Args:
        reply: What the model said, without its thinking.
        value: The JSON value that it was read as, or None.
    """

    reply: str = ""
    value: Json = None


class LanguageEngine(Engine):
    """Predicts with a language model; what it cannot get right, the procedural engine answers.

    Stateless but for what it remembers of the tokens of texts: one engine serves all worlds of a spec.

    Args:
        spec: The server.
        model: The model; engines may share it.
        name: What the engine is called by.
        locale: Of the procedural engine.
        prompts: A folder of system prompts, in the published layout; our own where none is given.
        instructions: Control instructions: how this world is to differ from the real one.
        temperature: Of the draws; 0.6 is what the published model was measured with.
        limit: Tokens that a reply may have, thinking included; never more than a quarter of the context.
        tries: How often the model is asked for one step.
        keep_thinking: Whether the journal keeps what the model thought.

    Raises:
        BadInput: There is no such folder of prompts.
    """

    def __init__(
        self,
        spec: ServerSpec,
        model: LanguageModel,
        name: str,
        *,
        locale: str = "en_US",
        prompts: Path | None = None,
        instructions: str = "",
        temperature: float = 0.6,
        limit: int = 32_768,
        tries: int = 3,
        keep_thinking: bool = False,
    ) -> None:
        self.name = name
        self.model = model
        self.rest = ProceduralEngine(spec, locale)
        self.tries = tries
        self.attempts = tries + self.rest.attempts
        self._temperature = temperature
        self._keep_thinking = keep_thinking
        kinds = {tool: plan.kind.name for tool, plan in self.rest.model.plans.items()}
        self.historian = Historian(spec, model, prompt.Template(prompts), instructions, limit, kinds)
        self._learned = {tool.name: self._shape(tool) for tool in spec.tools if tool.output is None}
        self._opening = anyio.Lock()
        self._opened = False
        self._trouble = ""

    def _shape(self, tool: Tool) -> Schema | None:
        """The schema of a tool that has none but was only ever seen to answer with data."""
        shape = self.rest.learned.shapes.get(tool.name)
        if shape is None or not shape.successes or not all(variant.style for variant in shape.successes):
            return None
        return Schema(infer([value for variant in shape.successes for value in variant.data]))

    async def open(self, report: Report) -> None:
        """Load or reach the model, and see that the prompts fit it; see `Engine.open`."""
        async with self._opening:
            if not self._opened:
                await self.model.open(report)
                await self.historian.open()
                self._opened = True

    async def close(self) -> None:
        """Let go of the model."""
        self._opened = False
        await self.model.close()

    def state(self, ledger: Ledger, facts: Facts) -> None:
        """Put stated records into a new world's ledger; see `Engine.state`."""
        self.rest.state(ledger, facts)

    async def witness(self, request: Request, observation: Observation) -> None:
        """Do to the ledger what the call did, and keep what its answer shows."""
        await self.rest.witness(request, observation)

    async def predict(self, request: Request) -> Prediction:
        """Ask the model, and after its last try the procedural engine; never raises for what an agent sends."""
        if request.attempt >= self.tries or self.rest.model.plans[request.tool.name].problem:
            return await self._fall_back(request, "every try was refused")
        if not self._opened:
            await self.open(lambda _: None)
        tool = request.tool
        schema = tool.output or self._learned.get(tool.name)
        sampling = Sampling(
            self.historian.budget.limit,
            self._temperature,
            digest(request.seed, request.step, request.attempt) & 0x7FFFFFFF,
        )
        try:
            reply = await self.model.reply(
                await self._messages(request), sampling, None if schema is None else Grammar(schema.checked)
            )
        except ModelError as error:
            if str(error) != self._trouble:  # once, and not for every step of every world
                _log.warning("%s: %s; until it is back the procedural engine answers", self.name, error)
            self._trouble = str(error)
            return await self._fall_back(request, str(error))
        self._trouble = ""
        notes = self._notes(reply)
        try:
            answer = _understood(tool, schema, reply)
        except Unusable as refused:
            return self._refused(reply, None, [Violation(refused.rule, "", refused.message)], notes)
        if answer.kind == "error":
            return Prediction(Observation.failure(answer.text), self.name, notes={**notes, "outcome": "valid"})
        if answer.kind == "text" or schema is None:
            said = success(answer.text, MISSING, request.spec.dialect)
            return Prediction(said, self.name, unseen=True, notes={**notes, "outcome": "valid"})
        value = answer.value
        if schema.is_valid(value):
            notes["outcome"] = "valid"
        else:
            mended = repair(schema, value)
            if mended is None:
                return self._refused(reply, value, schema.violations(value), notes)
            value, notes["changes"] = mended
            notes["outcome"] = "repaired"
        return Prediction(self._shown(request, value), self.name, unseen=True, notes=notes)

    async def _messages(self, request: Request) -> list[Message]:
        """The conversation, with the refused reply and what was wrong with it where there was one."""
        messages = await self.historian.write(request)
        if not isinstance(request.previous, Draft):
            return messages
        most = self.historian.budget.retry
        refused = await self.historian.clip(request.previous.reply, most)
        wrong = await self.historian.clip(prompt.again(request.violations), most)
        return [*messages, Message("assistant", refused or "…"), Message("user", wrong)]

    def _notes(self, reply: Reply) -> dict[str, Json]:
        """What the journal keeps of a reply."""
        notes: dict[str, Json] = {"prompt_tokens": reply.prompt_tokens, "tokens": reply.tokens}
        if reply.cached_tokens:
            notes["cached_tokens"] = reply.cached_tokens
        if self._keep_thinking:
            notes["thinking"] = reply.thinking or without_thinking(reply.text)[1]
        return notes

    def _refused(self, reply: Reply, value: Json, violations: list[Violation], notes: dict[str, Json]) -> Draft:
        said = without_thinking(reply.text)[0].strip()
        nothing = Observation.failure("no valid observation")
        return Draft(
            nothing, self.name, violations=tuple(violations), notes={**notes, "outcome": "refused"}, reply=said, value=value
        )  # fmt: skip

    async def _fall_back(self, request: Request, why: str) -> Prediction:
        """The procedural engine's answer, with what the model gave right."""
        attempt = max(request.attempt - self.tries, 0)
        alone = replace(request, attempt=attempt, violations=(), previous=None)
        prediction = await self.rest.predict(alone)
        notes: dict[str, Json] = {"outcome": "fallback", "why": why}
        draft = request.previous.value if isinstance(request.previous, Draft) else None
        if draft is not None and not prediction.observation.is_error:
            value, taken = graft(self.rest, alone, prediction.observation, draft)
            if taken:
                prediction.observation = self._shown(alone, value)
                self.rest.adopt(alone, prediction.observation)
                notes["taken"] = taken
        prediction.notes = notes
        return prediction

    def _shown(self, request: Request, value: Json) -> Observation:
        """A value as the server shows it: as it was seen to, else as its SDK does."""
        tool, learned = request.tool, self.rest.learned
        wrapped = wrapped_by(tool, value)
        if not wrapped:
            result = learned.success(request, value, data=tool.output is None)
            if result is not None and (tool.output is None or "structuredContent" in result):
                return Observation(result)
        text = value[wrapped] if wrapped else learned.text(value)
        return success(text, MISSING if tool.output is None else value, request.spec.dialect)


def _understood(tool: Tool, schema: Schema | None, reply: Reply) -> Answer:
    """A reply as it was meant.

    Raises:
        Unusable: It was meant as nothing that can be sent.
    """
    try:
        return read(reply.text, data=schema is not None, finish=reply.finish)
    except Unusable:
        wrapper = "" if tool.output is None else _wrapper(tool.output.checked)
        if not wrapper:
            raise
        answer = read(reply.text, data=False, finish=reply.finish)
        return answer if answer.kind == "error" else Answer("data", {wrapper: answer.text}, thinking=answer.thinking)


def _wrapper(schema: Any) -> str:
    """The one string that an object of this schema holds, as SDKs wrap a function's text; or an empty string."""
    properties: Mapping[str, Json] = (schema.get("properties") if isinstance(schema, dict) else None) or {}
    if len(properties) != 1:
        return ""
    ((name, node),) = properties.items()
    return name if isinstance(node, dict) and node.get("type") == "string" else ""
