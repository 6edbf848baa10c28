"""What a server's tools speak of, and which field tells one such thing from another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from mcp_world.core.types import Json
from mcp_world.spec.model import ServerSpec
from mcp_world.spec.names import words
from mcp_world.spec.reading import Reading
from mcp_world.spec.server_reading import read_together

_TAILS = ("id", "number", "key", "uuid", "uid", "iid", "sha", "ts", "slug", "arn")
_NAMES = ("name", "slug", "path", "key", "id", "title")
_PLAIN = ("id", "number", "key", "uuid", "uid", "iid", "sha", "path", "slug")


@dataclass(slots=True)
class Kinds:
    """The readings of a server's tools, and the arguments by which they ask for things.

    Args:
        readings: What each tool means, by its name.
        names: The kind that each tool is about, with its server's prefix where several are served as one.
        asked: By kind, the arguments that name one thing of it.
    """

    readings: dict[str, Reading]
    names: dict[str, str]
    asked: dict[str, list[str]] = field(default_factory=dict)
    _fields: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def identifier(self, kind: str, record: Mapping[str, Json]) -> str:
        """The field that identifies a record of a kind, or "" where that is not certain."""
        key = (kind, tuple(record))
        found = self._fields.get(key)
        if found is None:
            found = self._fields[key] = self._identifier(kind, record)
        return found

    def _identifier(self, kind: str, record: Mapping[str, Json]) -> str:
        noun = words(kind.rsplit(".", 1)[-1])
        asked = self.asked.get(kind, [])
        for argument in asked:
            stem = words(argument)
            for name in record:
                if words(name) == stem:
                    return name
            if stem[-1:] and stem[-1] in (*_TAILS, *_NAMES):
                for name in record:
                    if words(name) == stem[-1:]:
                        return name
            if stem and stem[-1:] == noun[-1:]:
                for name in _NAMES:
                    if name in record:
                        return name
        if asked:
            return ""
        for name in record:
            if words(name)[:-1] == noun and words(name)[-1:] and words(name)[-1] in _TAILS:
                return name
        return next((name for name in _PLAIN if name in record), "")


_known: WeakKeyDictionary[ServerSpec, Kinds] = WeakKeyDictionary()


def kinds_of(spec: ServerSpec) -> Kinds:
    """The kinds of a server; all episodes of one spec share them."""
    kinds = _known.get(spec)
    if kinds is None:
        kinds = _known[spec] = _read(spec)
    return kinds


def _read(spec: ServerSpec) -> Kinds:
    kinds = Kinds({}, {})
    for tool, reading in read_together(spec.tools):
        name = f"{tool.group}.{reading.kind}" if tool.group else reading.kind
        kinds.readings[tool.name] = reading
        kinds.names[tool.name] = name
        if reading.id_arg and reading.verb != "call":
            kinds.asked.setdefault(name, []).append(reading.id_arg)
    return kinds
