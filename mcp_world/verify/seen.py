"""An observation as verifiers look at it: its data, and the things that it shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcp_world.core.encoding import encode
from mcp_world.core.types import Action, Json, Observation
from mcp_world.spec.formats import data_of
from mcp_world.spec.layout import ACKS, LISTS, WRAPPERS
from mcp_world.spec.model import Tool
from mcp_world.spec.names import singular, words
from mcp_world.spec.reading import Reading
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.kinds import Kinds


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that an observation shows.

    Args:
        path: JSON pointer to it in the data.
        id: Its id, spelled as text, or "" where it has none that is certain.
        id_field: The field that holds it, or "".
        fields: What is shown of it.
    """

    path: str
    id: str
    id_field: str
    fields: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Seen:
    """One step, as verifiers look at it.

    Args:
        step: Its number, from 1.
        tool: The tool that was called.
        reading: What the tool means.
        kind: What it is about.
        arguments: The call's arguments.
        observation: What was observed.
        data: The observation's data: structured content, else the JSON or the Python repr in its text, else None.
        records: The things that it shows.
        listing: JSON pointer to the list that they stand in, or None where the tool lists nothing.
        listed: The length of that list.
        scope: What the things belong to, by argument.
    """

    step: int
    tool: Tool
    reading: Reading
    kind: str
    arguments: Mapping[str, Json]
    observation: Observation
    data: Json
    records: tuple[Record, ...]
    listing: str | None
    listed: int
    scope: Mapping[str, Json]

    @property
    def failed(self) -> bool:
        """Whether the call failed, as the protocol tells it."""
        return self.observation.is_error

    @property
    def writes(self) -> bool:
        """Whether the call may have changed the world: all that is not clearly a read."""
        hint = self.tool.annotations.get("readOnlyHint")
        if isinstance(hint, bool):
            return not hint
        return self.reading.verb not in ("list", "get", "search", "count")

    def question(self, *without: str) -> bytes:
        """What tells one question from others: the tool and its arguments, but for some of them."""
        return encode([self.tool.name, sorted(item for item in self.arguments.items() if item[0] not in without)])

    @property
    def asked_ids(self) -> tuple[str, ...]:
        """The ids that the call names, spelled as text."""
        if self.reading.id_list:
            given = self.arguments.get(self.reading.id_list)
            return tuple(spelled(id) for id in given if spelled(id)) if isinstance(given, list) else ()
        id = spelled(self.arguments.get(self.reading.id_arg)) if self.reading.id_arg else ""
        return (id,) if id else ()


def spelled(id: Json) -> str:
    """An id as text; "" for what can be none."""
    if isinstance(id, bool) or not isinstance(id, str | int | float):
        return ""
    return str(int(id)) if isinstance(id, float) and id.is_integer() else str(id)


def see(kinds: Kinds, tool: Tool, action: Action, observation: Observation, step: int) -> Seen:
    """Look at a step.

    Args:
        kinds: Of the tool's server.
        tool: The tool that was called.
        action: The call.
        observation: What was observed.
        step: The step's number, from 1.
    """
    reading, kind = kinds.readings[tool.name], kinds.names[tool.name]
    data = None if observation.is_error else data_of(observation)
    listing, listed = None, 0
    records: tuple[Record, ...] = ()
    if data is not None and reading.verb not in ("call", "delete", "count"):
        found = _list_in(data, reading) if reading.verb in ("list", "search") else None
        if found is not None:
            listing, items = found
            listed = len(items)
            records = tuple(
                _record(kinds, kind, f"{listing}/{index}", item)
                for index, item in enumerate(items)
                if isinstance(item, dict)
            )
        elif reading.verb not in ("list", "search") and not reading.items_arg and not reading.id_list:
            records = tuple(_record(kinds, kind, path, thing) for path, thing in _thing_in(data, reading))
    scope = reading.scope_of(action.arguments)
    return Seen(step, tool, reading, kind, action.arguments, observation, data, records, listing, listed, scope)


def _record(kinds: Kinds, kind: str, path: str, fields: Mapping[str, Json]) -> Record:
    id_field = kinds.identifier(kind, fields)
    id = spelled(fields.get(id_field)) if id_field else ""
    return Record(path, id, id_field if id else "", fields)


def _list_in(data: Json, reading: Reading, at: str = "", depth: int = 0) -> tuple[str, list[Json]] | None:
    """Where the list of things stands: the data itself, the property of their name, one of a usual name, or the only one."""
    if isinstance(data, list):
        return at, data
    if not isinstance(data, dict):
        return None
    last = words(reading.kind)[-1:]
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    named = [n for n in lists if last and words(n) and singular(words(n)[-1]) == last[0]]
    usual = [n for n in lists if n.lower() in LISTS]
    of_things = [n for n, value in lists.items() if value and all(isinstance(item, dict) for item in value)]
    for names in (named, usual, of_things):
        if len(names) == 1:
            return at + pointer_of([names[0]]), lists[names[0]]
        if names:
            return None
    if depth < 2:
        for name in WRAPPERS:
            if isinstance(data.get(name), dict):
                return _list_in(data[name], reading, at + pointer_of([name]), depth + 1)
    return None


def _thing_in(data: Json, reading: Reading, at: str = "", depth: int = 0) -> Iterator[tuple[str, dict[str, Json]]]:
    """The one thing in an answer, and where it stands; none in a mere acknowledgement."""
    if not isinstance(data, dict):
        return
    noun = words(reading.kind)
    for name, value in data.items():
        own = words(name) == noun or (noun and words(name)[-1:] == noun[-1:])
        wrapper = name.lower() in WRAPPERS and len(data) <= 4
        if isinstance(value, dict) and (own or wrapper) and depth < 2:
            yield from _thing_in(value, reading, at + pointer_of([name]), depth + 1)
            return
    if data and not {name.lower() for name in data} <= ACKS - {"id"} and not _wrapped_text(data):
        yield at, data


def _wrapped_text(data: Mapping[str, Json]) -> bool:
    """Whether an object is only the text of an answer in a wrapper, as in `{"content": "Successfully wrote to a.txt"}`."""
    return len(data) == 1 and all(name.lower() != "id" and isinstance(value, str) for name, value in data.items())
