"""Lists and searches: the things within a scope that the filters admit, in order, one page of them."""

from __future__ import annotations

from mcp_world.core.ledger import Entity, fits
from mcp_world.core.seed import Rng
from mcp_world.core.types import Json
from mcp_world.engines.procedural.call import Call, Outcome
from mcp_world.engines.procedural.voice import bad_cursor
from mcp_world.spec import query
from mcp_world.spec.names import singular, words

_DEFAULT_LIMIT = 30


class Listing(Call):
    """A call that lists, searches or counts."""

    def perform(self) -> Outcome:
        """Find, filter, sort, and cut to a page."""
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
            if not any(fits(e.scope, scope) for e in self.population.ledger.find(self.kind.name, new)):
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
