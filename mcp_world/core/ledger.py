"""The ledger: a world's entities as far as its steps have shown them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from mcp_world.core.types import Json

Origin = Literal["fact", "found", "made"]
"""Stated at the start, found there by the engine, or made by a step."""


@dataclass(slots=True, eq=False)
class Entity:
    """One thing of a world.

    Args:
        kind: What it is, in the singular ("issue").
        id: Its identifier, as agents name it.
        scope: What it belongs to: argument names and values, such as `{"owner": "acme", "repo": "web"}`.
        fields: Its known fields; more may be found later.
        origin: How it came to be.
        number: Its place among the world's entities, from 1.
        born: When it came to be, RFC 3339, or "" where that is not known.
    """

    kind: str
    id: Json
    scope: dict[str, Json]
    fields: dict[str, Json]
    origin: Origin
    number: int = 0
    born: str = ""
    shown: int | None = None
    changed: int | None = None
    deleted: int | None = None
    version: int = 0
    stated: set[str] = field(default_factory=set)
    """Fields that were stated or set, rather than fabricated."""
    views: dict[object, Json] = field(default_factory=dict)
    """Renderings by an engine, dropped whenever the entity changes."""

    def to_json(self) -> dict[str, Json]:
        """The entity as the control API shows it."""
        return {
            "kind": self.kind,
            "id": self.id,
            "scope": dict(self.scope),
            "fields": dict(self.fields),
            "origin": self.origin,
            "shown_at_step": self.shown,
            "changed_at_step": self.changed,
            "deleted_at_step": self.deleted,
        }


class Ledger:
    """Entities by kind and id. Changes between `begin` and `commit` can be rolled back as one."""

    def __init__(self) -> None:
        self._by_kind: dict[str, dict[tuple[str, str], Entity]] = {}
        self._by_id: dict[tuple[str, str], list[Entity]] = {}
        self._marks: set[object] = set()
        self._counters: dict[str, int] = {}
        self._number = 0
        self._undo: list[Callable[[], None]] = []
        self.step = 0
        self.version = 0
        """Grows with every entity made, changed or deleted."""

    def begin(self, step: int) -> None:
        """Start a step; what was not committed before is rolled back."""
        self.rollback()
        self.step = step

    def commit(self) -> None:
        """Keep all changes since `begin`."""
        self._undo.clear()

    def rollback(self) -> None:
        """Take back all changes since `begin`, newest first."""
        while self._undo:
            self._undo.pop()()

    def add(
        self,
        kind: str,
        id: Json,
        *,
        scope: dict[str, Json] | None = None,
        fields: dict[str, Json] | None = None,
        origin: Origin = "made",
        born: str = "",
    ) -> Entity:
        """Put a new entity in; an entity of the same kind, id and scope is replaced."""
        self._number += 1
        entity = Entity(kind, id, dict(scope or {}), dict(fields or {}), origin, self._number, born)
        entity.stated = set(entity.fields)
        if origin == "made":
            entity.changed = self.step
        group = self._by_kind.setdefault(kind, {})
        slot = (str(id), repr(sorted(entity.scope.items(), key=lambda item: item[0])))
        old = group.get(slot)
        siblings = self._by_id.setdefault((kind, str(id)), [])
        before = list(siblings)
        if old is not None:
            siblings.remove(old)
        siblings.append(entity)
        group[slot] = entity
        self.version += 1

        def undo() -> None:
            siblings[:] = before
            if old is None:
                del group[slot]
            else:
                group[slot] = old

        self._undo.append(undo)
        return entity

    def set(self, entity: Entity, changes: dict[str, Json]) -> None:
        """Change fields of an entity, as an action of the agent does."""
        old = (entity.fields, entity.changed, entity.stated)
        entity.fields = {**entity.fields, **changes}
        entity.stated = entity.stated | changes.keys()
        entity.changed = self.step
        self._touch(entity)

        def undo() -> None:
            entity.fields, entity.changed, entity.stated = old
            self._touch(entity)

        self._undo.append(undo)

    def delete(self, entity: Entity) -> None:
        """Mark an entity as gone; its id stays known, so that it is not given again."""
        entity.deleted = self.step
        self._touch(entity)

        def undo() -> None:
            entity.deleted = None
            self._touch(entity)

        self._undo.append(undo)

    def show(self, entity: Entity) -> None:
        """Note that an observation has shown this entity."""
        if entity.shown is None:
            entity.shown = self.step

            def undo() -> None:
                entity.shown = None

            self._undo.append(undo)

    def mark(self, key: object) -> bool:
        """Set a flag; False where it was set before."""
        if key in self._marks:
            return False
        self._marks.add(key)
        self._undo.append(lambda: self._marks.discard(key))
        return True

    def marked(self, key: object) -> bool:
        """Whether `mark(key)` was called."""
        return key in self._marks

    def next(self, key: str, start: int = 1) -> int:
        """The next number of a counter that begins at `start`."""
        value = self._counters.get(key, start)
        self._counters[key] = value + 1
        self._undo.append(lambda: self._counters.__setitem__(key, value))
        return value

    def find(self, kind: str, id: Json) -> list[Entity]:
        """All entities of a kind and id, in whatever scope, deleted ones too."""
        return self._by_id.get((kind, str(id)), [])

    def ever(self, kind: str) -> list[Entity]:
        """Every entity of a kind, deleted ones too."""
        return list(self._by_kind.get(kind, {}).values())

    def of(self, kind: str) -> list[Entity]:
        """The entities of a kind that are not deleted, in the order they came in."""
        return [entity for entity in self._by_kind.get(kind, {}).values() if entity.deleted is None]

    def kinds(self) -> list[str]:
        """The kinds that have entities."""
        return list(self._by_kind)

    def __iter__(self) -> Iterator[Entity]:
        """Every entity, deleted ones too, in the order they came in."""
        everything = [entity for group in self._by_kind.values() for entity in group.values()]
        return iter(sorted(everything, key=lambda entity: entity.number))

    def to_json(self) -> list[dict[str, Json]]:
        """The entities that the agent has seen, made, changed or deleted, and the stated ones."""
        return [
            entity.to_json()
            for entity in self
            if entity.origin == "fact"
            or entity.shown is not None
            or entity.changed is not None
            or entity.deleted is not None
        ]

    def _touch(self, entity: Entity) -> None:
        entity.version += 1
        entity.views = {}
        self.version += 1
