"""The ledger: a world's entities as far as its steps have shown them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcp_world.core.types import Json

Origin = Literal["fact", "found", "made"]
"""Stated at the start, found there by the engine, or made by a step."""


_NOTHING: frozenset[str] = frozenset()


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
    stated: frozenset[str] = _NOTHING
    """Fields that were stated or set, rather than fabricated."""
    views: dict[object, Json] | None = None
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


@dataclass(slots=True)
class _Group:
    """The entities of one kind and one scope."""

    scope: dict[str, Json]
    entities: dict[str, Entity] = field(default_factory=dict)
    top: int = 0
    """The highest whole number that was an id."""


def fits(own: Mapping[str, Json], scope: Mapping[str, Json]) -> bool:
    """Whether what belongs to `own` may lie within a scope: nothing that both speak of differs."""
    return all(
        name not in own or value is None or str(own[name]).casefold() == str(value).casefold()
        for name, value in scope.items()
    )


class Ledger:
    """Entities by kind, scope and id. Changes between `begin` and `commit` can be rolled back as one."""

    __slots__ = ("__weakref__", "_by_id", "_counters", "_groups", "_marks", "_number", "_undo", "step", "version")

    def __init__(self) -> None:
        self._groups: dict[str, dict[str, _Group]] = {}
        self._by_id: dict[str, dict[str, tuple[Entity, ...]]] = {}
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
        if fields:
            entity.stated = frozenset(fields)
        if origin == "made":
            entity.changed = self.step
        slot = repr(sorted(entity.scope.items(), key=lambda item: item[0]))
        groups = self._groups.setdefault(kind, {})
        group = groups.get(slot)
        if group is None:
            group = groups[slot] = _Group(entity.scope)
        entity.scope = group.scope  # one dict for all that lie in it
        key, top = str(id), group.top
        old = group.entities.get(key)
        same_id = self._by_id.setdefault(kind, {})
        before = same_id.get(key, ())
        same_id[key] = (*(other for other in before if other is not old), entity)
        group.entities[key] = entity
        if isinstance(id, int):
            group.top = max(top, id)
        self.version += 1

        def undo() -> None:
            same_id[key] = before
            group.top = top
            if old is None:
                del group.entities[key]
            else:
                group.entities[key] = old

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

    def find(self, kind: str, id: Json) -> tuple[Entity, ...]:
        """All entities of a kind and id, in whatever scope, deleted ones too."""
        same_kind = self._by_id.get(kind)
        return same_kind.get(str(id), ()) if same_kind is not None else ()

    def within(self, kind: str, scope: Mapping[str, Json]) -> list[Entity]:
        """The entities of a kind within a scope that are not deleted, in the order they came in."""
        groups = [group for group in self._groups.get(kind, {}).values() if fits(group.scope, scope)]
        found = [entity for group in groups for entity in group.entities.values() if entity.deleted is None]
        return found if len(groups) == 1 else sorted(found, key=lambda entity: entity.number)

    def of(self, kind: str) -> list[Entity]:
        """The entities of a kind that are not deleted, in the order they came in."""
        return self.within(kind, {})

    def top(self, kind: str, scope: Mapping[str, Json]) -> int:
        """The highest whole number that was an id of a kind within a scope; 0 where there was none."""
        groups = self._groups.get(kind, {}).values()
        return max((group.top for group in groups if fits(group.scope, scope)), default=0)

    def ids(self, kind: str) -> Iterator[Json]:
        """Every id of a kind that was ever given, newest scope and newest id first."""
        for group in reversed(self._groups.get(kind, {}).values()):
            for entity in reversed(group.entities.values()):
                yield entity.id

    def __iter__(self) -> Iterator[Entity]:
        """Every entity, deleted ones too, in the order they came in."""
        everything = [
            e for groups in self._groups.values() for group in groups.values() for e in group.entities.values()
        ]
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
        entity.views = None
        self.version += 1
