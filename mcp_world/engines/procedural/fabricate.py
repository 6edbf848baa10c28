"""Values for schemas: any JSON Schema that the validator accepts, from a seed, in bounded time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mcp_world.core.seed import Rng, digest
from mcp_world.core.types import Json
from mcp_world.engines.procedural.agree import agree, in_order
from mcp_world.engines.procedural.heights import Heights, Unsatisfiable
from mcp_world.engines.procedural.pattern import NoMatch, string_for
from mcp_world.engines.procedural.scalars import number, string
from mcp_world.engines.procedural.values import Hint, Values
from mcp_world.spec.flatten import Flattener, admits, merge, types_of
from mcp_world.spec.names import kind_of
from mcp_world.spec.schema import Schema, SchemaError

MISSING: Any = object()
Source = Callable[[str, dict[str, Any]], Json]
"""Gives the value of an object's property by name and flat schema, or MISSING."""

_STRING: Json = {"type": "string"}
_BUDGET = 20_000
_ATTEMPTS = 8
_GIVEN_TRIES = 5
_LOCAL_TRIES = 16
_CHAIN = 8
_MOST_ITEMS = 20_000
_NULLS = 0.12
"""How often a value that may be null is."""
_DEEP = 5
_FLOOR = 48
_CHECKED = frozenset({
    "not", "oneOf", "anyOf", "if", "contains", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "propertyNames",
    "also", "dependentRequired", "patternProperties",
})  # fmt: skip


@dataclass(slots=True)
class _Run:
    """What one fabrication shares: its budget, the time, the subject, and how sparse to be."""

    now: datetime
    kind: str
    budget: int = _BUDGET
    sparse: bool = False
    length: int = 0
    series: bool = False

    def spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            raise Unsatisfiable("no valid value found within the budget")


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where in a value something is made: the property's name, how deep, and what gives its own properties."""

    run: _Run
    name: str
    depth: int
    source: Source | None

    def into(self, name: str) -> _Spot:
        """One level deeper."""
        return _Spot(self.run, name, self.depth + 1, None)


class Fabricator:
    """Fabricates values of one schema document.

    Args:
        schema: The compiled document.
        values: The makers of plain values.

    Raises:
        Unsatisfiable: Every value would be infinite (a required property that needs itself).
    """

    def __init__(self, schema: Schema, values: Values) -> None:
        self.schema = schema
        self.values = values
        self.flattener = Flattener(schema.checked)
        self._local: dict[int, Schema | None] = {}
        self._merged: dict[tuple[int, int], dict[str, Any]] = {}
        try:
            self.heights = Heights(self.flattener, schema.checked)
        except SchemaError as error:
            raise Unsatisfiable(error.reason) from None
        if math.isinf(self.heights.of(schema.checked)):
            raise Unsatisfiable("every value would be infinite: a required part contains itself")

    def root(
        self, key: int, *, now: datetime, kind: str = "", name: str = "", source: Source | None = None, length: int = 0
    ) -> Json:
        """A valid value of the whole document.

        Args:
            key: The seed; the same key gives the same value.
            now: The world's time.
            kind: The subject, for names ("issue").
            name: The property name to fit, for schemas that are no object.
            length: How many items the arrays of the outermost object have, as far as they may; 0 for a few.
            source: Values to take instead of fabricating, for the properties of the outermost object.

        Raises:
            Unsatisfiable: None was found.
        """
        reason = "no valid value found"
        for attempt in range(_ATTEMPTS):
            run = _Run(now, kind, sparse=attempt >= _ATTEMPTS - 2, length=length, series=True)
            try:
                given = source if attempt < _GIVEN_TRIES else None
                value = self.make(self.schema.checked, Rng(digest(key, attempt)), _Spot(run, name, 0, given))
            except Unsatisfiable as error:
                reason = str(error)
                continue
            if self.schema.is_valid(value):
                return value
        raise Unsatisfiable(reason)

    def part(self, node: Json, key: int, *, now: datetime, kind: str, name: str, source: Source | None = None) -> Json:
        """A value of a subschema of the document; not checked against it beyond what building it takes.

        Raises:
            Unsatisfiable: None was found.
        """
        return self.make(node, Rng(key), _Spot(_Run(now, kind), name, 0, source))

    def part_with(self, node: Json, key: int, now: datetime, kind: str, source: Source) -> Json:
        """A value of a subschema whose own properties come from `source` where it has them.

        Raises:
            Unsatisfiable: None was found.
        """
        return self.make(node, Rng(key), _Spot(_Run(now, kind), "", 0, source))

    # building

    def make(self, node: Json, rng: Rng, at: _Spot) -> Json:
        """A value for a subschema; checked against it where building it does not suffice to be sure."""
        flat = self._flat(node)
        if not (_CHECKED & flat.keys()):
            return self._build(flat, rng, at)
        check = self.checker(flat)
        last: Unsatisfiable | None = None
        for _ in range(_LOCAL_TRIES):
            try:
                value = self._build(flat, Rng(rng.bits()), at)
            except Unsatisfiable as error:
                last = error
                continue
            if check is None or check.is_valid(value):
                return value
        raise last or Unsatisfiable(f"no value for {at.name or 'the schema'} satisfies all its keywords")

    def _build(self, flat: dict[str, Any], rng: Rng, at: _Spot) -> Json:
        at.run.spend()
        if at.depth > _FLOOR:
            raise Unsatisfiable("nested too deep")
        branches = self.flattener.branches(flat)
        if not branches and "also" in flat:
            branches = self.flattener.branches(self._with_also(flat))
        if branches:
            return self._branch(branches, rng, at)
        if "const" in flat:
            return flat["const"]
        options = flat.get("enum")
        if isinstance(options, list):
            types = types_of(flat) if "type" in flat else []
            fits = [value for value in options if not types or admits(value, types)]
            if not fits:
                raise Unsatisfiable(f"no value of the enum of {at.name or 'the schema'} fits")
            return rng.pick([value for value in fits if value is not None and value != ""] or fits)
        kind = self._type(flat, rng, at.name)
        if kind == "object":
            return self._object(flat, rng, at)
        if kind == "array":
            return self._array(flat, rng, at)
        return self._scalar(kind, flat, rng, Hint(at.name, at.run.kind, at.run.now))

    def _scalar(self, kind: str, flat: dict[str, Any], rng: Rng, hint: Hint) -> Json:
        if kind == "null":
            return None
        if kind == "boolean":
            return self.values.boolean(hint, rng)
        if kind in ("integer", "number"):
            return number(flat, hint, rng, self.values, whole=kind == "integer")
        return string(flat, hint, rng, self.values, lambda: self.checker(flat))

    def _type(self, flat: dict[str, Any], rng: Rng, name: str) -> str:
        types = types_of(flat)
        excluded = flat.get("not")
        if isinstance(excluded, dict) and set(excluded) == {"type"}:
            bad = excluded["type"] if isinstance(excluded["type"], list) else [excluded["type"]]
            types = [t for t in types or ["string", "integer", "boolean", "object", "array", "null"] if t not in bad]
        if "type" in flat and not types:
            raise Unsatisfiable(f"no type fits {name or 'the schema'}")
        if excluded is True or excluded == {}:
            raise Unsatisfiable("the schema admits nothing")
        solid = [t for t in types if t != "null"]
        if "null" in types and (not solid or rng.chance(_NULLS)):
            return "null"
        if not solid:
            return "string"
        return solid[0] if len(solid) == 1 else rng.pick(solid)

    def _branch(self, branches: list[dict[str, Any]], rng: Rng, at: _Spot) -> Json:
        order = rng.shuffled(range(len(branches)))
        if at.depth >= _DEEP or at.run.sparse:
            order.sort(key=lambda i: self.heights.of(branches[i]))
        else:
            nulls = [i for i in order if branches[i].get("type") == "null" or branches[i].get("const", 0) is None]
            if nulls and len(nulls) < len(order) and not rng.chance(_NULLS):
                order = [i for i in order if i not in nulls] + nulls
        last: Unsatisfiable | None = None
        for index in order:
            try:
                return self.make(branches[index], rng, _Spot(at.run, at.name, at.depth + 1, at.source))
            except Unsatisfiable as error:
                last = error
        raise last or Unsatisfiable("no branch fits")

    def _object(self, flat: dict[str, Any], rng: Rng, at: _Spot) -> dict[str, Json]:
        if at.depth == 0 or not at.name:
            return self._record(flat, rng, at)
        run = at.run
        outer, run.kind = run.kind, kind_of(at.name)  # the parts of a nested object speak of it, not of what it is in
        try:
            return self._record(flat, rng, at)
        finally:
            run.kind = outer

    def _record(self, flat: dict[str, Any], rng: Rng, at: _Spot) -> dict[str, Json]:
        properties = flat.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        listed = flat.get("required")
        required = [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
        banned = _banned(flat.get("not"))
        most = flat.get("maxProperties", math.inf)
        out: dict[str, Json] = {}
        known: set[str] = set()
        salt = rng.bits()
        needed = set(required)
        for key in properties:
            if key in banned:
                continue
            if key not in needed:
                full = len(out) + len(needed - out.keys()) >= most
                endless = at.depth >= 2 and self.heights.endless(properties[key])
                if full or at.run.sparse or at.depth >= _DEEP or endless:
                    continue
            try:
                given = MISSING if at.source is None else at.source(key, self._flat(properties[key]))
                if given is not MISSING:
                    known.add(key)
                out[key] = self._member(key, properties[key], salt, at) if given is MISSING else given
            except Unsatisfiable:
                if key in needed:
                    raise
        for key in required:
            if key not in out:
                out[key] = self._member(key, self._other(flat, key), salt, at)
        self._dependents(flat, properties, out, salt, at)
        self._more(flat, out, most, Rng(salt), at)
        return agree(out, properties, frozenset(known))

    def _member(self, key: str, node: Json, salt: int, at: _Spot) -> Json:
        """A property's value, which depends on its name and not on what stands before it."""
        return self.make(node, Rng(digest(salt, key)), at.into(key))

    def _other(self, flat: dict[str, Any], key: str) -> Json:
        """The schema of a property that is not among `properties`."""
        patterns = flat.get("patternProperties")
        if isinstance(patterns, dict):
            for pattern, node in patterns.items():
                try:
                    if Schema({"type": "string", "pattern": pattern}).is_valid(key):
                        return node
                except SchemaError:
                    continue
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if keyword in flat:
                if flat[keyword] is False:
                    raise Unsatisfiable(f"property {key!r} is required and forbidden")
                return flat[keyword]
        return True

    def _dependents(
        self, flat: dict[str, Any], properties: dict[str, Any], out: dict[str, Json], salt: int, at: _Spot
    ) -> None:
        """Properties that others, once there, ask for."""
        needs = flat.get("dependentRequired")
        pairs = needs.items() if isinstance(needs, dict) else ()
        for _ in range(_CHAIN):
            missing = [key for trigger, keys in pairs if trigger in out for key in keys if key not in out]
            for key in missing:
                node = properties[key] if key in properties else self._other(flat, key)
                out[key] = self._member(key, node, salt, at)
            if not missing:
                break
        schemas = flat.get("dependentSchemas")
        for trigger, node in schemas.items() if isinstance(schemas, dict) else ():
            if trigger in out:
                extra = self._flat(node)
                for key in extra.get("required", ()):
                    if key not in out:
                        out[key] = self._member(key, extra.get("properties", {}).get(key, True), salt, at)

    def _more(self, flat: dict[str, Any], out: dict[str, Json], most: float, rng: Rng, at: _Spot) -> None:
        """Properties beyond the named ones: entries of a map, or what `minProperties` asks for."""
        least = flat.get("minProperties", 0)
        patterns = flat.get("patternProperties")
        patterns = patterns if isinstance(patterns, dict) else {}
        extra = flat.get("additionalProperties", flat.get("unevaluatedProperties", True))
        is_map = not flat.get("properties") and bool((isinstance(extra, dict) and extra) or patterns)
        wanted = max(least, 1 + rng.below(3)) if is_map and at.depth < _DEEP and not at.run.sparse else least
        tries = 0
        while len(out) < min(wanted, most) and tries < 40 + 2 * wanted:
            tries += 1
            try:
                if patterns and (extra is False or rng.chance(0.7)):
                    pattern = rng.pick(sorted(patterns))
                    key, node = string_for(pattern, rng), patterns[pattern]
                elif extra is False:
                    break
                else:
                    names = flat.get("propertyNames")
                    key = self.make(self._both(_STRING, names), rng, at.into("key")) if names else self.values.slug(rng)
                    node = extra
                if key not in out:
                    out[key] = self.make(node, rng, at.into(at.name or "value"))
            except (NoMatch, Unsatisfiable):
                if len(out) >= least:
                    break
        if len(out) < least:
            raise Unsatisfiable(f"fewer than {least} properties are possible")

    def _array(self, flat: dict[str, Any], rng: Rng, at: _Spot) -> list[Json]:
        least = int(flat.get("minItems", 0))
        most = flat.get("maxItems", math.inf)
        if least > _MOST_ITEMS:
            raise Unsatisfiable(f"an array of at least {least} items is too large")
        prefix = flat.get("prefixItems") or []
        items = flat.get("items", True)
        inside = at.into(at.name)
        out: list[Json] = [self.make(node, rng, inside) for node in prefix[: int(min(most, len(prefix)))]]
        if "contains" in flat:
            both = self._both(items, flat["contains"]) if items is not True else flat["contains"]
            for _ in range(min(int(flat.get("minContains", 1)), 1000)):
                out.append(self.make(both, Rng(rng.bits()), inside))
        wanted = self._length(items, least, most, rng, at)
        unique = bool(flat.get("uniqueItems"))
        seen = {repr(value) for value in out}
        for _ in range(30 + 4 * wanted):
            if len(out) >= wanted:
                break
            try:
                value = self.make(items, Rng(rng.bits()), inside)
            except Unsatisfiable:
                if len(out) >= least:
                    break
                raise
            if not unique or repr(value) not in seen:
                seen.add(repr(value))
                out.append(value)
        if len(out) < least or len(out) > most:
            raise Unsatisfiable(f"no array of {least} to {most} items found for {at.name or 'the schema'}")
        return in_order(out, at.run.now) if at.run.series else out

    def _length(self, items: Json, least: int, most: float, rng: Rng, at: _Spot) -> int:
        """How many items an array gets: as many as were asked for, else a few, and fewer the deeper it stands."""
        if at.run.length and at.depth == 1:
            return max(least, min(at.run.length, int(min(most, 1000))))
        if items is False or at.depth >= _DEEP or at.run.sparse:
            return least
        few = 3 if at.depth < 3 else 1
        wanted = max(least, min(1 + rng.below(few), int(min(few, most))))
        return least if at.depth >= 3 and isinstance(items, dict) and self.heights.endless(items) else wanted

    def _with_also(self, flat: dict[str, Any]) -> dict[str, Any]:
        """A flat schema with those of its left-over keywords merged in that offer branches."""
        known = self._merged.get((id(flat), 0))
        if known is None:
            known = {k: v for k, v in flat.items() if k != "also"}
            for extra in flat["also"]:
                keyword = next(iter(extra))
                if keyword in ("anyOf", "oneOf", "if") and keyword not in known:
                    known = merge(known, extra)
            self._merged[id(flat), 0] = known
        return known

    def _both(self, a: Json, b: Json) -> dict[str, Any]:
        """Two schemas in one; each pair is merged once."""
        first, second = self._flat(a), self._flat(b)
        known = self._merged.get((id(first), id(second)))
        if known is None:
            known = self._merged[id(first), id(second)] = merge(first, second)
        return known

    def _flat(self, node: Json) -> dict[str, Any]:
        try:
            return self.flattener.flat(node)
        except SchemaError as error:
            raise Unsatisfiable(error.reason) from None

    def checker(self, flat: dict[str, Any]) -> Schema | None:
        """A validator for one flat subschema, or None where its references need the whole document."""
        key = id(flat)
        if key not in self._local:
            root = self.schema.checked if isinstance(self.schema.checked, dict) else {}
            body = {k: v for k, v in flat.items() if k not in ("also", "$id", "$schema")}
            if "also" in flat:
                body = {"allOf": [body, *flat["also"]]}
            for shared in ("$defs", "definitions"):
                if shared in root:
                    body[shared] = root[shared]
            if "$schema" in root:
                body["$schema"] = root["$schema"]
            try:
                self._local[key] = Schema(body)
            except SchemaError:
                self._local[key] = None
        return self._local[key]


def _banned(excluded: Json) -> set[str]:
    """Properties that `not: {required: [one]}` forbids."""
    if not isinstance(excluded, dict):
        return set()
    out: set[str] = set()
    for part in excluded.get("anyOf", [excluded]):
        if isinstance(part, dict) and set(part) == {"required"} and len(part["required"]) == 1:
            out.add(part["required"][0])
    return out
