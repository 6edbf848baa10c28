"""The control API described: an OpenAPI 3.1 document, and a page that a person can read."""

from __future__ import annotations

from html import escape
from typing import Any

_WORLD = {"$ref": "#/components/schemas/World"}
_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "string"},
    "description": "The world's name.",
}


def _json(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _body(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"content": {"application/json": {"schema": schema}}}


_SEED = {"type": "integer", "description": "Same seed, spec, facts and calls: the same answers."}
_ERRORS = {
    "400": _json({"$ref": "#/components/schemas/Error"}, "The input cannot be used."),
    "401": _json({"$ref": "#/components/schemas/Error"}, "No token."),
}
_GONE = {**_ERRORS, "404": _json({"$ref": "#/components/schemas/Error"}, "There is no such world.")}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "mcp-world control", "version": "1"},
    "security": [{"token": []}],
    "paths": {
        "/worlds": {
            "get": {"operationId": "listWorlds", "summary": "List the worlds.",
                    "responses": {"200": _json({"type": "object", "properties": {"worlds": {"type": "array", "items": _WORLD}}}, "The worlds."), **_ERRORS}},
            "post": {"operationId": "createWorld", "summary": "Make a world. Agents reach it at its own URL.",
                     "requestBody": _body({
                         "id": {"type": "string", "description": "Its name; one is given where it is absent."},
                         "spec": {"type": "string", "description": "One of the specs that are served; the first where it is absent."},
                         "seed": _SEED,
                         "facts": {"type": "object", "description": "Records by kind that the world starts with.",
                                   "additionalProperties": {"type": "array", "items": {"type": "object"}}},
                         "start": {"type": "string", "format": "date-time", "description": "The world's time at the start."}}),
                     "responses": {"201": _json(_WORLD, "The new world."), "409": _json({"$ref": "#/components/schemas/Error"}, "The name is taken."), **_ERRORS}},
        },
        "/worlds/{id}": {
            "parameters": [_ID],
            "get": {"operationId": "getWorld", "summary": "Get one world.", "responses": {"200": _json(_WORLD, "The world."), **_GONE}},
            "delete": {"operationId": "closeWorld", "summary": "Close a world and end its sessions.", "responses": {"204": {"description": "Closed."}, **_GONE}},
        },
        "/worlds/{id}/reset": {
            "parameters": [_ID],
            "post": {"operationId": "resetWorld", "summary": "Go back to the start, with another seed if one is given.",
                     "requestBody": _body({"seed": _SEED}), "responses": {"200": _json(_WORLD, "The world."), **_GONE}},
        },
        "/worlds/{id}/steps": {
            "parameters": [_ID, {"name": "after", "in": "query", "schema": {"type": "integer", "minimum": 0, "default": 0}, "description": "Only later steps."}],
            "get": {"operationId": "listSteps", "summary": "Read the steps: actions, observations committed and sent, timings.",
                    "responses": {"200": _json({"type": "object", "properties": {"steps": {"type": "array", "items": {"type": "object"}}}}, "The steps."), **_GONE}},
        },
        "/worlds/{id}/ledger": {
            "parameters": [_ID],
            "get": {"operationId": "readLedger", "summary": "Read the entities that the world has shown, made, changed or deleted.",
                    "responses": {"200": _json({"type": "object", "properties": {"entities": {"type": "array", "items": {"type": "object"}}}}, "The entities."), **_GONE}},
        },
    },
    "components": {
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "World": {"type": "object", "properties": {
                "id": {"type": "string"}, "spec": {"type": "string"}, "engine": {"type": "string"}, "seed": {"type": "integer"},
                "steps": {"type": "integer", "description": "How many were taken."}, "time": {"type": "string", "format": "date-time"},
                "mcp": {"type": "string", "description": "Path for streamable HTTP, on the agents' port."},
                "sse": {"type": "string", "description": "Path for the legacy transport, on the agents' port."}},
                "required": ["id", "spec", "engine", "seed", "steps", "time", "mcp", "sse"]},
            "Error": {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]},
        },
    },
}  # fmt: skip


def page() -> str:
    """The document as one HTML page, with nothing fetched from elsewhere."""
    rows = []
    for path, item in DOCUMENT["paths"].items():
        for method in ("get", "post", "delete"):
            operation = item.get(method)
            if operation is None:
                continue
            fields = (
                operation.get("requestBody", {})
                .get("content", {})
                .get("application/json", {})
                .get("schema", {})
                .get("properties", {})
            )
            listed = "".join(
                f"<li><code>{escape(name)}</code> {escape(f.get('description', ''))}</li>" for name, f in fields.items()
            )
            answers = ", ".join(f"{code} {escape(r['description'])}" for code, r in operation["responses"].items())
            rows.append(
                f"<section><h2><b>{method.upper()}</b> <code>{escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
                f"{f'<ul>{listed}</ul>' if listed else ''}<p class=a>{answers}</p></section>"
            )
    style = (
        "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222}h1{font-size:1.5rem}"
        "h2{font-size:1.05rem;margin:0}section{border-top:1px solid #ddd;padding:.8rem 0}b{display:inline-block;min-width:4.5rem;color:#06c}"
        "p{margin:.3rem 0}.a{color:#666;font-size:.9rem}ul{margin:.2rem 0}"
    )
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Control API</title><style>{style}</style><h1>Control API</h1>"
        "<p>Every call needs <code>Authorization: Bearer TOKEN</code>. The document itself: <a href=/openapi.json>/openapi.json</a>.</p>"
        f"{''.join(rows)}</html>"
    )
