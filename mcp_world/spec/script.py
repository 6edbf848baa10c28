"""What a spec scripts: steps that are played as they are written, in place of a fabricated answer.

A script is data. Its templates look values up and do nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Event, Json, Observation, RpcError
from mcp_world.spec.schema import Schema, SchemaError

if TYPE_CHECKING:
    from mcp.shared.uri_template import UriTemplate

MISSING_CAPABILITY = -32021
"""MissingRequiredClientCapability (MCP 2026-07-28, lifecycle)."""

TASKS = "io.modelcontextprotocol/tasks"

Step = Mapping[str, Json]
"""One step: a single key that says what happens, and how."""

_TEMPLATE = re.compile(r"\{\{\s*([A-Za-z_][\w.$/-]*)\s*\}\}")
_TEXT = {"type": "string"}
_OBJECT = {"type": "object"}
_STEP: dict[str, Json] = {
    "reply": {"type": ["object", "string"]},
    "fail": _TEXT,
    "error": {"type": "object", "required": ["code", "message"], "properties": {"message": _TEXT}},
    "ask": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "required": ["method"],
            "properties": {
                "method": {"enum": ["elicitation/create", "sampling/createMessage", "roots/list"]},
                "params": _OBJECT,
            },
        },
    },
    "progress": {"type": "object", "required": ["progress"]},
    "log": {"type": "object", "required": ["data"]},
    "notify": {"type": "object", "required": ["method"]},
    "change": {"type": "object", "minProperties": 1, "maxProperties": 1},
    "wait": {"type": ["number", "string"]},
    "drop": {"const": True},
    "task": _OBJECT,
    "require": _OBJECT,
}
_STEPS: dict[str, Json] = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": _STEP,
    },
}
_SCRIPT: dict[str, Json] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "tools": {"type": "object", "additionalProperties": _STEPS},
        "prompts": {"type": "object", "additionalProperties": _STEPS},
        "resources": {"type": "object", "additionalProperties": _STEPS},
        "completions": {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "array", "items": _TEXT}},
        },
        "cache": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"ttlMs": {"type": "integer", "minimum": 0}, "cacheScope": {"enum": ["public", "private"]}},
        },
        "greeting": _STEPS,
        "pageSize": {"type": "integer", "minimum": 1},
    },
}


@lru_cache(maxsize=1024)
def template(text: str) -> UriTemplate:
    """A URI template (RFC 6570).

    Raises:
        ValueError: It is none.
    """
    from mcp.shared.uri_template import UriTemplate  # here, for it brings the SDK, and half a second

    return UriTemplate.parse(text)


def variables_of(text: str, uri: str) -> Mapping[str, Json] | None:
    """The variables of a URI in a template that it fits, or None where it does not fit."""
    try:
        return template(text).match(uri)
    except ValueError:
        return None


@dataclass(frozen=True)
class Script:
    """The scripted part of a spec.

    Args:
        tools: Steps of calls, by tool.
        prompts: Steps of `prompts/get`, by prompt.
        resources: Steps of `resources/read`, by URI or URI template.
        completions: Values to complete an argument with, by prompt or URI template, and argument.
        cache: `ttlMs` and `cacheScope` of lists and reads (MCP 2026-07-28, caching).
        greeting: Steps that the server takes by itself once a session has begun; only versions with a handshake have any.
        page_size: How many entries a list gives at a time; 0 for all.
    """

    tools: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    prompts: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    resources: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    completions: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    cache: Mapping[str, Json] = field(default_factory=dict)
    greeting: Sequence[Step] = ()
    page_size: int = 0

    @cached_property
    def drops(self) -> bool:
        """Whether a stream is ever closed in the middle of a call, so that clients must be able to resume it."""
        every = [*self.tools.values(), *self.prompts.values(), *self.resources.values()]
        return any("drop" in step for steps in every for step in steps)

    def resource(self, uri: str) -> tuple[Sequence[Step], Mapping[str, Json]] | None:
        """The steps of a resource and the variables of the template that it fits, or None."""
        if uri in self.resources:
            return self.resources[uri], {}
        for text in self.resources:
            variables = variables_of(text, uri) if "{" in text else None
            if variables is not None:
                return self.resources[text], variables
        return None


NOTHING = Script()


def read_script(data: Json, where: str) -> Script:
    """The script of a spec.

    Args:
        data: The `script` member as read.
        where: File and pointer, for messages.

    Raises:
        BadInput: A step is not one that there is.
    """
    if data is None:
        return NOTHING
    wrong = Schema(_SCRIPT).violations(data)
    if wrong:
        raise BadInput(
            wrong[0].message if len(wrong[0].message) < 200 else wrong[0].message[:200] + "…",
            where=where + wrong[0].path,
            do=f"A step is one of: {', '.join(_STEP)}.",
        )
    for uri in data.get("resources", ()):
        try:
            template(uri)
        except ValueError as error:
            raise BadInput(f"{uri!r} is no URI template: {error}", where=f"{where}/resources") from None
    return Script(
        tools=data.get("tools", {}),
        prompts=data.get("prompts", {}),
        resources=data.get("resources", {}),
        completions=data.get("completions", {}),
        cache=data.get("cache", {}),
        greeting=data.get("greeting", ()),
        page_size=data.get("pageSize", 0),
    )


@dataclass(frozen=True)
class Scene:
    """What the templates of a script may speak of.

    Args:
        values: By name: `arguments`, `answers`, `uri`, `variables`; None where nothing is a template.
        answers: What the client has answered, by key.
        capabilities: What the client can do.
    """

    values: Mapping[str, Json] | None
    answers: Mapping[str, Json]
    capabilities: Mapping[str, Json]


def play(steps: Sequence[Step], scene: Scene) -> Observation:
    """Play steps up to the first reply, error, or question that the client has not answered.

    A call is played from its beginning each time that answers come in; what happened before an answered question
    has happened already, and is left out.

    Args:
        steps: The steps.
        scene: What their templates speak of.
    """
    events: list[Event] = []
    for step in steps:
        ((kind, raw),) = step.items()
        value = raw if scene.values is None else fill(raw, scene.values)
        if kind == "ask":
            able = {key: question for key, question in value.items() if _can(scene.capabilities, question)}
            open_ = {key: question for key, question in able.items() if not _answers(scene.answers.get(key), question)}
            if open_:
                questions = {key: {"params": {}, **question} for key, question in open_.items()}
                return Observation({"resultType": "input_required", "inputRequests": questions}, events=tuple(events))
            if able:
                events.clear()
        elif kind == "require":
            missing = {name: need for name, need in value.items() if name not in scene.capabilities}
            if missing:
                return _lacking(missing, events)
        elif kind == "task" and value.get("required") and TASKS not in scene.capabilities.get("extensions", {}):
            return _lacking({"extensions": {TASKS: {}}}, events)
        elif kind == "reply":
            result = {"content": [{"type": "text", "text": value}]} if isinstance(value, str) else value
            return Observation(result, events=tuple(events))
        elif kind == "fail":
            return Observation({"content": [{"type": "text", "text": value}], "isError": True}, events=tuple(events))
        elif kind == "error":
            wrong = RpcError(int(value["code"]), str(value["message"]), value.get("data"))
            return Observation(error=wrong, events=tuple(events))
        elif kind == "wait":
            events.append(Event("wait", {"seconds": _seconds(value)}))
        else:
            events.append(Event(kind, value if isinstance(value, dict) else {}))  # type: ignore[arg-type]
    return Observation({"content": []}, events=tuple(events))


def fill(value: Json, scope: Mapping[str, Json]) -> Json:
    """A value with its templates filled: `{{arguments.name}}` alone is the value itself, within text its text."""
    if isinstance(value, str):
        whole = _TEMPLATE.fullmatch(value)
        if whole is not None:
            return _look(whole[1], scope)
        return _TEMPLATE.sub(lambda found: _text(_look(found[1], scope)), value)
    if isinstance(value, dict):
        return {key: fill(inner, scope) for key, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, scope) for inner in value]
    return value


def _look(path: str, scope: Mapping[str, Json]) -> Json:
    found: Any = scope
    for part in path.split("."):
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        elif isinstance(found, list) and part == "length":
            found = len(found)
        else:
            return None
    return dict(found) if isinstance(found, Mapping) else found


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()


def _seconds(value: Json) -> float:
    try:
        return min(max(float(value), 0.0), 3600.0)
    except (TypeError, ValueError):
        return 0.0


_NEEDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def _can(capabilities: Mapping[str, Json], question: Mapping[str, Json]) -> bool:
    """Whether the client declared that it can answer."""
    return _NEEDS[question["method"]] in capabilities


def _answers(answer: Json, question: Mapping[str, Json]) -> bool:
    """Whether an answer is one to the question: of its form, and of the schema that was asked for."""
    if not isinstance(answer, dict):
        return False
    method = question["method"]
    if method == "roots/list":
        return isinstance(answer.get("roots"), list)
    if method == "sampling/createMessage":
        return "content" in answer
    if answer.get("action") != "accept":
        return answer.get("action") in ("decline", "cancel")
    wanted = question.get("params", {}).get("requestedSchema")
    try:
        return not isinstance(wanted, dict) or Schema(wanted).is_valid(answer.get("content", {}))
    except SchemaError:
        return True


def _lacking(needed: Mapping[str, Json], events: list[Event]) -> Observation:
    names = ", ".join(TASKS if name == "extensions" else name for name in needed)
    wrong = RpcError(
        MISSING_CAPABILITY, f"Missing required client capability: {names}", {"requiredCapabilities": needed}
    )
    return Observation(error=wrong, events=tuple(events))
