"""Hypothesis strategies that draw JSON Schemas which some value satisfies, often and oddly."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Schema = Any

_NAMES = st.sampled_from(
    [
        "id",
        "name",
        "email",
        "created_at",
        "updated_at",
        "total",
        "items",
        "price",
        "status",
        "Größe",
        "a b",
        "$ref_like",
        "x/y",
    ]
)
_PATTERNS = st.sampled_from(
    [
        "^[A-Z]{2,5}-[0-9]+$", "^\\d{4}-\\d{2}$", "[a-f0-9]{8}", "^(?:[a-f0-9]{2}:)*[a-f0-9]{2}$", "^(foo|ba[rz])+$", "^\\w+@\\w+\\.\\w{2,}$",

        "^[^\\s/]+$", "^v?\\d+(\\.\\d+){0,2}$", "^(?!admin)[a-z]+$", "\\p{Lu}\\p{Ll}+", "^[\\u0041-\\u005a]$", "^(a|b)\\1$", "^.{3,7}$", "^$", "x",
        "^[\\w.-]{1,20}$", "^(?=.*\\d)[a-z\\d]{4,8}$",
    ]
)  # fmt: skip
_FORMATS = st.sampled_from(
    [
        "date-time",
        "date",
        "time",
        "email",
        "uri",
        "uuid",
        "ipv4",
        "ipv6",
        "hostname",
        "duration",
        "json-pointer",
        "regex",
        "unknown-format",
    ]
)


@st.composite
def strings(draw: st.DrawFn) -> Schema:
    schema: Schema = {"type": "string"}
    kind = draw(st.sampled_from(["plain", "length", "pattern", "format", "both"]))
    if kind == "length":
        low = draw(st.integers(0, 30))
        schema |= {"minLength": low, "maxLength": low + draw(st.integers(0, 30))}
    if kind in ("pattern", "both"):
        schema["pattern"] = draw(_PATTERNS)
    if kind == "format":
        schema["format"] = draw(_FORMATS)
    if kind == "both":
        schema["maxLength"] = 40
    return schema


@st.composite
def numbers(draw: st.DrawFn) -> Schema:
    schema: Schema = {"type": draw(st.sampled_from(["integer", "number"]))}
    low = draw(st.integers(-1000, 1000))
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        schema[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = low + draw(st.integers(3, 500))
    if draw(st.integers(0, 3)) == 0:
        schema["multipleOf"] = draw(st.sampled_from([1, 2, 0.5, 0.25] if schema["type"] == "number" else [1, 2]))
    return schema


def _leaves() -> st.SearchStrategy[Schema]:
    values = st.one_of(st.integers(-5, 5), st.text(max_size=5), st.booleans(), st.none())
    return st.one_of(
        strings(),
        numbers(),
        st.just({"type": "boolean"}),
        st.just({"type": "null"}),
        st.just({}),
        st.just(True),
        values.map(lambda v: {"const": v}),
        st.lists(values, min_size=1, max_size=4, unique_by=repr).map(lambda v: {"enum": v}),
        st.sampled_from([{"type": ["string", "null"]}, {"type": ["integer", "boolean"]}]),
    )


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    names = draw(st.lists(_NAMES, max_size=5, unique=True))
    schema: Schema = {"type": "object", "properties": {name: draw(inner) for name in names}}
    schema["required"] = [name for name in names if draw(st.booleans())]
    extra = draw(st.sampled_from(["open", "closed", "typed", "patterned", "counted", "named"]))
    if extra == "closed":
        schema["additionalProperties"] = False
    elif extra == "typed":
        schema["additionalProperties"] = draw(inner)
    elif extra == "patterned":
        schema |= {"patternProperties": {"^x_[a-z]+$": draw(inner)}, "additionalProperties": False}
    elif extra == "counted":
        schema |= {"minProperties": len(names) + 1, "maxProperties": len(names) + 3}
    elif extra == "named":
        schema = {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]{3,8}$"},
            "minProperties": 1,
            "additionalProperties": draw(inner),
        }
    if len(names) >= 2 and draw(st.booleans()) and extra != "named":
        schema["dependentRequired"] = {names[0]: [names[1]]}
    return schema


@st.composite
def _arrays(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    schema: Schema = {"type": "array", "items": draw(inner)}
    if draw(st.booleans()):
        schema["minItems"] = draw(st.integers(0, 2))
    if draw(st.booleans()):
        schema["maxItems"] = schema.get("minItems", 0) + draw(st.integers(0, 3))
    if draw(st.integers(0, 4)) == 0:
        schema = {
            "type": "array",
            "prefixItems": [draw(inner), draw(inner)],
            "items": draw(st.sampled_from([False, True])),
            "minItems": 2,
        }
    if draw(st.integers(0, 4)) == 0:
        schema = {"type": "array", "contains": {"const": draw(st.integers(0, 3))}, "items": {"type": "integer"}}
    return schema


@st.composite
def _combined(draw: st.DrawFn, inner: st.SearchStrategy[Schema]) -> Schema:
    kind = draw(st.sampled_from(["anyOf", "oneOf", "allOf", "not", "if", "ref"]))
    if kind in ("anyOf", "oneOf"):
        return {kind: [draw(inner), {"type": "object", "properties": {"tag": {"const": "other"}}, "required": ["tag"]}]}
    if kind == "allOf":
        return {
            "allOf": [
                {"type": "object", "properties": {"a": draw(inner)}, "required": ["a"]},
                {"type": "object", "properties": {"b": draw(inner)}, "required": ["b"]},
            ]
        }
    if kind == "not":
        return {"type": "integer", "not": {"enum": [1, 2, 3]}, "minimum": 0, "maximum": 20}
    if kind == "if":
        return {
            "type": "object",
            "properties": {"kind": {"enum": ["card", "cash"]}, "last4": {"type": "string", "pattern": "^[0-9]{4}$"}},
            "required": ["kind"],
            "if": {"properties": {"kind": {"const": "card"}}},
            "then": {"required": ["last4"]},
            "else": {"not": {"required": ["last4"]}},
        }
    return {"$ref": "#/$defs/tree"}


_TREE = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
    },
    "required": ["id", "children"],
}


def nodes() -> st.SearchStrategy[Schema]:
    """A schema of any kind."""
    return st.recursive(
        _leaves(), lambda inner: st.one_of(_objects(inner), _arrays(inner), _combined(inner)), max_leaves=8
    )


@st.composite
def documents(draw: st.DrawFn) -> Schema:
    """A whole document in draft 2020-12, with a recursive definition that some parts refer to."""
    return {"type": "object", "properties": {"value": draw(nodes())}, "required": ["value"], "$defs": {"tree": _TREE}}


@st.composite
def old_documents(draw: st.DrawFn) -> Schema:
    """A document in draft 7 or draft 4, with what those spell in their own way."""
    four = draw(st.booleans())
    number: Schema = {"type": "number", "minimum": 1, "maximum": 9}
    number |= {"exclusiveMinimum": True} if four else {"exclusiveMaximum": 9}
    return {
        "$schema": "http://json-schema.org/draft-04/schema#" if four else "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "pair": {"type": "array", "items": [draw(strings()), number], "additionalItems": False, "minItems": 2},
            "card": {"type": "string"},
            "owner": {"$ref": "#/definitions/person"},
            "n": number,
        },
        "required": ["pair", "owner", "n"],
        "dependencies": {"card": ["owner"], "n": {"required": ["pair"]}},
        "definitions": {
            "person": {
                "type": "object",
                "properties": {"name": draw(strings()), "boss": {"$ref": "#/definitions/person"}},
                "required": ["name"],
            }
        },
    }
