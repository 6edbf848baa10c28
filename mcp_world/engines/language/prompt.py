"""The words that go to a model: the system prompt of a domain, and turns as Qwen-AgentWorld knows them (arXiv 2606.24597)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

from mcp_world.core.errors import BadInput
from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json, Observation, Violation
from mcp_world.engines.contract import Facts
from mcp_world.engines.language.grammar import MARKER
from mcp_world.spec.cassette import Call
from mcp_world.spec.files import read_text
from mcp_world.spec.model import Tool

DOMAIN = "mcp"
"""The folder of the tools' templates, in the layout that the model's own are published in."""

_PLACES = ("tool_definitions", "demonstrations", "instructions", "facts")
_PLACE = re.compile(r"\{(" + "|".join(_PLACES) + r")\}")
_DEFINED = ("name", "description", "inputSchema", "outputSchema")
_LINE = 160


class Template:
    """A system prompt with places: `{tool_definitions}`, `{demonstrations}`, `{instructions}`, `{facts}`.

    What a template has no place for stands at its end; the published ones have none for the last two.

    Args:
        folder: A folder of templates, `mcp/system_prompt.txt` among them; our own where none is given.

    Raises:
        BadInput: There is no such file, or it has no place for the tools.
    """

    def __init__(self, folder: Path | None = None) -> None:
        name = f"{DOMAIN}/system_prompt.txt"
        if folder is None:
            self.where = name
            self.text = (files(__package__) / "prompts" / name).read_text("utf-8")
            return
        path = folder / name
        self.where = str(path)
        self.text = read_text(path)
        if "{tool_definitions}" not in self.text:
            raise BadInput(
                "it has no place for the tools", where=self.where, do="Put {tool_definitions} where they belong."
            )

    def fill(self, **parts: str) -> str:
        """The prompt.

        Args:
            parts: What goes to the places, by name; an empty text for nothing.
        """
        out = _PLACE.sub(lambda place: parts.get(place[1], ""), self.text)
        left = [parts[name] for name in _PLACES if parts.get(name) and f"{{{name}}}" not in self.text]
        return "\n\n".join([out.strip(), *(part.strip() for part in left)])


def definitions(tools: Iterable[Tool]) -> str:
    """Tools as a model reads them: one JSON object a line."""
    return "\n".join(_json({key: tool.raw[key] for key in _DEFINED if key in tool.raw}) for tool in tools)


def summaries(tools: Iterable[Tool]) -> str:
    """Tools by name, with as much of their descriptions as a line holds."""
    return "\n".join(f"- {tool.name}: {short(tool.description, 80)}" for tool in tools)


def demonstration(call: Call) -> str:
    """A recorded call and its answer."""
    error = str((call.error or {}).get("message", ""))
    answer = Observation(call.result) if call.result is not None else Observation.failure(error)
    return f"{_action(call.tool, call.arguments)}\n{observed(answer)}"


def demonstrations(shown: Iterable[str]) -> str:
    """The section of the demonstrations."""
    text = "\n\n".join(shown)
    return f"\n# Demonstrations\nReal answers of this server.\n\n{text}\n" if text else ""


def instructions(text: str) -> str:
    """The section of the control instructions."""
    return f"\n# Instructions for this world\n{text.strip()}\n" if text.strip() else ""


def facts(stated: Facts, start: str) -> str:
    """The section of what is stated of a world at its start."""
    lines = [f"- {kind}: {_json(dict(record))}" for kind, records in stated.items() for record in records]
    return "\n".join(["", "# This world", f"It begins at {start}.", *lines]) + "\n"


def turn(number: int, tool: str, arguments: Mapping[str, Json]) -> str:
    """What a user's message says of a step.

    Args:
        number: The turn's number, from 1.
        tool: The tool that was called.
        arguments: Its arguments.
    """
    return f"### Turn {number}\n{_action(tool, arguments)}"


def preceded(turn: str, before: str) -> str:
    """A turn with what has to be known first between its heading and its action."""
    heading, _, action = turn.partition("\n")
    return f"{heading}\n{before}\n\n{action}" if before else turn


def observed(observation: Observation) -> str:
    """What an assistant's message says of a step: a failure in the form that is asked for, a success as it was seen."""
    if observation.is_error:
        body = _json({"isError": True, "message": observation.text})
    elif observation.structured is not None:
        body = _json(observation.structured)
    else:
        blocks = (observation.result or {}).get("content") or []
        body = "\n".join(str(block.get("text", f"[{block.get('type')}]")) for block in blocks)
    return f"{MARKER}\n{body}"


def again(violations: Iterable[Violation]) -> str:
    """What a model is told of an answer that was refused."""
    lines = (f"- {finding.path + ': ' if finding.path else ''}{short(finding.message)}" for finding in violations)
    return "\n".join([
        "That is no valid observation:", *lines, "Answer the same call again: the whole observation, and nothing else.",
    ])  # fmt: skip


def in_short(number: int, tool: str, arguments: Mapping[str, Json], observation: Observation) -> str:
    """One line for a turn that is left out."""
    body = observed(observation).removeprefix(MARKER).strip()
    return f"- Turn {number}: {tool} {short(_json(dict(arguments)), 80)} -> {short(body, 80)}"


def known(entity: Entity) -> str:
    """One line for a thing that an earlier turn made, changed or showed."""
    if entity.deleted is not None:
        return f"- {entity.kind} {entity.id}: deleted"
    return f"- {entity.kind} {entity.id}: {_json({**entity.scope, **entity.fields})}"


def short(text: str, most: int = _LINE) -> str:
    """A text on one line, cut where it is longer than `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _action(tool: str, arguments: Mapping[str, Json]) -> str:
    return f"**Action:**\n```json\n{_json({'name': tool, 'arguments': dict(arguments)})}\n```"


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
