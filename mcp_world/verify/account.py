"""The account: what a world's observations have shown and said so far, whatever engine made them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mcp_world.core.ledger import fits
from mcp_world.core.types import Json
from mcp_world.spec.names import words
from mcp_world.verify.listing import place_of, series, total_of
from mcp_world.verify.seen import Record, Seen

_STATES = frozenset({"state", "status", "stage", "phase", "enabled", "active", "archived", "closed", "draft", "locked"})


@dataclass(slots=True, eq=False)
class Thing:
    """One thing of a world, as observations have shown it.

    Args:
        kind: What it is.
        id: Its id, spelled as text.
        scope: What it belongs to, by argument.
        fields: What is known of it.
        said: The step that last showed or set each field.
        stated: Fields that the agent set, with the step.
        made: The step whose call made it, or None.
        gone: The step that deleted it, or None.
        moved: The last step that moved it to another state, or None.
    """

    kind: str
    id: str
    scope: dict[str, Json]
    fields: dict[str, Json] = field(default_factory=dict)
    said: dict[str, int] = field(default_factory=dict)
    stated: dict[str, int] = field(default_factory=dict)
    made: int | None = None
    gone: int | None = None
    moved: int | None = None

    def to_json(self) -> dict[str, Json]:
        """The thing as rules see it."""
        return {
            "kind": self.kind, "id": self.id, "scope": self.scope, "fields": self.fields,
            "made": self.made, "gone": self.gone,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question was answered with, and when."""

    step: int
    data: Json
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list: the step, its offset or page number or cursor, and the ids on it."""

    step: int
    place: Json
    ids: tuple[str, ...]
    total: int | None


class Account:
    """What the steps of one episode have shown. Rules read it; only `add` changes it."""

    __slots__ = ("answers", "last", "last_call", "last_write", "pages", "things")

    def __init__(self) -> None:
        self.things: dict[str, dict[str, list[Thing]]] = {}
        self.answers: dict[bytes, Answer] = {}
        self.pages: dict[bytes, list[Page]] = {}
        self.last: Seen | None = None
        """The step before."""
        self.last_write = 0
        """The last step that may have changed anything."""
        self.last_call = 0
        """The last that may have changed anything at all, such as a statement in a query language."""

    def thing(self, kind: str, id: str, scope: Mapping[str, Json]) -> Thing | None:
        """The one known thing of a kind and id that may lie within a scope, gone ones too; None where several may."""
        found = [thing for thing in self.things.get(kind, {}).get(id, ()) if fits(thing.scope, scope)]
        return found[0] if len(found) == 1 else None

    def of(self, kind: str, scope: Mapping[str, Json]) -> Iterator[Thing]:
        """The things of a kind that lie within a scope for certain, gone ones too."""
        for same in self.things.get(kind, {}).values():
            for thing in same:
                if scope.keys() <= thing.scope.keys() and fits(thing.scope, scope):
                    yield thing

    def holds(self, thing: Thing, name: str) -> bool:
        """Whether a field must still be what it was last shown or set to.

        Where nothing was written since, every field must; else those that the agent itself set.
        """
        said = thing.said.get(name, 0)
        if said and said >= self.last_write:
            return True
        stated = thing.stated.get(name)
        return stated is not None and stated >= said and stated >= self.last_call

    def answer(self, seen: Seen) -> Answer | None:
        """What the same question was answered with, if nothing may have changed since."""
        found = self.answers.get(seen.question())
        return found if found is not None and found.step >= self.last_write else None

    def add(self, seen: Seen) -> None:
        """Take a step in."""
        self.last = seen
        if seen.writes:
            self.last_write = seen.step
            if seen.reading.verb == "call" or seen.reading.items_arg:
                self.last_call = seen.step
        elif not seen.failed:
            self.answers[seen.question()] = Answer(seen.step, seen.data, seen.observation.text)
            if seen.listing is not None:
                self._page(seen)
        if seen.reading.verb == "delete":
            if not seen.failed:
                for id in seen.asked_ids:
                    self._known(seen, id).gone = seen.step
            return
        if seen.writes and seen.asked_ids:
            self._changed(seen)
        if not seen.failed:
            for record in seen.records:
                if record.id:
                    self._show(seen, record)

    def to_json(self) -> list[dict[str, Json]]:
        """Every thing, as rules see it."""
        return [thing.to_json() for kinds in self.things.values() for same in kinds.values() for thing in same]

    def _page(self, seen: Seen) -> None:
        key = series(seen)
        pages = [page for page in self.pages.get(key, ()) if page.step >= self.last_write]
        ids = tuple(record.id for record in seen.records)
        self.pages[key] = [*pages, Page(seen.step, place_of(seen), ids, total_of(seen))]

    def _known(self, seen: Seen, id: str) -> Thing:
        thing = self.thing(seen.kind, id, seen.scope)
        if thing is None:
            thing = Thing(seen.kind, id, dict(seen.scope))
            self.things.setdefault(seen.kind, {}).setdefault(id, []).append(thing)
        for name, value in seen.scope.items():
            thing.scope.setdefault(name, value)
        return thing

    def _changed(self, seen: Seen) -> None:
        """What a call did to the things that it names, before its answer is looked at."""
        for id in seen.asked_ids:
            thing = self.thing(seen.kind, id, seen.scope)
            if thing is None:
                continue
            if seen.failed:
                for name in stated_by(seen, thing.fields):
                    thing.stated.pop(name, None)
                continue
            for name, value in stated_by(seen, thing.fields).items():
                thing.fields[name] = value
                thing.said[name] = thing.stated[name] = seen.step
            if seen.reading.verb in ("act", "call", "upsert"):
                thing.moved = seen.step
                for name in [n for n, v in thing.fields.items() if is_state(n) or isinstance(v, bool | list)]:
                    if thing.said.get(name) != seen.step:
                        thing.stated.pop(name, None)

    def _show(self, seen: Seen, record: Record) -> None:
        """What an answer shows of a thing."""
        thing = self._known(seen, record.id)
        if seen.reading.verb in ("create", "upsert"):
            if thing.gone is not None:
                thing.fields, thing.said, thing.stated, thing.gone = {}, {}, {}, None
            if seen.reading.verb == "create" and thing.made is None and not thing.fields:
                thing.made = seen.step
        if seen.writes:
            for name in stated_by(seen, record.fields):
                thing.stated[name] = seen.step
        for name, value in record.fields.items():
            if not seen.writes and name in thing.fields and thing.stated.get(name, -1) >= self.last_call:
                continue  # what the agent said is what later answers are held against
            thing.fields[name] = value
            thing.said[name] = seen.step


def is_state(name: str) -> bool:
    """Whether a field says in which state a thing is."""
    return bool(_STATES.intersection(words(name)))


def stated_by(seen: Seen, fields: Mapping[str, Json]) -> dict[str, Json]:
    """What the call's arguments set, by the fields of that very name, whatever its style."""
    reading = seen.reading
    given = {name: seen.arguments[name] for name in reading.content if name in seen.arguments}
    for name in reading.bodies:
        body = seen.arguments.get(name)
        if isinstance(body, dict):
            given.update(body)
    if not given or reading.verb not in ("create", "update", "upsert"):
        return {}
    by_words = {words(name): name for name in fields}
    return {by_words[words(n)]: v for n, v in given.items() if words(n) in by_words and v is not None}
