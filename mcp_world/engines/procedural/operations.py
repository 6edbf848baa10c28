"""What each verb does to the things of a world."""

from __future__ import annotations

from typing import Any

from mcp_world.core.clock import iso
from mcp_world.core.ledger import Entity, fits
from mcp_world.core.types import Json
from mcp_world.engines.procedural.call import Call, Outcome
from mcp_world.engines.procedural.composite import find
from mcp_world.engines.procedural.listing import Listing
from mcp_world.engines.procedural.model import Plan
from mcp_world.engines.procedural.population import Population
from mcp_world.engines.procedural.projection import Projector
from mcp_world.engines.procedural.voice import already, exists, not_found
from mcp_world.spec.flatten import types_of
from mcp_world.spec.names import words

_ONCE = frozenset({"merge", "cancel", "refund", "capture", "void", "pay", "finalize", "win", "lose", "dispute"})
_FROM_ID = (("name",), ("filename",), ("url",), ("link",))
_ONCE_KEYS = frozenset({"idempotency_key", "idempotencyKey", "client_token", "client_request_id"})
_OFF = frozenset({
    "unlock", "unarchive", "unpin", "unstar", "unmute", "disable", "deactivate", "reopen", "resume", "uncordon", "restore",
    "unwatch",
})  # fmt: skip


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
    given = {**plan.reading.defaults, **{k: v for k, v in arguments.items() if v is not None}}
    verb = plan.reading.verb
    if verb in ("list", "search", "count"):
        return Listing(plan, given, population, projector).perform()
    call = _Things(plan, given, population, projector)
    if plan.reading.items_arg or plan.reading.id_list:
        return call.batch()
    if verb == "call":
        call.scope()
        return Outcome()
    return Outcome(entity=call.one())


class _Things(Call):
    """A call about one thing, or about several by name."""

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
                [
                    e
                    for e in self.population.ledger.find(self.kind.name, id)
                    if fits(e.scope, scope) and e.deleted is None
                ]
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
        before = self._repeated(fields)
        if before is not None:
            return before
        if self.reading.word in ("copy", "duplicate"):
            fields, id = self._copied(scope, fields)
        if id is None:
            id = self.population.next_id(self.kind, scope, fields)
            if not self.kind.whole and any(
                fits(e.scope, scope) and e.deleted is None for e in ledger.find(self.kind.name, id)
            ):
                raise exists(self.kind.name, id)
        return self.population.make(self.kind, id, scope, fields)

    def _repeated(self, fields: dict[str, Json]) -> Entity | None:
        """What was made by an earlier call with the same idempotency key."""
        for name in _ONCE_KEYS & fields.keys():
            for entity in self.population.ledger.of(self.kind.name):
                if entity.fields.get(name) == fields[name]:
                    return entity
        return None

    def _copied(self, scope: dict[str, Json], fields: dict[str, Json]) -> tuple[dict[str, Json], Json]:
        """The fields of the original, and the id of the copy."""
        given = {words(name)[0]: value for name, value in fields.items() if words(name)}
        source = next((given[word] for word in ("source", "from", "original", "src") if word in given), None)
        target = next((given[word] for word in ("target", "destination", "to", "new", "dest") if word in given), None)
        if not isinstance(source, str | int):
            return fields, None
        original = self.population.locate(self.kind, source, scope)
        if original is None:
            raise not_found(self.kind.name, source)
        kept = self._kept(original)
        return {**kept, **fields}, target if self.kind.natural else None

    def _kept(self, entity: Entity) -> dict[str, Json]:
        """The fields that do not follow from the id."""
        id_field = self.kind.id_field
        return {n: v for n, v in entity.fields.items() if n != id_field and words(n)[-1:] not in _FROM_ID}

    def _renamed(self, entity: Entity, changes: dict[str, Json]) -> Json:
        """The new id that a call gives a thing, or None where it keeps its own."""
        stem = words(self.kind.id_field)
        for name, value in changes.items():
            moved = words(name) in (("new", *stem), ("destination",), ("new", "name"), ("new", "path"), ("dst",))
            new = moved or name == self.kind.id_field
            if new and isinstance(value, str):
                return value if value != entity.id else None
        return None

    def update(self, entity: Entity) -> Entity:
        """Change the fields that a call gives."""
        changes = self.content()
        new_id = self._renamed(entity, changes) if self.kind.natural else None
        if new_id is not None:
            return self._rename(entity, new_id, changes)
        changes.update(self._touched(changes, entity))
        self.population.ledger.set(entity, changes)
        return entity

    def _rename(self, entity: Entity, new_id: Json, changes: dict[str, Json]) -> Entity:
        ledger = self.population.ledger
        if any(fits(e.scope, entity.scope) and e.deleted is None for e in ledger.find(self.kind.name, new_id)):
            raise exists(self.kind.name, new_id)
        ledger.set(entity, {**changes, **self._touched(changes, entity)})
        fields = {**self._kept(entity), self.kind.id_field: new_id}
        ledger.delete(entity)
        moved = ledger.add(self.kind.name, new_id, scope=entity.scope, fields=fields, born=entity.born)
        moved.stated = entity.stated
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
            [e for e in ledger.find(self.kind.name, id) if fits(e.scope, scope) and e.deleted is None]
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
        entity = (
            self.population.locate(self.kind, id, scope) if id is not None else find(self.kind, item, self.population)
        )
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


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
