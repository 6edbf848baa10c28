"""The default engine: answers from the schemas and the ledger alone. No GPU, no network, no model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_world.core.encoding import pretty
from mcp_world.core.ledger import Entity, Ledger
from mcp_world.core.seed import digest
from mcp_world.core.types import Json, Observation, Prediction
from mcp_world.engines.contract import Engine, Facts, Request
from mcp_world.engines.procedural import members, operations, sql
from mcp_world.engines.procedural.adopt import adopt, subject
from mcp_world.engines.procedural.call import Outcome
from mcp_world.engines.procedural.composite import absorb, compose, take
from mcp_world.engines.procedural.fabricate import MISSING, Fabricator, Source
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.learned import Learned, failed, missing
from mcp_world.engines.procedural.model import Model, Plan, schema_for
from mcp_world.engines.procedural.population import Population, state
from mcp_world.engines.procedural.projection import Projector
from mcp_world.engines.procedural.values import Values
from mcp_world.engines.procedural.voice import Refusal, say, success
from mcp_world.spec.flatten import types_of
from mcp_world.spec.formats import data_of
from mcp_world.spec.layout import Layout
from mcp_world.spec.model import ServerSpec, Tool
from mcp_world.spec.names import plural, spoken, words
from mcp_world.spec.query import cursor_for

_YES = frozenset({
    "success", "ok", "deleted", "updated", "acknowledged", "removed", "created", "done", "sent", "accepted", "succeeded",
    "merged", "cancelled", "canceled", "archived", "completed", "applied",
})  # fmt: skip
_PAST = {
    "send": "sent", "put": "put", "set": "set", "make": "made", "write": "written", "read": "read", "get": "retrieved",
    "cancel": "cancelled", "stop": "stopped", "drop": "dropped", "submit": "submitted", "pay": "paid", "reply": "replied",
    "copy": "copied", "apply": "applied", "run": "run", "pin": "pinned", "unpin": "unpinned", "win": "won", "lose": "lost",
}  # fmt: skip


class ProceduralEngine(Engine):
    """Reads what a tool means from its schema and answers from the ledger.

    Stateless: one engine serves all worlds of a spec. Same seed, spec, facts and calls: the same bytes.

    Args:
        spec: The server.
        locale: A Faker locale for names and addresses.
    """

    name = "procedural"

    def __init__(self, spec: ServerSpec, locale: str = "en_US") -> None:
        self.model = Model(spec, Values(locale))
        self.learned = Learned(spec)
        found = {name: members.membership(p, self.model.kinds, self.model.made) for name, p in self.model.plans.items()}
        self._memberships = {name: how for name, how in found.items() if how is not None}
        self._inferred: dict[str, Fabricator] = {}

    def state(self, ledger: Ledger, facts: Facts) -> None:
        """Put stated records into a new world's ledger; see `Engine.state`."""
        state(ledger, self.model, facts)

    async def witness(self, request: Request, observation: Observation) -> None:
        """Do to the ledger what the call did; what it could not find is not there."""
        reading = self.model.plans[request.tool.name].reading
        id = request.action.arguments.get(reading.id_arg) if reading.id_arg else None
        if observation.is_error or failed(observation.text):
            if isinstance(id, str) and missing(observation.text):
                request.ledger.mark(("absent", id))
            return
        self.answer(request)
        self._absorb(request, observation)
        self.adopt(request, observation)

    def adopt(self, request: Request, observation: Observation) -> None:
        """Take what a success shows of the thing that a call is about, or of the things it lists, into the ledger."""
        plan = self.model.plans[request.tool.name]
        population = Population(self.model, request.ledger, request.seed, request.start, request.now)
        adopt(plan, request.action.arguments, data_of(observation), population)

    def subject(self, request: Request) -> Entity | None:
        """The thing that a call was just answered about, or None where it was about none, or several."""
        plan = self.model.plans[request.tool.name]
        population = Population(self.model, request.ledger, request.seed, request.start, request.now)
        return subject(plan, request.action.arguments, population)

    def _absorb(self, request: Request, observation: Observation) -> None:
        """Take the things that a true observation showed into the ledger."""
        plan = self.model.plans[request.tool.name]
        value = observation.structured
        population = Population(self.model, request.ledger, request.seed, request.start, request.now)
        reading = plan.reading
        if _reads_text(plan) and reading.id_arg and set(request.action.arguments) == {reading.id_arg}:
            thing = population.locate(plan.kind, request.action.arguments[reading.id_arg], {})
            shape = self.learned.shapes.get(plan.tool.name)
            texts = shape is not None and shape.schema is None
            if thing is not None and texts and (value is None or wrapped_by(plan.tool, value)):
                request.ledger.set(thing, {"content": observation.text})
        if plan.lists and isinstance(value, dict):
            absorb(plan, value, population, whole=not request.action.arguments)
        elif plan.reading.verb == "create" and plan.kind.name in self.model.made and plan.layout.shape == "items":
            for key in plan.layout.path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, list) and plan.tool.name not in self._memberships:
                take(plan.kind, value, population)

    async def predict(self, request: Request) -> Prediction:
        """Answer one request; never raises for what an agent sends."""
        return Prediction(self.answer(request), self.name)

    def answer(self, request: Request) -> Observation:
        """The observation of a request."""
        plan = self.model.plans[request.tool.name]
        dialect = request.spec.dialect
        if plan.problem:
            return Observation.failure(
                f"Internal error: no result for {request.tool.name} can conform to its outputSchema ({plan.problem})"
            )
        if self.learned:
            known = self.learned.again(request, self.model.plans)
            if known is not None:
                return known
        if self.learned and plan.tool.output is None:
            table = self._sql(plan, request)
            if table is not None:
                return table
        population = Population(self.model, request.ledger, request.seed, request.start, request.now)
        projector = Projector(self.model, population)
        try:
            how = self._memberships.get(plan.tool.name)
            if how is not None:
                return self._changed(
                    plan, request, members.change(how, request.action.arguments, population), projector
                )
            outcome = (
                Outcome(many=True)
                if plan.lists
                else operations.perform(plan, dict(request.action.arguments), population, projector)
            )
            return self._observe(plan, request, outcome, projector)
        except Refusal as refusal:
            return self.learned.failure(request, refusal) or say(refusal, request.tool.name, dialect)
        except Unsatisfiable as error:
            return Observation.failure(
                f"Internal error: no result for {request.tool.name} can conform to its outputSchema ({error})"
            )

    def _changed(
        self, plan: Plan, request: Request, done: list[tuple[Entity, list[Json]]], projector: Projector
    ) -> Observation:
        """The answer of a tool that changed lists of things: what was really put in, by thing, where it is asked for."""
        how = self._memberships[plan.tool.name]
        layout = plan.layout
        outcome = Outcome(many=True, total=len(done))
        if layout.shape != "items" or plan.output is None:
            return self._observe(plan, request, outcome, projector)
        node = plan.output.flattener.flat(layout.node)
        texts = next(
            (
                n
                for n, i in (node.get("properties") or {}).items()
                if "array" in types_of(plan.output.flattener.flat(i))
            ),
            how.texts,
        )
        outcome.records = [{how.owner: entity.id, texts: given} for entity, given in done]
        return self._observe(plan, request, outcome, projector)

    def _sql(self, plan: Plan, request: Request) -> Observation | None:
        """The answer of a tool that takes SQL, or speaks of tables that such tools made; None for other tools."""
        arguments = request.action.arguments
        try:
            statement = sql.statement_of(plan, arguments, request.ledger) or sql.table_asked(
                plan, arguments, request.ledger
            )
            if statement is None:
                return None
            table = sql.run(statement, request.ledger)
        except Refusal as refusal:
            return self.learned.failure(request, refusal) or say(refusal, request.tool.name, request.spec.dialect)
        value: Json = table.rows if table.changed < 0 else self.learned.changed(request.tool.name, table.changed)
        result = self.learned.success(request, value, data=True)
        return (
            Observation(result)
            if result is not None
            else success(self.learned.voice.write(value), MISSING, request.spec.dialect)
        )

    def _observe(self, plan: Plan, request: Request, outcome: Outcome, projector: Projector) -> Observation:
        for entity in (*outcome.items, *([outcome.entity] if outcome.entity is not None else [])):
            if entity.deleted is None:
                request.ledger.show(entity)
        if self.learned and not _certain(outcome):
            recorded = self.learned.known_failure(request)
            if recorded is not None:
                return recorded
        value = MISSING if plan.output is None else _Rendering(plan, request, outcome, projector).value()
        if self.learned:
            wrapped = wrapped_by(plan.tool, value)
            if isinstance(value, dict) and not wrapped:
                value = self.learned.constants(plan.tool.name, value, request)
            read = outcome.entity if _reads_text(plan) else None
            result = self.learned.success(request, value, wrapped=wrapped, thing=read)
            if result is not None:
                return Observation(result)
            if wrapped and isinstance(value, dict):
                if plan.reading.writes and self.learned.lead:
                    said = self.learned.sentence(
                        plan, request.action.arguments, _past(plan.reading.word), plan.kind.noun
                    )
                    value = {wrapped: said}
                return success(str(value[wrapped]), value, request.spec.dialect)
        if plan.tool.output is None:
            if plan.output is not None:
                return success(self.learned.voice.write(value), MISSING, request.spec.dialect)
            return success(self._text(plan, request, outcome, projector), MISSING, request.spec.dialect)
        return success(self.learned.text(value), value, request.spec.dialect)

    def _text(self, plan: Plan, request: Request, outcome: Outcome, projector: Projector) -> str:
        """The answer of a tool that has no outputSchema: JSON for what is read, a sentence for what is done."""
        reading = plan.reading
        noun = spoken(plan.kind.noun)
        if reading.verb == "call":
            key = digest(request.seed, request.tool.name, pretty(dict(request.action.arguments)))
            return _sentence(plan, request.action.arguments, self.model.values, key)
        if reading.verb == "delete":
            gone = outcome.items or ([outcome.entity] if outcome.entity else [])
            return f"{_cap(noun)} {', '.join(str(e.id) for e in gone)} {_past(reading.word)} successfully"
        if self.learned.speaks and reading.writes:
            return self.learned.sentence(plan, request.action.arguments, _past(reading.word), noun)
        fabricator = self._inferred.get(plan.kind.name)
        if fabricator is None:
            fabricator = self._inferred[plan.kind.name] = Fabricator(schema_for(plan.kind), self.model.values)
        node = fabricator.schema.checked
        if outcome.many:
            shown = [_inferred(entity, projector.show(entity, node, fabricator)) for entity in outcome.items]
            if reading.verb == "count":
                return str(outcome.total)
            out: Json = {plural(plan.kind.noun) or "items": shown, "total_count": outcome.total}
            if outcome.next_offset is not None and reading.cursor:
                out["next_cursor"] = cursor_for(outcome.next_offset)
            paged = reading.limit or reading.page or reading.cursor or reading.offset
            return self.learned.voice.write(out if paged else shown)
        if outcome.entity is None:
            return f"{_cap(noun)}: done"
        return self.learned.voice.write(_inferred(outcome.entity, projector.show(outcome.entity, node, fabricator)))


def _reads_text(plan: Plan) -> bool:
    """Whether a tool gives the text that a thing holds, rather than facts about it."""
    parts = set(words(plan.tool.own_name))
    return plan.reading.verb == "get" and bool(parts & {"read", "cat", "view", "text", "content", "contents"})


def _certain(outcome: Outcome) -> bool:
    """Whether what a call came to rests on something that was stated or made, rather than taken to be there."""
    return bool(outcome.items) or (outcome.entity is not None and outcome.entity.origin != "found")


def wrapped_by(tool: Tool, value: Json) -> str:
    """The member that wraps a text, where structured content is nothing else; an empty string where it is more."""
    if tool.output is None or not isinstance(value, dict) or len(value) != 1:
        return ""
    ((name, inner),) = value.items()
    return name if isinstance(inner, str) else ""


class _Rendering:
    """One structured result."""

    def __init__(self, plan: Plan, request: Request, outcome: Outcome, projector: Projector) -> None:
        assert plan.output is not None
        self.plan = plan
        self.request = request
        self.outcome = outcome
        self.projector = projector
        self.fabricator = plan.output
        self.arguments = request.action.arguments
        given = {**plan.reading.defaults, **self.arguments}
        self.by_words = {words(name): value for name, value in given.items()}

    def value(self) -> Json:
        """The result, with everything known in its place; a purely fabricated one where that would not be valid."""
        layout, outcome = self.plan.layout, self.outcome
        if self.plan.lists:
            lists = compose(self.plan, self.arguments, self.projector.population, self.projector)
            return self.fabricator.root(
                self.key(),
                now=self.request.now,
                kind=self.plan.kind.noun,
                source=lambda name, flat: lists.get(name, MISSING),
            )
        if self.request.attempt == 0:
            if layout.shape == "entity" and not layout.path and outcome.entity is not None:
                return self.whole_entity(outcome.entity, layout)
            if layout.shape == "items" and not layout.path:
                return [self.projector.show(entity, layout.node, self.fabricator) for entity in outcome.items]
        return self.fabricator.root(
            self.key(),
            length=self.length(),
            now=self.request.now,
            kind=self.plan.kind.noun,
            source=self.source(layout.path, self.request.attempt),
        )

    def length(self) -> int:
        """How many items a function is asked for: by `days` for a list of days, or by a limit; 0 where it is not."""
        reading = self.plan.reading
        if self.plan.layout.shape != "none":
            return 0
        properties = self.fabricator.flattener.flat(self.fabricator.schema.checked).get("properties") or {}
        given = {**reading.defaults, **self.arguments}
        lists = [name for name, node in properties.items() if "array" in types_of(self.fabricator.flattener.flat(node))]
        for name in (*lists, reading.limit, "count", "limit", "n"):
            value = given.get(name)
            if lists and isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return 0

    def key(self) -> int:
        """What fabricated parts depend on: for a function its arguments, for the rest the thing."""
        subject = self.outcome.entity
        if subject is not None:
            return digest(
                self.request.seed, self.request.tool.name, subject.kind, str(subject.id), self.request.attempt
            )
        return digest(self.request.seed, self.request.tool.name, pretty(dict(self.arguments)), self.request.attempt)

    def whole_entity(self, entity: Entity, layout: Layout) -> Json:
        """The entity as the whole result, with what speaks of the call itself beside its fields."""
        shown = self.projector.show(entity, layout.node, self.fabricator)
        marks = self.plan.marks
        if marks is None:
            properties = self.fabricator.flattener.flat(layout.node).get("properties") or {}
            marks = self.plan.marks = {
                name: self.fabricator.flattener.flat(node)
                for name, node in properties.items()
                if words(name)[-1:] and words(name)[-1] in _YES and name not in self.plan.kind.fields
            }
        if not marks or not isinstance(shown, dict):
            return shown
        extra = {name: self.envelope(name, flat) for name, flat in marks.items()}
        return {**shown, **{name: value for name, value in extra.items() if value is not MISSING}}

    def source(self, path: tuple[str, ...], attempt: int) -> Source | None:
        """Where the properties of the result come from, on the way to the thing."""
        if attempt >= 3:
            return None

        def give(name: str, flat: dict[str, Any]) -> Json:
            if path and name == path[0]:
                return self.thing(name, flat, path, attempt)
            value = self.envelope(name, flat)
            return value if value is MISSING or attempt < 2 or self._fits(value, flat) else MISSING

        return give

    def thing(self, name: str, flat: dict[str, Any], path: tuple[str, ...], attempt: int) -> Json:
        """The property that holds the thing, or leads to it."""
        layout, outcome = self.plan.layout, self.outcome
        if len(path) > 1:
            return self.fabricator.part_with(
                flat,
                self.key(),
                self.request.now,
                self.plan.kind.noun,
                _given(self.source(path[1:], attempt)),
            )
        if layout.shape == "items" and outcome.records is not None:
            return outcome.records
        if layout.shape == "items":
            shown = [self.projector.show(entity, layout.node, self.fabricator) for entity in outcome.items]
            if attempt:
                fit = [value for value in shown if self._fits(value, self.fabricator.flattener.flat(layout.node))]
                shown = fit
            most = flat.get("maxItems")
            return shown[:most] if isinstance(most, int) else shown
        if outcome.entity is not None:
            shown = self.projector.show(outcome.entity, layout.node, self.fabricator)
            return shown if not attempt or self._fits(shown, flat) else MISSING
        return MISSING

    def _fits(self, value: Json, flat: dict[str, Any]) -> bool:
        check = self.fabricator.checker(flat)
        return check is None or check.is_valid(value)

    def envelope(self, name: str, flat: dict[str, Any]) -> Json:
        """What stands beside the thing: totals, pages, cursors, acknowledgements, echoed arguments."""
        outcome, reading = self.outcome, self.plan.reading
        parts = words(name)
        types = types_of(flat)
        if "const" in flat:
            return flat["const"]
        if outcome.many or reading.verb == "count":
            value = _paging(parts, types, outcome)
            if value is not MISSING:
                return value
        if "boolean" in types and parts and (parts[-1] in _YES or parts[0] in _YES) and reading.verb != "call":
            return True
        entity = outcome.entity
        if entity is not None and not outcome.many:
            mine = words(self.plan.kind.noun)
            if (
                parts in (("id",), mine, (*mine, "id"), (*mine, "number"), (*mine, "name"))
                or name == self.plan.kind.id_field
                or words(reading.id_arg) == parts
            ):
                shaped = self.projector.typed(entity.id, flat)
                if self._fits(shaped, flat):
                    return shaped
        if parts in self.by_words and self.by_words[parts] is not None and self._fits(self.by_words[parts], flat):
            return self.by_words[parts]
        if parts == ("message",) and reading.writes and "string" in types and "enum" not in flat:
            ids = ", ".join(str(e.id) for e in outcome.items) or (str(entity.id) if entity is not None else "")
            return f"{_cap(spoken(self.plan.kind.noun))} {ids} {_past(reading.word)}".replace("  ", " ")
        if (
            entity is not None
            and reading.verb == "delete"
            and name in entity.fields
            and self._fits(entity.fields[name], flat)
        ):
            return entity.fields[name]
        return MISSING


def _inferred(entity: Entity, shown: Json) -> Json:
    """A thing in a shape that was only inferred: of a stated one, what was stated and what was done to it since."""
    if entity.origin != "fact" or not isinstance(shown, dict):
        return shown
    done = {name: value for name, value in shown.items() if name in entity.stated}
    return {**{name: value for name, value in entity.fields.items() if name in entity.stated}, **done}


def _given(source: Source | None) -> Callable[[str, dict[str, Any]], Json]:
    return source if source is not None else (lambda name, flat: MISSING)


def _paging(parts: tuple[str, ...], types: list[str], outcome: Outcome) -> Json:
    """The value of a paging property, or MISSING for any other."""
    name = "_".join(parts)
    number = "integer" in types or "number" in types
    more = outcome.next_offset is not None
    if number and name in (
        "total",
        "total_count",
        "total_results",
        "total_items",
        "result_count",
        "matches",
        "num_found",
        "total_size",
        "hits",
        "result_size_estimate",
    ):
        return outcome.total
    if number and name in ("count", "returned", "num_results", "size", "number_of_results"):
        return outcome.total if name == "count" and not outcome.items else len(outcome.items)
    if number and name in ("page", "current_page", "page_number"):
        return outcome.page
    if number and name in ("per_page", "page_size", "limit") and outcome.limit is not None:
        return outcome.limit
    if number and name in ("offset", "start", "skip"):
        return outcome.offset
    if number and name in ("total_pages", "pages", "page_count"):
        return -(-outcome.total // outcome.limit) if outcome.limit else 1
    if "boolean" in types and name in ("has_more", "has_next", "has_next_page", "more", "is_truncated"):
        return more
    if "boolean" in types and name in ("incomplete_results", "truncated", "partial"):
        return False
    if name in (
        "next_cursor",
        "next_page_token",
        "end_cursor",
        "cursor",
        "next",
        "next_token",
        "continuation_token",
        "next_marker",
        "continue",
    ):
        if more and "string" in types:
            return cursor_for(outcome.next_offset or 0)
        return None if "null" in types else "" if not more and "string" in types else MISSING
    if name in ("next_page", "next_offset") and (number or "null" in types):
        following = outcome.page + 1 if name == "next_page" else outcome.next_offset
        return following if more else None if "null" in types else MISSING
    return MISSING


def _sentence(plan: Plan, arguments: Mapping[str, Json], values: Values, key: int) -> str:
    """One line for a function that says nothing of its result."""
    about = ", ".join(
        f"{name} {value}"
        for name, value in arguments.items()
        if isinstance(value, str | int | float) and len(str(value)) <= 60
    )
    words_ = " ".join(words(plan.tool.own_name))
    return f"{_cap(words_)} completed{f' ({about})' if about else ''}. Reference {key % 0xFFFFFF:06x}."


def _past(word: str) -> str:
    if word in _PAST:
        return _PAST[word]
    return word + ("d" if word.endswith("e") else "ed") if not word.endswith("y") else word[:-1] + "ied"


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:] if text else "Item"
