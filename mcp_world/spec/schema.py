"""JSON Schemas of untrusted specs: bounded, compiled without network, checked in microseconds.

Drafts 2020-12, 2019-09, 7, 6 and 4; 2020-12 where `$schema` is absent (MCP 2025-11-25, tools). Formats are asserted.
Patterns are ECMA-262 and matched with a backtrack limit.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from mcp_world.core.types import Json, Violation

MAX_NODES = 100_000
MAX_DEPTH = 90
MAX_EXPANSION = 200_000
_BACKTRACKS = 100_000
_MAX_MENDS = 40

_BRANCHES = ("anyOf", "oneOf", "allOf", "prefixItems")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLES = (
    "items", "additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip


class SchemaError(Exception):
    """A schema that cannot be used.

    Args:
        reason: What is wrong with it.
        pointer: Where in the schema, as a JSON pointer.
    """

    def __init__(self, reason: str, pointer: str = "") -> None:
        self.reason = " ".join(reason.split())
        self.pointer = pointer
        super().__init__(f"{pointer or '/'}: {self.reason}")


@dataclass(frozen=True, slots=True)
class Mended:
    """A keyword that is not valid JSON Schema and was left out of the check."""

    pointer: str
    reason: str


def pointer_of(path: list[Any] | tuple[Any, ...]) -> str:
    """A path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def resolve(root: Json, ref: str) -> Json:
    """What a local reference points to; other documents are refused.

    Raises:
        SchemaError: The reference leaves the document or points to nothing.
    """
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return _anchor(root, ref)
    node = root
    for raw in ref[2:].split("/"):
        part = raw.replace("~1", "/").replace("~0", "~").replace("%24", "$").replace("%25", "%")
        if isinstance(node, dict) and part in node:
            node = node[part]
        elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
            node = node[int(part)]
        else:
            raise SchemaError(f"$ref {ref!r} points to nothing")
    return node


def _anchor(root: Json, ref: str) -> Json:
    wanted = ref.removeprefix("#")
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            if wanted in (node.get("$anchor"), node.get("$dynamicAnchor")) or ref in (
                node.get("$id"),
                node.get("id"),
            ):
                return node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    raise SchemaError(f"$ref {ref!r} leaves the document; nothing is fetched")


def subschemas(schema: Json) -> Iterator[Json]:
    """The direct subschemas of a schema, definitions left out."""
    if not isinstance(schema, dict):
        return
    for key in _BRANCHES:
        branches = schema.get(key)
        if isinstance(branches, list):
            yield from branches
    for key in _MAPS:
        if key in ("$defs", "definitions"):
            continue
        entries = schema.get(key)
        if isinstance(entries, dict):
            yield from entries.values()
    for key in _SINGLES:
        if key in schema:
            value = schema[key]
            if isinstance(value, list):
                yield from value
            else:
                yield value


def bound(schema: Json) -> None:
    """Refuse what would take unreasonable time or memory to compile.

    Raises:
        SchemaError: More than 100 000 nodes, deeper than 90, or references that expand to more than 200 000 schemas.
    """
    count = 0
    stack: list[tuple[Json, int]] = [(schema, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > MAX_NODES:
            raise SchemaError(f"larger than {MAX_NODES} nodes")
        if depth > MAX_DEPTH * 2:
            raise SchemaError(f"nested deeper than {MAX_DEPTH} schemas")
        if isinstance(node, dict):
            stack.extend((value, depth + 1) for value in node.values())
        elif isinstance(node, list):
            stack.extend((value, depth + 1) for value in node)
    _expansion(schema)


def _expansion(root: Json) -> None:
    """Count how many schemas the references unfold to, each cycle walked once."""
    sizes: dict[int, int] = {}
    active: set[int] = set()

    def size(node: Json, depth: int) -> int:
        if not isinstance(node, dict) or id(node) in active:
            return 1
        known = sizes.get(id(node))
        if known is not None:
            return known
        if depth > MAX_DEPTH * 3:
            raise SchemaError(f"nested deeper than {MAX_DEPTH} schemas")
        active.add(id(node))
        total = 1 + sum(size(child, depth + 1) for child in subschemas(node))
        ref = node.get("$ref")
        if isinstance(ref, str):
            total += size(resolve(root, ref), depth + 1)
        active.discard(id(node))
        sizes[id(node)] = total
        if total > MAX_EXPANSION:
            raise SchemaError(f"its references expand to more than {MAX_EXPANSION} schemas")
        return total

    size(root, 0)


def _build(schema: Json) -> Any:
    return jsonschema_rs.validator_for(
        schema,
        offline=True,
        validate_formats=True,
        ignore_unknown_formats=True,
        pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
    )


def _drop(schema: Json, path: list[Any]) -> Json | None:
    """A copy of the schema without the keyword at `path`, or None where there is no such keyword."""
    out = copy.deepcopy(schema)
    node = out
    for part in path[:-1]:
        try:
            node = node[part]
        except (KeyError, IndexError, TypeError):
            return None
    if isinstance(node, dict) and path[-1] in node:
        del node[path[-1]]
        return out
    if isinstance(node, list) and isinstance(path[-1], int) and path[-1] < len(node):
        node[path[-1]] = True
        return out
    return None


class Schema:
    """A compiled schema.

    Args:
        raw: The schema as the spec has it: an object or a boolean.

    Attributes:
        checked: The schema that is really checked: `raw` without the keywords in `mended`.
        mended: Keywords that are no valid JSON Schema (`required: true` in a property, a pattern that is no regular
            expression, an unknown `$schema`) and had to be left out.

    Raises:
        SchemaError: It is no schema at all, refers outside itself, or is too large to check in bounded time.
    """

    __slots__ = ("_validator", "checked", "mended", "raw")

    def __init__(self, raw: Json) -> None:
        if not isinstance(raw, dict | bool):
            raise SchemaError(f"a schema is an object or a boolean, not {type(raw).__name__}")
        bound(raw)
        self.raw = raw
        self.mended: list[Mended] = []
        self.checked, self._validator = self._compile(raw)

    def _compile(self, raw: Json) -> tuple[Json, Any]:
        schema = raw
        for _ in range(_MAX_MENDS):
            try:
                return schema, _build(schema)
            except jsonschema_rs.ValidationError as error:
                path = list(error.instance_path)
                message = str(error.message)
                if not path and "meta-schema" in message:
                    path = ["$schema"]
                smaller = _drop(schema, path) if path else None
                if smaller is None:
                    raise SchemaError(message, pointer_of(path)) from None
                self.mended.append(Mended(pointer_of(path), message))
                schema = smaller
            except (ValueError, jsonschema_rs.ReferencingError) as error:
                raise SchemaError(str(error)) from None
        raise SchemaError(f"more than {_MAX_MENDS} keywords are not valid JSON Schema")

    def is_valid(self, value: Json) -> bool:
        """Whether a value conforms."""
        try:
            return bool(self._validator.is_valid(value))
        except ValueError:  # numbers or nesting that the validator cannot hold
            return False

    def errors(self, value: Json, limit: int = 20) -> list[Any]:
        """At most `limit` findings of `jsonschema_rs`, in the order of the schema."""
        out = []
        for error in self._validator.iter_errors(value):
            out.append(error)
            if len(out) == limit:
                break
        return out

    def violations(self, value: Json) -> list[Violation]:
        """At most 20 violations of the rule `schema`."""
        try:
            return [Violation("schema", pointer_of(error.instance_path), error.message) for error in self.errors(value)]
        except ValueError as error:
            return [Violation("schema", "", str(error))]
