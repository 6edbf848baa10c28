"""The oddities of 96 public servers (../shared/real/README.md), each kind of them one test: served untouched, checked, answered."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_world import Action, World, parse
from tests.conftest import tool

ODD: dict[str, tuple[Any, Any, Any]] = {
    # name: (schema of one argument, a value that is right, a value that is wrong)
    "a default that breaks its own schema": ({"type": "string", "default": None}, "x", 1),
    "anyOf with null": ({"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}, None, 1),
    "oneOf": ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 3, []),
    "allOf": ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "ab", "a"),
    "a list of types": ({"type": ["string", "number"]}, 1.5, True),
    "a large enum": ({"type": "string", "enum": [f"v{i}" for i in range(126)]}, "v125", "v126"),
    "const": ({"const": "only"}, "only", "other"),
    "propertyNames": (
        {"type": "object", "propertyNames": {"type": "string", "pattern": "^[a-z]+$"}},
        {"abc": 1},
        {"ABC": 1},
    ),
    "a look-ahead": ({"type": "string", "pattern": "^(?=.*\\d)[a-z\\d]+$"}, "a1", "aa"),
    "a back-reference": ({"type": "string", "pattern": "^(['\"]).*\\1$"}, "'a'", "'a\""),
    "bounds at the safe integers": (
        {"type": "integer", "minimum": -9007199254740991, "maximum": 9007199254740991},
        9007199254740991,
        9007199254740992,
    ),
    "required true inside a property": ({"type": "string", "required": True}, "x", 1),
    "the discriminator of OpenAPI": (
        {"type": "object", "discriminator": {"propertyName": "kind"}, "properties": {"kind": {"type": "string"}}},
        {"kind": "a"},
        "a",
    ),
    "a format nobody knows": ({"type": "string", "format": "cidrv4"}, "10.0.0.0/8", 1),
    "int32 as format": ({"type": "integer", "format": "int32"}, 5, "5"),
    "uuid": ({"type": "string", "format": "uuid"}, "b0c31bac-d8f7-4be8-a379-665312853065", "b0c3"),
    "ipv4": ({"type": "string", "format": "ipv4"}, "10.0.0.1", "10.0.0.256"),
    "a number of items": ({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2}, ["a"], []),
    "a schema for further properties": (
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"a": 1},
        {"a": "x"},
    ),
    "no further properties": (
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"a": 1},
        {"b": 1},
    ),
    "date-time": ({"type": "string", "format": "date-time"}, "2025-01-01T00:00:00Z", "yesterday"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", ODD)
async def test_an_odd_argument_is_served_untouched_and_checked(name: str) -> None:
    schema, right, wrong = ODD[name]
    spec = parse({"tools": [tool("call_it", {"a": schema})]}, name="t")
    assert spec.listed[0]["inputSchema"]["properties"]["a"] is schema
    world = World(spec)
    assert not (await world.step(Action("call_it", {"a": right}))).is_error
    assert (await world.step(Action("call_it", {"a": wrong}))).is_error


REFERENCES: dict[str, Any] = {
    "into a branch of a property": {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]},
            "b": {"$ref": "#/properties/a/anyOf/0"},
        },
    },
    "through a property named $and": {
        "type": "object",
        "properties": {
            "b": {"$ref": "#/properties/filter/properties/$and"},
            "filter": {"type": "object", "properties": {"$and": {"type": "string", "minLength": 2}}},
        },
    },
    "with siblings under draft 7": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"b": {"$ref": "#/definitions/s", "minLength": 99}},
        "definitions": {"s": {"type": "string", "minLength": 2}},
    },
    "to a definition that comes back": {
        "type": "object",
        "properties": {"b": {"type": "string", "minLength": 2}, "tree": {"$ref": "#/$defs/t"}},
        "$defs": {
            "t": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/t"}}}}
        },
    },
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", REFERENCES)
async def test_an_odd_reference_is_followed(name: str) -> None:
    world = World(parse({"tools": [{"name": "call_it", "inputSchema": REFERENCES[name]}]}, name="t"))
    assert not (await world.step(Action("call_it", {"b": "xy"}))).is_error
    assert (await world.step(Action("call_it", {"b": "x"}))).is_error


@pytest.mark.anyio
async def test_properties_nested_without_properties_constrain_nothing() -> None:
    schema = {"type": "object", "properties": {"outer": {"inner": {"type": "string"}}}}
    world = World(parse({"tools": [{"name": "call_it", "inputSchema": schema}]}, name="t"))
    assert not (await world.step(Action("call_it", {"outer": {"inner": 5}}))).is_error


@pytest.mark.anyio
async def test_an_input_schema_without_a_type_is_served_as_read_and_named() -> None:
    schema = {"properties": {"a": {"type": "string"}}}
    spec = parse({"tools": [{"name": "call_it", "inputSchema": schema}]}, name="t")
    assert spec.listed[0]["inputSchema"] == schema
    assert "MCP asks for" in spec.problems[0].reason
    assert not (await World(spec).step(Action("call_it", {"a": "x"}))).is_error


@pytest.mark.anyio
async def test_a_wrapped_result_is_filled() -> None:
    wrapped = {
        "type": "object",
        "properties": {"result": {"type": "string"}},
        "required": ["result"],
        "x-fastmcp-wrap-result": True,
    }
    spec = parse({"tools": [tool("get_motto", {}, wrapped)]}, name="t")
    observation = await World(spec).step(Action("get_motto"))
    assert isinstance(observation.structured["result"], str)
    assert spec.dialect.value == "python-v2"


def test_unknown_keys_on_a_tool_are_kept() -> None:
    entry = {**tool("a", {}), "id": "t-1", "x-vendor": {"deep": [1, None]}}
    assert parse({"tools": [entry]}, name="t").listed[0] == entry


@pytest.mark.anyio
async def test_an_unknown_dialect_of_schemas_is_named_and_the_rest_is_checked() -> None:
    schema = {"$schema": "http://example.org/my-schema", "type": "object", "properties": {"a": {"type": "string"}}}
    spec = parse({"tools": [{"name": "call_it", "inputSchema": schema}]}, name="t")
    assert (await World(spec).step(Action("call_it", {"a": 1}))).is_error
    assert spec.tools[0].problems[0].where == "t#/tools/0/inputSchema/$schema"
