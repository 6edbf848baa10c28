"""What each verb does to the things of a world."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_world.core.ledger import Entity
from mcp_world.core.seed import Rng
from mcp_world.core.types import Json
from mcp_world.engines.procedural import query
from mcp_world.engines.procedural.model import Kind, Plan
from mcp_world.engines.procedural.names import singular, words
from mcp_world.engines.procedural.population import Population, fits
from mcp_world.engines.procedural.projection import Projector
from mcp_world.engines.procedural.values import iso
from mcp_world.engines.procedural.voice import already, bad_cursor, exists, not_found
from mcp_world.spec.flatten import types_of

_ONCE = frozenset({"merge", "cancel", "refund", "capture", "void", "pay", "finalize", "win", "lose", "dispute"})
_OFF = frozenset(
    {
        "unlock",
        "unarchive",
        "unpin",
        "unstar",
        "unmute",
        "disable",
        "deactivate",
        "reopen",
        "resume",
        "uncordon",
        "restore",
        "unwatch",
    }
)
_DEFAULT_LIMIT = 30


@dataclass(slots=True)
class Outcome:
    """What a call came to: one thing, or some of many."""

    entity: Entity | None = None
    items: list[Entity] = field(default_factory=list)
    many: bool = False
    total: int = 0
    offset: int = 0
    limit: int | None = None
    page: int = 1
    next_offset: int | None = None


def perform(plan: Plan, arguments: dict[str, Json], population: Population, projector: Projector) -> Outcome:
    """Do what a tool does.

    Args:
        plan: The tool's plan.
        arguments: The call's arguments; defaults of the schema are filled in.
        population: The things of the world; changed.
        projector: Gives fields that were not looked at yet.

    Raises:
        Refusal: The service says no: not found, there already, a bad cursor.
    """
    call = _Call(
        plan,
        {**plan.reading.defaults, **{k: v for k, v in arguments.items() if v is not None}},
        population,
        projector,
    )
    verb = plan.reading.verb
    if verb in ("list", "search", "count"):
        return call.listing()
    if plan.reading.items_arg or plan.reading.id_list:
        return call.batch()
    if verb == "call":
        call.scope()
        return Outcome()
    return Outcome(entity=call.one())


class _Call:
    """One call being performed."""

    def __init__(self, plan: Plan, arguments: dict[str, Json], population: Population, projector: Projector) -> None:
        self.plan = plan
        self.reading = plan.reading
        self.kind: Kind = plan.kind
        self.arguments = arguments
        self.population = population
        self.projector = projector

    def scope(self) -> dict[str, Json]:
        """What the things belong to; each part that names a thing must be there."""
        scope = {name: self.arguments[name] for name in self.reading.scope if name in self.arguments}
        done: dict[str, Json] = {}
        for name, value in scope.items():
            parent = self.plan.parents.get(name)
            if parent is not None and parent in self.population.model.kinds:
                kind = self.population.model.kinds[parent]
                if (
                    (kind.listed or kind.fields)
                    and isinstance(value, str | int)
                    and self.population.locate(kind, value, done) is None
                ):
                    raise not_found(kind.name, value)
            done[name] = value
        return scope

    # one thing

    def one(self) -> Entity:
        """The thing that a call of get, create, update, upsert, delete or act is about."""
        scope = self.scope()
        verb = self.reading.verb
        if verb == "create":
            return self.create(scope)
        if not self.reading.id_arg:
            return self.lone(scope)
        id = self.arguments.get(self.reading.id_arg)
        if verb == "upsert":
            found = (
                [e for e in self.population.ledger.find(self.kind.name, id) if fits(e, scope) and e.deleted is None]
                if id is not None
                else []
            )
            return self.update(found[0]) if found else self.create(scope, id)
        entity = self.population.locate(self.kind, id, scope)
        if entity is None:
            raise not_found(self.kind.name, id)
        if verb == "update":
            return self.update(entity)
        if verb == "act":
            return self.act(entity)
        if verb == "delete":
            self.population.ledger.delete(entity)
        return entity

    def lone(self, scope: dict[str, Json]) -> Entity:
        """The one thing of a kind that has no ids, such as the current user."""
        there = self.population.known(self.kind, scope)
        if there:
            return there[0]
        return self.population.find(self.kind, self.population.next_id(self.kind, scope, {}), scope)

    def create(self, scope: dict[str, Json], id: Json = None) -> Entity:
        """Make a thing of the call's content."""
        fields = self.content()
        ledger = self.population.ledger
        if id is None:
            id = self.population.next_id(self.kind, scope, fields)
            if not self.kind.whole and any(
                fits(e, scope) and e.deleted is None for e in ledger.find(self.kind.name, id)
            ):
                raise exists(self.kind.name, id)
        return self.population.make(self.kind, id, scope, fields)

    def update(self, entity: Entity) -> Entity:
        """Change the fields that a call gives."""
        changes = self.content()
        changes.update(self._touched(changes, entity))
        new_id = changes.pop(self.kind.id_field, None)
        if new_id is not None and str(new_id) != str(entity.id) and self.kind.natural:
            changes[self.kind.id_field] = new_id
        self.population.ledger.set(entity, changes)
        return entity

    def act(self, entity: Entity) -> Entity:
        """Move a thing to the state that the verb leads to."""
        word = self.reading.word
        changes = self.content()
        on = word not in _OFF
        for name in self.kind.fields:
            node = self.kind.fields[name].fabricator.flattener.flat(self.kind.fields[name].node)
            parts = words(name)
            if parts and parts[-1] in ("state", "status"):
                target = self._target(node)
                if target is not None and name not in changes:
                    if self.projector.peek(entity, name) == target and word in _ONCE:
                        raise already(self.kind.name, entity.id, str(target))
                    changes[name] = target
            elif "boolean" in types_of(node) and parts and parts[-1] in self._marks():
                changes.setdefault(name, on)
            elif parts and parts[0] in self.reading.state_words and parts[-1] in ("at", "on", "time", "date") and on:
                changes.setdefault(name, iso(self.population.now))
        for name in ("state", "status"):
            if (
                name in entity.fields
                and name not in self.kind.fields
                and isinstance(entity.fields[name], str)
                and self.reading.state_words
            ):
                changes.setdefault(name, self.reading.state_words[0])
        changes.update(self._touched(changes, entity))
        self.population.ledger.set(entity, changes)
        return entity

    def _marks(self) -> set[str]:
        stem = self.reading.word.removeprefix("un").removeprefix("de").removeprefix("re")
        return {
            *self.reading.state_words,
            stem,
            stem + "d",
            stem + "ed",
            *({"enabled", "active"} if self.reading.word in ("enable", "disable") else ()),
        }

    def _target(self, node: dict[str, Any]) -> Json:
        options = node.get("enum")
        if isinstance(options, list):
            for state in self.reading.state_words:
                for option in options:
                    if "_".join(words(str(option))) == state:
                        return option
            return None
        return self.reading.state_words[0] if self.reading.state_words and "string" in types_of(node) else None

    def _touched(self, changes: dict[str, Json], entity: Entity) -> dict[str, Json]:
        """Times that a change moves: updated now; closed now, or not closed any more."""
        now = iso(self.population.now)
        out: dict[str, Json] = {}
        state = next((str(v) for k, v in changes.items() if words(k)[-1:] in (("state",), ("status",))), None)
        for name, known in self.kind.fields.items():
            parts = words(name)
            if len(parts) < 2 or parts[-1] not in ("at", "on", "time", "date") or name in changes:
                continue
            node = known.fabricator.flattener.flat(known.node)
            if "integer" in types_of(node):
                continue
            stamp = now[:10] if node.get("format") == "date" else now
            if parts[0] in ("updated", "modified"):
                out[name] = stamp
            elif state is not None and parts[0] in (
                "closed",
                "merged",
                "completed",
                "resolved",
                "cancelled",
                "canceled",
                "paid",
            ):
                if parts[0] in words(state):
                    out[name] = stamp
                elif "null" in types_of(node) or "anyOf" in node:
                    out[name] = None
        return out

    def content(self) -> dict[str, Json]:
        """The fields that a call gives, by the kind's own names."""
        out: dict[str, Json] = {}
        given = {name: self.arguments[name] for name in self.reading.content if name in self.arguments}
        for name in self.reading.bodies:
            body = self.arguments.get(name)
            if isinstance(body, dict):
                given.update(body)
        for name, value in given.items():
            spelled = self.kind.spelling(name) or name
            out[name if spelled != name and spelled in given else spelled] = value
        return out

    # many things

    def batch(self) -> Outcome:
        """Item by item; the first that is refused refuses the call."""
        reading = self.reading
        done: list[Entity] = []
        rest = {k: v for k, v in self.arguments.items() if k not in (reading.items_arg, reading.id_list)}
        if reading.id_list:
            scope = self.scope()
            for id in _list(self.arguments.get(reading.id_list)):
                entity = self.population.locate(self.kind, id, scope)
                if entity is None:
                    raise not_found(self.kind.name, id)
                if reading.verb == "delete":
                    self.population.ledger.delete(entity)
                elif reading.verb == "act":
                    self.act(entity)
                elif reading.verb == "update":
                    self.update(entity)
                done.append(entity)
        for item in _list(self.arguments.get(reading.items_arg)):
            if isinstance(item, dict):
                done.append(self._item({**rest, **item}, item))
        return Outcome(items=done, many=True, total=len(done))

    def _item(self, arguments: dict[str, Json], item: dict[str, Json]) -> Entity:
        scope = self.scope()
        fields = {self.kind.spelling(name) or name: value for name, value in item.items()}
        id = fields.get(self.kind.id_field, fields.get("id"))
        if self.reading.verb == "create" and id is None:
            id = self.population.next_id(self.kind, scope, fields)
        ledger = self.population.ledger
        found = (
            [e for e in ledger.find(self.kind.name, id) if fits(e, scope) and e.deleted is None]
            if id is not None
            else []
        )
        if self.reading.verb in ("create", "upsert"):
            if found and self.reading.verb == "create":
                raise exists(self.kind.name, id)
            if found:
                ledger.set(found[0], {**fields, **self._touched(fields, found[0])})
                return found[0]
            return self.population.make(self.kind, id, scope, fields)
        entity = self.population.locate(self.kind, id, scope) if id is not None else None
        if entity is None:
            raise not_found(self.kind.name, id if id is not None else next(iter(item.values()), ""))
        if self.reading.verb == "delete":
            ledger.delete(entity)
        else:
            ledger.set(
                entity,
                {
                    **{k: v for k, v in fields.items() if k != self.kind.id_field},
                    **self._touched(fields, entity),
                },
            )
        return entity

    def listing(self) -> Outcome:
        """The things within the scope that the filters admit, in order, one page of them."""
        scope = self.scope()
        there = self.population.all(self.kind, scope)
        wanted = self.arguments.get(self.reading.query) if self.reading.query else None
        if isinstance(wanted, str) and wanted.strip():
            there = self._search(wanted, there, scope)
        elif self.reading.verb == "list":
            self.population.list_all(self.kind, scope)
        for name in self.reading.filters:
            if name in self.arguments:
                there = self._filter(name, self.arguments[name], there)
        return self._page(self._sorted(there))

    def _fields(self) -> list[str]:
        names = list(self.kind.fields) or [self.kind.id_field]
        extra = dict.fromkeys(f for e in self.population.ledger.of(self.kind.name)[:50] for f in e.fields)
        return list(dict.fromkeys([*names, *extra]))

    def _filter(self, name: str, value: Json, there: list[Entity]) -> list[Entity]:
        fields = self._fields()
        field_name = self.kind.spelling(name) or next(
            (
                f
                for f in fields
                if words(f) == words(name)
                or (*words(f), "id") == words(name)
                or (words(f)[:1] == words(name)[:-1] and words(name)[-1:] == ("id",))
            ),
            None,
        )
        if field_name is None and len(words(name)) > 1 and words(name)[-1] in ("filter", "in", "is", "eq"):
            field_name = next((f for f in fields if words(f) == words(name)[:-1]), None)
        peek = self.projector.peek
        if field_name is not None and not isinstance(value, dict):
            return [e for e in there if query.matches(peek(e, field_name), value)]
        bound = query.bound_of(name, fields)
        if bound is not None:
            target, side = bound
            return [e for e in there if query.within(peek(e, target), value, side)]
        singular_name = (
            next(
                (f for f in fields if singular(words(name)[-1]) == words(f)[-1] and len(words(f)) == len(words(name))),
                None,
            )
            if words(name)
            else None
        )
        if singular_name is not None and isinstance(value, str | list):
            return [e for e in there if query.matches(peek(e, singular_name), value)]
        if any(name in e.scope for e in there):
            return [e for e in there if name not in e.scope or query.matches(e.scope[name], value)]
        return there

    def _search(self, text: str, there: list[Entity], scope: dict[str, Json]) -> list[Entity]:
        """Things that speak of the query's words; a first search finds a few that do, unless all there is has been shown."""
        terms, qualifiers = query.search(text, self._fields())
        ledger = self.population.ledger
        if (
            terms
            and not self.population.closed(self.kind, scope)
            and ledger.mark(("searched", self.kind.name, text, *map(str, scope.items())))
        ):
            there = there + self._found(text, terms, qualifiers, scope)
        for field_name, value in qualifiers.items():
            there = [e for e in there if query.matches(self.projector.peek(e, field_name), value)]
        if not terms:
            return there
        scored = [(query.contains([self._texts(e), e.fields], terms), e) for e in there]
        best = max((score for score, _ in scored), default=0)
        return [e for score, e in sorted(scored, key=lambda pair: -pair[0]) if score and score >= best - 1]

    def _texts(self, entity: Entity) -> list[Json]:
        names = [
            n
            for n in self.kind.fields
            if words(n)[-1:]
            and words(n)[-1]
            in (
                "title",
                "name",
                "body",
                "text",
                "description",
                "subject",
                "content",
                "snippet",
                "summary",
                "topic",
                "email",
                "path",
                "message",
            )
        ]
        return [str(entity.id), *(self.projector.peek(entity, name) for name in names)]

    def _found(self, text: str, terms: list[str], qualifiers: dict[str, str], scope: dict[str, Json]) -> list[Entity]:
        rng = Rng.of(self.population.seed, "search", self.kind.name, text, *map(str, scope.items()))
        out: list[Entity] = []
        phrase = " ".join(terms)
        target = next(
            (
                n
                for n in ("title", "name", "subject", "text", "content", "body", "summary", "snippet", "path")
                if n in self.kind.fields and n != self.kind.id_field
            ),
            None,
        )
        for index in range(rng.between(2, 5)):
            fields: dict[str, Json] = {k: v for k, v in qualifiers.items() if isinstance(v, str)}
            id: Json = None
            if target is not None:
                fields[target] = _about(phrase, index, target)
            elif self.kind.natural:
                id = "-".join([*terms, *([str(index + 1)] if index else [])])
            ids: dict[str, Json] = {} if id is None else {self.kind.id_field: id}
            new = self.population.fresh_id(self.kind, scope, f"{text}:{index}") if id is None else id
            if not any(fits(e, scope) for e in self.population.ledger.find(self.kind.name, new)):
                out.append(self.population.find(self.kind, new, scope, {**fields, **ids}, age=rng.unit()))
        return out

    def _sorted(self, there: list[Entity]) -> list[Entity]:
        fields = self._fields()
        given = self.arguments.get(self.reading.sort) if self.reading.sort else None
        order = self.arguments.get(self.reading.order) if self.reading.order else None
        down = None if not isinstance(order, str) else order.lower().startswith("desc")
        if isinstance(given, str):
            name, said = query.sort_field(given, [*fields, "created_at"])
            if name is not None:
                descending = (
                    said
                    if said is not None
                    else down
                    if down is not None
                    else words(name)[0] in ("created", "updated", "pushed", "stars", "comments")
                )
                return sorted(there, key=lambda e: query.sort_key(self.projector.peek(e, name)), reverse=descending)
        if self.reading.verb == "search" and self.reading.query in self.arguments:
            return there
        if any(
            words(f)[:1] in (("created",), ("sent",), ("posted",), ("date",), ("timestamp",), ("ts",))
            for f in self.kind.fields
        ):
            newest = sorted(there, key=lambda e: (e.born, e.number), reverse=True)
            first = self.plan.tool.description.lower()
            oldest = down is False or (down is None and ("oldest first" in first or "chronological" in first))
            return newest[::-1] if oldest else newest
        return there

    def _page(self, there: list[Entity]) -> Outcome:
        reading = self.reading
        total = len(there)
        limit = self._whole(reading.limit)
        if limit is None and (reading.page or reading.cursor or reading.offset or reading.limit):
            limit = _DEFAULT_LIMIT
        limit = max(limit, 0) if limit is not None else None
        page = max(self._whole(reading.page) or 1, 1)
        offset = self._whole(reading.offset) or 0
        cursor = self.arguments.get(reading.cursor) if reading.cursor else None
        if isinstance(cursor, str) and cursor:
            offset = self._after(cursor, there)
        elif reading.page and limit is not None:
            offset = (page - 1) * limit
        end = total if limit is None else offset + limit
        return Outcome(
            items=there[offset:end],
            many=True,
            total=total,
            offset=offset,
            limit=limit,
            page=page,
            next_offset=end if end < total and limit else None,
        )

    def _after(self, cursor: str, there: list[Entity]) -> int:
        try:
            return query.offset_of(cursor)
        except query.BadCursor:
            for index, entity in enumerate(there):
                if str(entity.id) == cursor:
                    return index + 1
            raise bad_cursor(cursor) from None

    def _whole(self, name: str) -> int | None:
        value = self.arguments.get(name) if name else None
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _about(phrase: str, index: int, field_name: str) -> str:
    """A text about the words of a search."""
    forms = (
        ("{}", "{}: follow-up", "Notes on {}", "{} in production", "Improve {}")
        if field_name in ("title", "name", "subject", "summary")
        else (
            "About {}.",
            "More on {}, with details.",
            "What to know of {}.",
            "{} explained.",
            "Questions on {}.",
        )
    )
    text = forms[index % len(forms)].format(phrase)
    return text[:1].upper() + text[1:]
