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
from mcp_world.engines.procedural.names import kind_of
from mcp_world.engines.procedural.pattern import NoMatch, string_for
from mcp_world.engines.procedural.scalars import number, string
from mcp_world.engines.procedural.values import Hint, Values
from mcp_world.spec.flatten import Flattener, merge, types_of
from mcp_world.spec.schema import Schema, SchemaError

MISSING: Any = object()
Source = Callable[[str, dict[str, Any]], Json]
"""Gives the value of an object's property by name and flat schema, or MISSING."""

_STRING: Json = {"type": "string"}
_BUDGET = 20_000
_ATTEMPTS = 8
_LOCAL_TRIES = 16
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
                value = self.make(
                    self.schema.checked,
                    Rng(digest(key, attempt)),
                    run,
                    name=name,
                    source=source if attempt < 5 else None,
                )
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
        return self.make(node, Rng(key), _Run(now, kind), name=name, source=source)

    def part_with(self, node: Json, key: int, now: datetime, kind: str, source: Source) -> Json:
        """A value of a subschema whose own properties come from `source` where it has them.

        Raises:
            Unsatisfiable: None was found.
        """
        return self.make(node, Rng(key), _Run(now, kind), source=source)

    # building

    def make(
        self, node: Json, rng: Rng, run: _Run, *, name: str = "", depth: int = 0, source: Source | None = None
    ) -> Json:
        """A value for `node`; see `root`."""
        flat = self._flat(node)
        if not (_CHECKED & flat.keys()):
            return self._build(flat, rng, run, name, depth, source)
        check = self.checker(flat)
        last: Unsatisfiable | None = None
        for _ in range(_LOCAL_TRIES):
            try:
                value = self._build(flat, Rng(rng.bits()), run, name, depth, source)
            except Unsatisfiable as error:
                last = error
                continue
            if check is None or check.is_valid(value):
                return value
        raise last or Unsatisfiable(f"no value for {name or 'the schema'} satisfies all its keywords")

    def _build(self, flat: dict[str, Any], rng: Rng, run: _Run, name: str, depth: int, source: Source | None) -> Json:
        run.spend()
        if depth > _FLOOR:
            raise Unsatisfiable("nested too deep")
        branches = self.flattener.branches(flat)
        if branches:
            return self._branch(branches, rng, run, name, depth, source)
        if "also" in flat:
            branches = self.flattener.branches(self._with_also(flat))
            if branches:
                return self._branch(branches, rng, run, name, depth, source)
        if "const" in flat:
            return flat["const"]
        options = flat.get("enum")
        if isinstance(options, list):
            types = types_of(flat) if "type" in flat else []
            fits = [value for value in options if not types or any(_is_type(value, t) for t in types)]
            if not fits:
                raise Unsatisfiable(f"no value of the enum of {name or 'the schema'} fits")
            whole = [value for value in fits if value is not None and value != ""]
            return rng.pick(whole or fits)
        return self._of_type(self._type(flat, rng, name), flat, rng, run, name, depth, source)

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
        if "null" in types and (not solid or rng.chance(0.12)):
            return "null"
        if not solid:
            return "string"
        return solid[0] if len(solid) == 1 else rng.pick(solid)

    def _of_type(
        self,
        kind: str,
        flat: dict[str, Any],
        rng: Rng,
        run: _Run,
        name: str,
        depth: int,
        source: Source | None,
    ) -> Json:
        hint = Hint(name, run.kind, run.now)
        if kind == "object":
            return self._object(flat, rng, run, name, depth, source)
        if kind == "array":
            return self._array(flat, rng, run, name, depth)
        if kind == "integer":
            return number(flat, hint, rng, self.values, whole=True)
        if kind == "number":
            return number(flat, hint, rng, self.values, whole=False)
        if kind == "boolean":
            return self.values.boolean(hint, rng)
        if kind == "null":
            return None
        return string(flat, hint, rng, self.values, lambda: self.checker(flat))

    def _branch(
        self,
        branches: list[dict[str, Any]],
        rng: Rng,
        run: _Run,
        name: str,
        depth: int,
        source: Source | None,
    ) -> Json:
        order = rng.shuffled(range(len(branches)))
        if depth >= _DEEP or run.sparse:
            order.sort(key=lambda i: self.heights.of(branches[i]))
        else:
            nulls = [i for i in order if branches[i].get("type") == "null" or branches[i].get("const", 0) is None]
            if nulls and len(nulls) < len(order) and not rng.chance(0.12):
                order = [i for i in order if i not in nulls] + nulls
        last: Unsatisfiable | None = None
        for index in order:
            try:
                return self.make(branches[index], rng, run, name=name, depth=depth + 1, source=source)
            except Unsatisfiable as error:
                last = error
        raise last or Unsatisfiable("no branch fits")

    def _object(
        self, flat: dict[str, Any], rng: Rng, run: _Run, name: str, depth: int, source: Source | None
    ) -> dict[str, Json]:
        if depth == 0 or not name:
            return self._record(flat, rng, run, name, depth, source)
        outer, run.kind = run.kind, kind_of(name)  # the parts of a nested object speak of it, not of what it is in
        try:
            return self._record(flat, rng, run, name, depth, source)
        finally:
            run.kind = outer

    def _record(
        self, flat: dict[str, Any], rng: Rng, run: _Run, name: str, depth: int, source: Source | None
    ) -> dict[str, Json]:
        properties = flat.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = (
            [key for key in flat.get("required", ()) if isinstance(key, str)]
            if isinstance(flat.get("required"), list)
            else []
        )
        banned = _banned(flat.get("not"))
        most = flat.get("maxProperties", math.inf)
        least = flat.get("minProperties", 0)
        out: dict[str, Json] = {}
        known: set[str] = set()
        salt = rng.bits()
        needed = set(required)
        for key in properties:
            if key in banned:
                continue
            must = key in needed
            if not must:
                if len(out) + len(needed - out.keys()) >= most:
                    continue
                if run.sparse or depth >= _DEEP or (depth >= 2 and self.heights.endless(properties[key])):
                    continue
            try:
                given = MISSING if source is None else source(key, self._flat(properties[key]))
                if given is not MISSING:
                    known.add(key)
                    out[key] = given
                else:
                    out[key] = self.make(properties[key], Rng(digest(salt, key)), run, name=key, depth=depth + 1)
            except Unsatisfiable:
                if must:
                    raise
        for key in required:
            if key not in out:
                out[key] = self._property(key, self._other(flat, key), Rng(digest(salt, key)), run, depth, source)
        self._dependents(flat, out, salt, run, depth, source)
        self._more(flat, out, least, most, Rng(salt), run, name, depth)
        return agree(out, properties, frozenset(known))

    def _property(self, key: str, node: Json, rng: Rng, run: _Run, depth: int, source: Source | None) -> Json:
        if source is not None:
            value = source(key, self._flat(node))
            if value is not MISSING:
                return value
        return self.make(node, rng, run, name=key, depth=depth + 1)

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
        self,
        flat: dict[str, Any],
        out: dict[str, Json],
        salt: int,
        run: _Run,
        depth: int,
        source: Source | None,
    ) -> None:
        needs = flat.get("dependentRequired")
        for _ in range(8):
            missing = [
                key
                for trigger, keys in (needs.items() if isinstance(needs, dict) else ())
                if trigger in out
                for key in keys
                if key not in out
            ]
            if not missing:
                break
            for key in missing:
                node = flat.get("properties", {}).get(key, MISSING)
                out[key] = self._property(
                    key,
                    self._other(flat, key) if node is MISSING else node,
                    Rng(digest(salt, key)),
                    run,
                    depth,
                    source,
                )
        schemas = flat.get("dependentSchemas")
        for trigger, node in schemas.items() if isinstance(schemas, dict) else ():
            if trigger in out:
                extra = self._flat(node)
                for key in extra.get("required", ()):
                    if key not in out:
                        out[key] = self.make(
                            extra.get("properties", {}).get(key, True),
                            Rng(digest(salt, key)),
                            run,
                            name=key,
                            depth=depth + 1,
                        )

    def _more(
        self,
        flat: dict[str, Any],
        out: dict[str, Json],
        least: int,
        most: float,
        rng: Rng,
        run: _Run,
        name: str,
        depth: int,
    ) -> None:
        """Properties beyond the named ones: entries of a map, or what `minProperties` asks for."""
        patterns = flat.get("patternProperties")
        extra = flat.get("additionalProperties", flat.get("unevaluatedProperties", True))
        is_map = not flat.get("properties") and (
            (isinstance(extra, dict) and bool(extra)) or (isinstance(patterns, dict) and bool(patterns))
        )
        wanted = least
        if is_map and depth < _DEEP and not run.sparse:
            wanted = max(least, 1 + rng.below(3))
        tries = 0
        while len(out) < min(wanted, most) and tries < 40 + 2 * wanted:
            tries += 1
            try:
                if isinstance(patterns, dict) and patterns and (extra is False or rng.chance(0.7)):
                    pattern = rng.pick(sorted(patterns))
                    key, node = string_for(pattern, rng), patterns[pattern]
                elif extra is False:
                    break
                else:
                    names = flat.get("propertyNames")
                    named = self._both(_STRING, names) if names else None
                    key = (
                        self.values.slug(rng)
                        if named is None
                        else self.make(named, rng, run, name="key", depth=depth + 1)
                    )
                    node = extra
                if key not in out:
                    out[key] = self.make(node, rng, run, name=name or "value", depth=depth + 1)
            except (NoMatch, Unsatisfiable):
                if len(out) < least:
                    continue
                break
        if len(out) < least:
            raise Unsatisfiable(f"fewer than {least} properties are possible")

    def _array(self, flat: dict[str, Any], rng: Rng, run: _Run, name: str, depth: int) -> list[Json]:
        least = int(flat.get("minItems", 0))
        most = flat.get("maxItems", math.inf)
        prefix = flat.get("prefixItems") or []
        items = flat.get("items", True)
        if isinstance(items, list):
            prefix, items = items, flat.get("additionalItems", True)
        if least > 20_000:
            raise Unsatisfiable(f"an array of at least {least} items is too large")
        out: list[Json] = []
        unique = bool(flat.get("uniqueItems"))
        seen: set[str] = set()
        for node in prefix[: int(min(most, len(prefix)))]:
            out.append(self.make(node, rng, run, name=name, depth=depth + 1))
        if "contains" in flat:
            count = int(flat.get("minContains", 1))
            both = self._both(items, flat["contains"]) if items is not True else flat["contains"]
            for _ in range(min(count, 1000)):
                out.append(self.make(both, Rng(rng.bits()), run, name=name, depth=depth + 1))
        asked = run.length if depth == 1 else 0
        wanted = max(least, min(asked, int(min(most, 1000))))
        if not asked and items is not False and not (depth >= _DEEP or run.sparse):
            few = min(3 if depth < 3 else 1, most)
            wanted = max(least, min(1 + rng.below(3 if depth < 3 else 1), int(few)))
            if isinstance(items, dict) and self.heights.endless(items) and depth >= 3:
                wanted = least
        seen.update(repr(value) for value in out)
        tries = 0
        limit = 30 + 4 * wanted
        while len(out) < wanted and tries < limit:
            tries += 1
            try:
                value = self.make(items, Rng(rng.bits()), run, name=name, depth=depth + 1)
            except Unsatisfiable:
                if len(out) >= least:
                    break
                raise
            if unique and repr(value) in seen:
                continue
            seen.add(repr(value))
            out.append(value)
        if len(out) < least or len(out) > most:
            raise Unsatisfiable(f"no array of {least} to {most} items found for {name or 'the schema'}")
        return in_order(out, run.now) if run.series else out

    # bounds

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


def _is_type(value: Json, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list)
    return isinstance(value, dict)
