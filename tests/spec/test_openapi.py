"""OpenAPI and Swagger: an operation becomes a tool, its 2xx response the outputSchema, and a cycle stays a cycle."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from mcp_world import BadInput, World, parse
from mcp_world.core.types import Action
from tests.conftest import case

PET = {
    "type": "object",
    "required": ["id", "name"],
    "properties": {"id": {"type": "integer"}, "name": {"type": "string", "nullable": True}},
}


def document(version: str, schemas: dict[str, Any], body: Any, answer: Any) -> dict[str, Any]:
    """One operation with a body and an answer, in any version."""
    if version == "2.0":
        operation = {
            "operationId": "op",
            "parameters": [{"in": "body", "name": "body", "required": True, "schema": body}],
            "responses": {"200": {"description": "ok", "schema": answer}},
        }
        return {
            "swagger": "2.0",
            "info": {"title": "T", "version": "1"},
            "paths": {"/x": {"post": operation}},
            "definitions": schemas,
        }
    operation = {
        "operationId": "op",
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": answer}}}},
    }
    return {
        "openapi": version,
        "info": {"title": "T", "version": "1"},
        "paths": {"/x": {"post": operation}},
        "components": {"schemas": schemas},
    }


def ref(version: str, name: str) -> dict[str, str]:
    return {"$ref": f"#/definitions/{name}" if version == "2.0" else f"#/components/schemas/{name}"}


VERSIONS = ["2.0", "3.0.3", "3.1.0"]
CYCLES = ["field", "list", "allOf", "oneOf", "map", "two"]


def cyclic(version: str, cycle: str) -> dict[str, Any]:
    """Definitions that come back to themselves."""
    me = ref(version, "Node")
    inner: dict[str, Any] = {
        "field": {"next": me},
        "list": {"all": {"type": "array", "items": me}},
        "allOf": {"up": {"allOf": [me, {"type": "object", "properties": {"extra": {"type": "string"}}}]}},
        "oneOf": {"either": {"oneOf": [me, {"type": "string"}]}},
        "map": {"by_name": {"type": "object", "additionalProperties": me}},
        "two": {"other": ref(version, "Other")},
    }[cycle]
    return {
        "Node": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, **inner}},
        "Other": {"type": "object", "properties": {"back": me}},
    }


@pytest.mark.anyio
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("cycle", CYCLES)
async def test_a_model_that_refers_to_itself_stays_a_reference_and_can_be_answered(version: str, cycle: str) -> None:
    given = document(version, cyclic(version, cycle), ref(version, "Node"), ref(version, "Node"))
    before = copy.deepcopy(given)
    spec = parse(given, name="t")
    assert given == before
    (only,) = spec.tools
    assert "#/$defs/Node" in repr(only.raw["outputSchema"])
    assert only.output is not None
    observation = await World(spec, seed=1).step(Action("op", {"id": 3}))
    assert not observation.is_error, observation.text
    assert only.output.is_valid(observation.structured)


def test_the_reported_swagger_body_makes_its_tool() -> None:
    (only,) = parse(case("circular_openapi")["openapi"], name="t").tools
    assert only.name == "searchThreads"
    assert only.raw["inputSchema"]["properties"]["all"]["items"] == {"$ref": "#/$defs/Filter"}
    assert only.raw["outputSchema"]["properties"]["result"]["items"] == {"$ref": "#/$defs/Comment"}
    assert only.input is not None and only.input.is_valid({"field": "a", "all": [{"field": "b"}]})


def test_parameters_of_path_query_and_header_become_arguments() -> None:
    item = {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
        "get": {
            "operationId": "getPet",
            "summary": "Get a pet.",
            "parameters": [
                {"name": "verbose", "in": "query", "schema": {"type": "boolean"}, "description": "More."},
                {"$ref": "#/components/parameters/Trace"},
            ],
            "responses": {"404": {"description": "no"}, "200": {"$ref": "#/components/responses/Pet"}},
        },
        "delete": {"responses": {"204": {"description": "gone"}}},
    }
    spec = parse(
        {
            "openapi": "3.0.0",
            "info": {"title": "Pet Shop", "version": "2"},
            "paths": {"/pets/{id}": item},
            "components": {
                "schemas": {"Pet": PET},
                "parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}},
                "responses": {
                    "Pet": {
                        "description": "ok",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                    }
                },
            },
        },
        name="t",
    )
    get, delete = spec.tools
    assert (spec.name, spec.info["name"]) == ("pet-shop", "Pet Shop")
    assert list(get.raw["inputSchema"]["properties"]) == ["id", "verbose", "X-Trace"]
    assert get.raw["inputSchema"]["required"] == ["id"]
    assert get.raw["inputSchema"]["properties"]["verbose"]["description"] == "More."
    assert get.annotations == {"readOnlyHint": True}
    assert get.output is not None and get.output.is_valid({"id": 1, "name": None})
    assert delete.name == "delete_pets_id"
    assert delete.annotations == {"destructiveHint": True}
    assert "outputSchema" not in delete.raw


def test_bounds_and_nulls_of_older_versions_are_those_of_2020_12() -> None:
    old = {"type": "number", "minimum": 1, "exclusiveMinimum": True, "nullable": True}
    spec = parse(
        document(
            "3.0.0", {}, {"type": "object", "properties": {"n": old}}, {"type": "object", "properties": {"n": old}}
        ),
        name="t",
    )
    assert spec.tools[0].raw["outputSchema"]["properties"]["n"] == {"type": ["number", "null"], "exclusiveMinimum": 1}


def test_an_answer_that_is_a_list_is_wrapped_in_result() -> None:
    spec = parse(document("3.1.0", {"Pet": PET}, PET, {"type": "array", "items": ref("3.1.0", "Pet")}), name="t")
    out = spec.tools[0].raw["outputSchema"]
    assert (out["type"], out["required"], out["properties"]["result"]["type"]) == ("object", ["result"], "array")


@pytest.mark.parametrize("target", ["http://elsewhere/x.json#/Pet", "#/components/schemas/None", "other.yaml#/Pet"])
def test_a_reference_that_leaves_the_document_is_refused_by_place(target: str) -> None:
    with pytest.raises(BadInput, match=r"t#/paths/~1x/post"):
        parse(document("3.0.0", {}, {"$ref": target}, PET), name="t")
