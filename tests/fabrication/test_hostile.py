"""Schemas that cannot be satisfied or mean harm: a clear error, in bounded time, with nothing fetched."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_world import Action, World, parse
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.schema import Schema, SchemaError
from tests.conftest import mcp_world, tool

NOW = datetime(2025, 5, 1, tzinfo=UTC)


def doubling(keyword: str) -> Any:
    """29 definitions of which each refers twice to the next."""
    defs: dict[str, Any] = {}
    for i in range(29):
        next_one = {"$ref": f"#/$defs/d{i + 1}"}
        defs[f"d{i}"] = (
            {"properties": {"a": next_one, "b": next_one}}
            if keyword == "properties"
            else {keyword: [next_one, next_one]}
        )
    return {"$ref": "#/$defs/d0", "$defs": {**defs, "d29": {"type": "string"}}}


def nested(depth: int) -> Any:
    schema: Any = {}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


HOSTILE: dict[str, tuple[Any, str]] = {
    "a required part that contains itself": (
        {
            "$ref": "#/$defs/n",
            "$defs": {"n": {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
        },
        "infinite",
    ),
    "a reference to itself": ({"$ref": "#"}, "circle"),
    "references in a circle": (
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        "circle",
    ),
    "doubling references": (doubling("properties"), "expand to more than"),
    "doubling branches": (doubling("anyOf"), "expand to more than"),
    "deep nesting": (nested(1000), "nested deeper"),
    "an enormous enum": ({"enum": list(range(200_000))}, "larger than"),
    "lengths that cross": ({"type": "string", "minLength": 5, "maxLength": 3}, "at least 5 and at most 3"),
    "bounds that cross": ({"type": "integer", "minimum": 5, "maximum": 3}, "no number lies between"),
    "two types at once": ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "no type fits"),
    "a property required and forbidden": (
        {"type": "object", "required": ["a"], "additionalProperties": False},
        "required and forbidden",
    ),
    "nothing": (False, "admits nothing"),
    "not anything": ({"not": {}}, "admits nothing"),
    "no multiple in reach": ({"type": "integer", "multipleOf": 7, "minimum": 8, "maximum": 13}, "no multiple"),
    "three different booleans": (
        {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "uniqueItems": True},
        "no array",
    ),
    "a string of a billion": ({"type": "string", "minLength": 10**9}, "too large"),
    "an array of a billion": ({"type": "array", "minItems": 10**9}, "too large"),
    "a schema elsewhere": ({"$ref": "http://127.0.0.1:9/schema.json"}, "nothing is fetched"),
    "a file of this machine": ({"$ref": "file:///etc/passwd"}, "nothing is fetched"),
    "no schema at all": ("string", "a schema is an object or a boolean"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_a_clear_error(name: str) -> None:
    schema, says = HOSTILE[name]
    with pytest.raises((SchemaError, Unsatisfiable), match=says):
        Fabricator(Schema(schema), Values()).root(1, now=NOW)


@pytest.mark.anyio
@pytest.mark.parametrize("name", [n for n in HOSTILE if isinstance(HOSTILE[n][0], dict)])
async def test_a_tool_with_a_hostile_output_schema_answers_with_an_error_and_the_others_work(name: str) -> None:
    output = {"type": "object", "properties": {"v": HOSTILE[name][0]}, "required": ["v"]}
    if "$defs" in HOSTILE[name][0]:
        output |= {"$defs": HOSTILE[name][0]["$defs"]}
    world = World(
        parse(
            {
                "tools": [
                    tool("bad", {}, output),
                    tool("get_motto", {}, {"type": "object", "properties": {"a": {"type": "string"}}}),
                ]
            },
            name="t",
        )
    )
    bad = await world.step(Action("bad"))
    assert bad.is_error and bad.structured is None
    assert not (await world.step(Action("get_motto"))).is_error


def test_check_and_serve_name_a_schema_that_cannot_be_satisfied(tmp_path: Any) -> None:
    path = tmp_path / "s.json"
    import json

    path.write_text(
        json.dumps(
            [
                tool(
                    "bad",
                    {},
                    {"type": "object", "properties": {"v": HOSTILE["bounds that cross"][0]}, "required": ["v"]},
                ),
                tool("good", {}),
            ]
        )
    )
    done = mcp_world("check", str(path))
    assert done.returncode == 1
    assert f"{path}#/0/outputSchema" in done.stderr and "no number lies between 5 and 3" in done.stderr
    assert "good" in done.stdout


@pytest.mark.anyio
@pytest.mark.parametrize("name", [n for n in HOSTILE if isinstance(HOSTILE[n][0], dict)])
async def test_a_tool_with_a_hostile_input_schema_does_not_sink_the_others(name: str) -> None:
    hostile = HOSTILE[name][0]
    bad = {
        "name": "update_bad",
        "inputSchema": {
            "type": "object",
            "properties": {"v": hostile},
            **({"$defs": hostile["$defs"]} if "$defs" in hostile else {}),
        },
    }
    world = World(parse({"tools": [bad, tool("get_motto", {})]}, name="t"))
    await world.step(Action("update_bad", {"v": {"n": 1}}))
    assert not (await world.step(Action("get_motto"))).is_error


PATHOLOGICAL = ["^(a+a+)+$", "^(a|a)*b$", "^([a-z]+)*\\d$", "(x+x+)+y"]


@pytest.mark.anyio
@pytest.mark.parametrize("pattern", PATHOLOGICAL)
async def test_a_pattern_that_backtracks_without_end_neither_hangs_nor_passes(pattern: str) -> None:
    world = World(parse({"tools": [tool("call_it", {"a": {"type": "string", "pattern": pattern}})]}, name="t"))
    observation = await world.step(Action("call_it", {"a": "a" * 5000 + "!"}))
    assert observation.is_error


@pytest.mark.anyio
async def test_arguments_nested_very_deep_do_not_break_the_world() -> None:
    deep: Any = []
    for _ in range(900):
        deep = [deep]
    world = World(parse({"tools": [tool("call_it", {"a": {}})]}, name="t"))
    await world.step(Action("call_it", {"a": deep}))
    assert not (await world.step(Action("call_it", {"a": 1}))).is_error
