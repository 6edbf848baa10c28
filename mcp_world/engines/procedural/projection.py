"""Things as results show them: each field taken from the ledger, or fabricated once and kept."""

from __future__ import annotations

from typing import Any

from mcp_world.core.clock import parse_time
from mcp_world.core.ledger import Entity
from mcp_world.core.seed import Rng, digest
from mcp_world.core.types import Json
from mcp_world.engines.procedural.agree import agree
from mcp_world.engines.procedural.fabricate import MISSING, Fabricator, Source
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.model import Kind, Model
from mcp_world.engines.procedural.population import Population
from mcp_world.engines.procedural.values import Hint
from mcp_world.spec.flatten import admits, types_of
from mcp_world.spec.names import plural, words
from mcp_world.spec.query import plain

_BIRTHS = frozenset({"created", "opened", "registered", "added", "posted", "sent", "joined"})
_CHANGES = frozenset({"updated", "modified", "edited"})
_ENDS = frozenset({
    "closed", "merged", "completed", "cancelled", "canceled", "archived", "deleted", "resolved", "paid",
    "refunded", "finished",
})  # fmt: skip
_TRUE = frozenset({"active", "enabled", "available", "success", "ok", "open", "valid", "subscribed"})


class Projector:
    """Shows the things of one world.

    Args:
        model: The reading of the server.
        population: The things.
    """

    def __init__(self, model: Model, population: Population) -> None:
        self.model = model
        self.population = population

    def show(self, entity: Entity, node: Json, fabricator: Fabricator) -> Json:
        """An entity in the form of a schema.

        Args:
            entity: The thing.
            node: The schema, of the fabricator's document.
            fabricator: What fabricates the fields that are not known yet.

        Raises:
            Unsatisfiable: A required field cannot be made.
        """
        kind = self.model.kind(entity.kind)
        key = id(node)
        ledger = self.population.ledger
        known = entity.views.get(key) if entity.views is not None else None
        if known is not None and (not kind.children or known[0] == ledger.version):
            return known[1]  # what counts others is only as fresh as they are
        flat = fabricator.flattener.flat(node)
        types = types_of(flat)
        if types and "object" not in types:
            return self.typed(entity.id, flat)

        self._settle(entity, kind)

        def source(name: str, sub: dict[str, Any]) -> Json:
            return self.field(entity, kind, name, sub, fabricator, name in _required(flat))

        out = fabricator.part_with(
            node,
            digest(self.population.seed, entity.kind, str(entity.id)),
            self._time(entity),
            kind.noun,
            source,
        )
        _views(entity)[key] = (ledger.version, out)
        return out

    def _settle(self, entity: Entity, kind: Kind) -> None:
        """Make the fields that speak of each other agree, before any of them is shown."""
        views = _views(entity)
        if _SETTLED in views:
            return
        views[_SETTLED] = True
        record = {name: self.peek(entity, name, required=True) for name in kind.agreeing}
        record = {name: value for name, value in record.items() if value is not None}
        properties = {name: kind.fields[name].fabricator.flattener.flat(kind.fields[name].node) for name in record}
        before = dict(record)
        known = frozenset(name for name in record if name in entity.stated or name == kind.id_field)
        for name, value in agree(record, properties, known).items():
            if value != before[name] and self._may_hold(kind, name, value):
                entity.fields[name] = value

    def _may_hold(self, kind: Kind, name: str, value: Json) -> bool:
        known = kind.fields[name]
        check = known.fabricator.checker(known.fabricator.flattener.flat(known.node))
        return check is None or check.is_valid(value)

    def field(
        self,
        entity: Entity,
        kind: Kind,
        name: str,
        flat: dict[str, Any],
        fabricator: Fabricator,
        required: bool,
    ) -> Json:
        """One field's value, or MISSING where the fabricator should leave it out or make it."""
        if name == kind.id_field:
            return self.typed(entity.id, flat)
        if name in kind.children:
            count = self._count(entity, kind, name)
            if count is not None:
                return count
        for known in (name, self._known_as(entity, kind, name)):
            if known is not None and known in entity.fields:
                value = self._shaped(entity.fields[known], flat)
                if value is not MISSING:
                    return value
        value = self._derived(entity, kind, name, flat)
        if value is MISSING:
            value = self._inherited(entity, name, flat)
        if value is MISSING and entity.origin == "made":
            value = self._unset(name, flat, required)
            if value is _OMIT:
                raise Unsatisfiable("left out")
        if value is MISSING:
            key = digest(self.population.seed, entity.kind, str(entity.id), _scope_key(entity), name)
            if flat.get("default") is not None and digest(key, "default") % 5:
                value = flat["default"]
            else:
                value = fabricator.part(
                    flat,
                    key,
                    now=self._time(entity),
                    kind=kind.noun,
                    name=name,
                    source=self._told(entity, kind),
                )
            value = self._lived(entity, name, flat, value)
        entity.fields[name] = value
        return value

    def peek(self, entity: Entity, name: str, *, required: bool = False) -> Json:
        """A field's value for filtering and sorting, made if it must be; None where the thing has no such field.

        Args:
            entity: The thing.
            name: The field.
            required: Make it even where a thing that an agent made would go without.
        """
        kind = self.model.kind(entity.kind)
        if name == kind.id_field:
            return entity.id
        if name in entity.fields:
            return entity.fields[name]
        known = kind.fields.get(name)
        if known is None:
            return (
                entity.scope.get(name)
                if name in entity.scope
                else (entity.born or None)
                if name == "created_at"
                else None
            )
        try:
            return self.field(
                entity, kind, name, known.fabricator.flattener.flat(known.node), known.fabricator, required
            )
        except Unsatisfiable:
            return None

    def _told(self, entity: Entity, kind: Kind) -> Source | None:
        """What a call said beyond the kind's own fields, for the parts of a nested object: a commit's message, say."""
        told = {
            name: value for name, value in entity.fields.items() if name in entity.stated and name not in kind.fields
        }
        if not told:
            return None

        def source(name: str, flat: dict[str, Any]) -> Json:
            return self._shaped(told[name], flat) if name in told else MISSING

        return source

    # where values come from

    def _time(self, entity: Entity) -> Any:
        return self.population.now if entity.origin == "made" else self.population.start

    def _known_as(self, entity: Entity, kind: Kind, name: str) -> str | None:
        wanted = words(name)
        for have in entity.fields:
            if words(have) == wanted:
                return have
        noun = words(kind.noun)
        for have in entity.fields:
            if have != kind.id_field and words(have) == (*noun, *wanted):
                return have
        return None

    def _derived(self, entity: Entity, kind: Kind, name: str, flat: dict[str, Any]) -> Json:
        """Values that follow from what is known: the id under another name, what it belongs to, when it came to be."""
        parts = words(name)
        noun = words(kind.noun)
        types = types_of(flat)
        if parts and (parts == noun or parts == (*noun, "id")) and ({"string", "integer"} & set(types) or not types):
            return self.typed(entity.id, flat)
        for arg, value in entity.scope.items():
            have = words(arg)
            if have == parts or have == (*parts, "id") or (*have, "id") == parts or have == (*parts, "number"):
                shaped = self._shaped(value, flat)
                if shaped is not MISSING:
                    return shaped
        if parts == ("full", "name") and {"owner", "name"} <= kind.fields.keys() and "string" in types:
            return f"{'-'.join(plain(self.peek(entity, 'owner')))}/{self.peek(entity, 'name')}"
        if parts in (("name",), ("filename",), ("file", "name")) and words(kind.id_field)[-1:] == ("path",):
            return str(entity.id).rsplit("/", 1)[-1] or str(entity.id)
        if "boolean" in types and parts == ("is", *noun):
            return True
        when = entity.born
        if when and parts:
            if (
                parts[0] in _BIRTHS
                and ("string" in types or "integer" in types)
                and (len(parts) == 1 or parts[-1] in ("at", "on", "time", "date"))
            ):
                return self._moment(when, flat)
            if (
                parts[0] in _CHANGES
                and entity.origin == "made"
                and (len(parts) == 1 or parts[-1] in ("at", "on", "time", "date"))
            ):
                return self._moment(when, flat)
        if (
            "string" in types
            and parts
            and parts[-1] in ("url", "link", "href")
            and parts[0] in ("html", "web", "url", "permalink", "link", "self")
        ):
            return self._url(entity, kind, flat)
        return self._reference(entity, kind, parts, flat)

    def _inherited(self, entity: Entity, name: str, flat: dict[str, Any]) -> Json:
        """What a thing has from the one it belongs to: a refund's currency is its charge's."""
        parts = words(name)
        if parts not in (("currency",), ("timezone",)) and (len(parts) < 2 or parts[-1] != "id"):
            return MISSING
        for parent in self.population.parents(entity):
            if name in parent.fields or name in self.model.kind(parent.kind).fields:
                value = self._shaped(self.peek(parent, name), flat)
                if value is not MISSING and value is not None:
                    return value
        return MISSING

    def _reference(self, entity: Entity, kind: Kind, parts: tuple[str, ...], flat: dict[str, Any]) -> Json:
        """The id of something of another kind, where a field such as `customer_id` asks for one."""
        if (
            len(parts) < 2
            or parts[-1] != "id"
            or not set(types_of(flat)) & {"string", "integer"}
            or "format" in flat
            or "pattern" in flat
        ):
            return MISSING
        group = kind.name.rsplit(".", 1)[0] + "." if "." in kind.name else ""
        other = self.model.kinds.get(group + "_".join(parts[:-1]))
        if other is None or other is kind or not other.listed or other.scope:
            return MISSING
        there = [e for e in self.population.all(other, {}) if e.origin != "made"]
        if not there:
            return MISSING
        return self.typed(
            there[digest(self.population.seed, entity.kind, str(entity.id), *parts) % len(there)].id, flat
        )

    def _count(self, entity: Entity, kind: Kind, name: str) -> int | None:
        """How many things of another kind belong to this one."""
        child = self.model.kind(kind.children[name])
        plan = next(
            (
                p
                for p in self.model.plans.values()
                if p.kind is child and kind.name in p.parents.values() and p.reading.verb == "list"
            ),
            None,
        )
        if plan is None:
            return None
        scope: dict[str, Json] = {}
        for arg in plan.reading.scope:
            if plan.parents.get(arg) == kind.name:
                scope[arg] = entity.id
            elif arg in entity.scope:
                scope[arg] = entity.scope[arg]
            elif arg in entity.fields and plain(entity.fields[arg]):
                scope[arg] = plain(entity.fields[arg])[0]
            else:
                return None
        return len(self.population.all(child, scope))

    def _url(self, entity: Entity, kind: Kind, flat: dict[str, Any]) -> Json:
        """An address that names the thing and what it belongs to."""
        host = "-".join(words(str(self.model.spec.info.get("name", "service")))) or "service"
        if "full_name" in kind.fields:
            return f"https://{host}.example/{self.peek(entity, 'full_name')}".replace(" ", "-")
        path = [str(value) for value in entity.scope.values()]
        return f"https://{host}.example/" + "/".join(
            [*path, plural(kind.noun).replace("_", "-"), str(entity.id)]
        ).replace(" ", "-")

    def _unset(self, name: str, flat: dict[str, Any], required: bool) -> Json:
        """What a field holds that nobody set: nothing, as far as the schema allows it."""
        types = types_of(flat)
        parts = words(name)
        if "const" in flat:
            return flat["const"]
        if "default" in flat and flat["default"] is not None:
            return flat["default"]
        if "null" in types or any(b.get("type") == "null" for b in flat.get("anyOf", ()) if isinstance(b, dict)):
            return None
        if isinstance(flat.get("enum"), list) and flat["enum"]:
            return flat["enum"][0]
        if "array" in types and not flat.get("minItems"):
            return []
        if "boolean" in types:
            return bool(_TRUE & set(parts))
        counts = parts[-1:] not in (("id",), ("number",), ("version",), ("size",), ("at",), ("timestamp",))
        if "integer" in types and counts and flat.get("minimum", 0) <= 0 <= flat.get("maximum", 0):
            return 0
        if (
            "string" in types
            and parts[-1:]
            and parts[-1] in ("body", "description", "notes", "content", "comment", "topic", "purpose")
        ):
            return "" if not flat.get("minLength") and "pattern" not in flat else MISSING
        if not required and not (
            set(parts)
            & {
                "url",
                "id",
                "at",
                "sha",
                "hash",
                "etag",
                "version",
                "key",
                "author",
                "user",
                "creator",
                "created",
                "updated",
                "link",
                "owner",
                "sender",
            }
        ):
            return _OMIT
        return MISSING

    def _lived(self, entity: Entity, name: str, flat: dict[str, Any], value: Json) -> Json:
        """A fabricated value that fits the thing's age and state: nothing changed before it was made, nothing ended that is open."""
        parts = words(name)
        when = entity.born
        if parts and parts[0] in _ENDS and len(parts) > 1 and parts[-1] in ("at", "on", "time", "date", "by"):
            kind = self.model.kind(entity.kind)
            state = plain(next((self.peek(entity, f) for f in ("state", "status") if f in kind.fields), None))
            nullable = "null" in types_of(flat) or any(
                b.get("type") == "null" for b in flat.get("anyOf", ()) if isinstance(b, dict)
            )
            if state and nullable and parts[0] not in state:
                return None
        if (
            when
            and isinstance(value, str)
            and parts
            and parts[0] in (_CHANGES | _ENDS)
            and value[:2] == "20"
            and value[: len(when)] < when[: len(value)]
        ):
            return when if len(value) > 10 else when[:10]
        return value

    # shapes

    def _moment(self, when: str, flat: dict[str, Any]) -> Json:
        types = types_of(flat)
        if "string" in types:
            return when[:10] if flat.get("format") == "date" else when
        return int(parse_time(when).timestamp())

    def typed(self, value: Json, flat: dict[str, Any]) -> Json:
        """An id in the type that a schema asks for."""
        types = types_of(flat)
        if isinstance(value, str) and "string" not in types and ("integer" in types or "number" in types):
            return int(value) if value.isdigit() else int(digest(value) % 1_000_000)
        if isinstance(value, int) and types and "integer" not in types and "number" not in types and "string" in types:
            return str(value)
        return value

    def _shaped(self, value: Json, flat: dict[str, Any]) -> Json:
        """A known value in the type that a schema asks for, or MISSING: a login as a user object, a label as its name."""
        types = types_of(flat) or [
            t for b in flat.get("anyOf", flat.get("oneOf", ())) if isinstance(b, dict) for t in types_of(b)
        ]
        if not types or admits(value, types):
            if isinstance(value, list) and isinstance(flat.get("items"), dict):
                shaped = [self._shaped(item, flat["items"]) for item in value]
                return MISSING if MISSING in shaped else shaped
            if isinstance(flat.get("enum"), list) and value not in flat["enum"]:
                return MISSING
            return value
        if "string" in types and isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if "string" in types and isinstance(value, dict):
            found = plain(value)
            return found[0] if found else MISSING
        if "integer" in types and isinstance(value, str) and value.lstrip("-").isdigit():
            return int(value)
        if "number" in types and isinstance(value, int):
            return value
        if "object" in types and isinstance(value, str | int):
            properties = flat.get("properties") or {}
            for name in ("login", "name", "id", "key", "username", "slug", "email", "title"):
                if name in properties and admits(value, types_of(properties[name]) or [""]):
                    rest = {n: self._plain_part(n, properties[n]) for n in flat.get("required", ()) if n != name}
                    return MISSING if MISSING in rest.values() else {name: value, **rest}
        if "array" in types and isinstance(value, str):
            items = self._shaped(value, flat["items"]) if isinstance(flat.get("items"), dict) else value
            return MISSING if items is MISSING else [items]
        return MISSING

    def _plain_part(self, name: str, node: Json) -> Json:
        flat = node if isinstance(node, dict) else {}
        hint = Hint(name, "", self.population.start)
        rng = Rng.of(self.population.seed, "part", name)
        types = types_of(flat)
        if isinstance(flat.get("enum"), list) and flat["enum"]:
            return flat["enum"][0]
        if "boolean" in types:
            return False
        if "string" in types and not ({"pattern", "format"} & flat.keys()):
            return self.model.values.string(hint, rng)
        if "integer" in types:
            return self.model.values.number(hint, rng, whole=True)
        return MISSING


_OMIT: Any = object()
_SETTLED = "settled"


def _views(entity: Entity) -> dict[object, Json]:
    if entity.views is None:
        entity.views = {}
    return entity.views


def _required(flat: dict[str, Any]) -> tuple[str, ...]:
    listed = flat.get("required")
    return tuple(listed) if isinstance(listed, list) else ()


def _scope_key(entity: Entity) -> str:
    return "&".join(f"{k}={v}" for k, v in sorted(entity.scope.items()))
