"""A JSON Schema from examples: types, optional keys, enums, formats, ranges."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_world.core.types import Json

_FORMATS = (
    ("date-time", re.compile(r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)$")),
    ("date", re.compile(r"^\d{4}-\d\d-\d\d$")),
    ("uuid", re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", re.I)),
    ("email", re.compile(r"^[^\s@]{1,64}@[^\s@]+\.[^\s@]+$")),
    ("uri", re.compile(r"^[a-z][a-z0-9+.-]*://\S+$", re.I)),
    ("ipv4", re.compile(r"^(\d{1,3}\.){3}\d{1,3}$")),
)
_MANY = 4
"""Samples that it takes to speak of an enum or a range."""
_FEW = 5


def infer(values: Sequence[Json]) -> dict[str, Json]:
    """The schema of some values; of none, the schema of everything.

    Args:
        values: Examples of one thing.
    """
    kinds: dict[str, list[Json]] = {}
    for value in values:
        kinds.setdefault(_type(value), []).append(value)
    if {"integer", "number"} <= kinds.keys():
        kinds["number"] += kinds.pop("integer")
    schemas = [_of_type(kind, found) for kind, found in sorted(kinds.items())]
    if not schemas:
        return {}
    solid = [schema for schema in schemas if schema != {"type": "null"}]
    if len(schemas) == 1:
        return schemas[0]
    if len(solid) == 1 and "enum" not in solid[0]:
        return {**solid[0], "type": [solid[0]["type"], "null"]}
    return {"anyOf": schemas}


def _type(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _of_type(kind: str, values: list[Json]) -> dict[str, Json]:
    if kind == "object":
        keys = list(dict.fromkeys(key for value in values for key in value))
        return {
            "type": "object",
            "properties": {key: infer([value[key] for value in values if key in value]) for key in keys},
            "required": [key for key in keys if all(key in value for value in values)],
        }
    if kind == "array":
        items = [item for value in values for item in value]
        return {"type": "array", "items": infer(items)} if items else {"type": "array"}
    if kind == "string":
        return {"type": "string", **_text(values)}
    if kind in ("integer", "number") and len(values) >= _MANY:
        return {"type": kind, "minimum": min(values), "maximum": max(values)}
    return {"type": kind}


def _text(values: list[str]) -> dict[str, Json]:
    for name, pattern in _FORMATS:
        if all(pattern.match(value) for value in values):
            return {"format": name}
    distinct = list(dict.fromkeys(values))
    short = all(len(value) <= 40 and "\n" not in value for value in distinct)
    if len(values) >= _MANY and len(distinct) <= _FEW and len(distinct) * 2 <= len(values) and short:
        return {"enum": distinct}
    return {}
