"""OpenAPI 3.0, 3.1 and Swagger 2.0: an operation becomes a tool, its 2xx response the outputSchema."""

from __future__ import annotations

import re
from typing import Any

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.schema import SchemaError, resolve

_METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
_SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "dependentSchemas")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMA_SINGLES = (
    "items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else",
    "unevaluatedProperties",
)  # fmt: skip
_SWAGGER_PARAMETER = ("type", "format", "items", "default", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
                      "minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "multipleOf")  # fmt: skip


def to_spec(document: dict[str, Json], where: str) -> dict[str, Json]:
    """The document as a recorded server's spec. The document is not changed, and nothing is fetched.

    Schemas keep their references, moved to `$defs`, so that a cycle stays a cycle.

    Raises:
        BadInput: The version is not known, there is no operation, or a reference leaves the document.
    """
    version = str(document.get("openapi") or document.get("swagger"))
    if not re.match(r"^(2\.0|3\.[012])", version):
        raise BadInput(f"OpenAPI {version} is not known", where=where, do="Use 2.0, 3.0 or 3.1.")
    paths = document.get("paths")
    if not isinstance(paths, dict) or not paths:
        raise BadInput("it has no paths", where=f"{where}#/paths")
    tools: list[Json] = []
    taken: set[str] = set()
    for path, item in paths.items():
        if not isinstance(item, dict):
            raise BadInput("a path item is an object", where=f"{where}#/paths/{_escape(path)}")
        for method in _METHODS:
            operation = item.get(method)
            if isinstance(operation, dict):
                place = f"{where}#/paths/{_escape(path)}/{method}"
                try:
                    tool = _Operation(document, version).tool(path, method, item, operation)
                except SchemaError as error:
                    raise BadInput(error.reason, where=place) from None
                base, n = tool["name"], 2
                while tool["name"] in taken:
                    tool["name"], n = f"{base}_{n}", n + 1
                taken.add(tool["name"])
                tools.append(tool)
    if not tools:
        raise BadInput("it has no operation", where=f"{where}#/paths")
    stated = document.get("info")
    info: dict[str, Json] = stated if isinstance(stated, dict) else {}
    title = str(info.get("title") or "api")
    return {
        "server": re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "api",
        "serverInfo": {"name": title, "version": str(info.get("version") or "1.0.0")},
        "capabilities": {"tools": {}},
        "tools": tools,
    }


class _Operation:
    """Turns one operation into a tool, collecting the definitions that it uses."""

    def __init__(self, document: dict[str, Json], version: str) -> None:
        self.document = document
        self.old = not version.startswith("3.1") and not version.startswith("3.2")
        self.swagger = version.startswith("2")
        self.defs: dict[str, Json] = {}

    def tool(self, path: str, method: str, item: dict[str, Any], operation: dict[str, Any]) -> dict[str, Json]:
        properties: dict[str, Json] = {}
        required: list[str] = []
        body: Json = None
        body_required = False
        parameters = {}
        for raw in [*_list(item.get("parameters")), *_list(operation.get("parameters"))]:
            parameter = self.follow(raw)
            parameters[(parameter.get("in"), parameter.get("name"))] = parameter
        for (place, name), parameter in parameters.items():
            if not isinstance(name, str) or place in ("cookie",):
                continue
            if place == "body":
                body, body_required = parameter.get("schema", True), bool(parameter.get("required"))
                continue
            properties[name] = self.parameter(parameter)
            if parameter.get("required") or place == "path":
                required.append(name)
        request = self.follow(operation.get("requestBody") or {})
        schema = _media_schema(request.get("content"))
        if schema is not None:
            body, body_required = schema, bool(request.get("required"))
        if body is not None:
            self.add_body(body, body_required, properties, required)
        schema_in: dict[str, Json] = {"type": "object", "properties": properties}
        if required:
            schema_in["required"] = required
        tool: dict[str, Json] = {"name": _name(path, method, operation)}
        text = "\n\n".join(str(operation[k]).strip() for k in ("summary", "description") if operation.get(k))
        tool["description"] = text or f"{method.upper()} {path}"
        tool["inputSchema"] = self.with_defs(schema_in)
        self.defs = {}
        out = self.response(operation)
        if out is not None:
            tool["outputSchema"] = out
        hints = {"get": {"readOnlyHint": True}, "head": {"readOnlyHint": True}, "delete": {"destructiveHint": True},
                 "put": {"idempotentHint": True}}.get(method)  # fmt: skip
        if hints:
            tool["annotations"] = hints
        return tool

    def follow(self, node: Any) -> dict[str, Any]:
        """A parameter, response or body behind its references."""
        for _ in range(20):
            if not isinstance(node, dict):
                return {}
            ref = node.get("$ref")
            if not isinstance(ref, str):
                return node
            node = resolve(self.document, ref)
        raise SchemaError("its references go round in a circle")

    def parameter(self, parameter: dict[str, Any]) -> Json:
        if self.swagger:
            schema: Json = {key: parameter[key] for key in _SWAGGER_PARAMETER if key in parameter}
        else:
            schema = parameter.get("schema") or _media_schema(parameter.get("content")) or {}
        schema = self.convert(schema)
        if parameter.get("description") and isinstance(schema, dict):
            schema = {**schema, "description": parameter["description"]}
        return schema

    def add_body(self, body: Json, needed: bool, properties: dict[str, Json], required: list[str]) -> None:
        """The body's own properties become arguments where it is a plain object; else it is the argument `body`."""
        plain = self.follow(body) if isinstance(body, dict) else {}
        inner = plain.get("properties")
        if (
            isinstance(inner, dict)
            and inner
            and not (set(inner) & set(properties))
            and not (set(plain) & {"allOf", "anyOf", "oneOf", "additionalProperties", "patternProperties", "not"})
        ):
            for name, schema in inner.items():
                properties[name] = self.convert(schema)
            if needed or self.swagger:
                required.extend(name for name in _list(plain.get("required")) if name in inner)
            return
        properties["body"] = self.convert(body)
        if needed:
            required.append("body")

    def response(self, operation: dict[str, Any]) -> Json:
        responses = operation.get("responses")
        if not isinstance(responses, dict):
            return None
        for code in sorted(responses, key=str):
            if str(code).upper().startswith("2"):
                response = self.follow(responses[code])
                schema = response.get("schema") if self.swagger else _media_schema(response.get("content"))
                if schema is None:
                    continue
                out = self.convert(schema)
                if self.follow(schema).get("type") == "object" or "properties" in self.follow(schema):
                    if isinstance(out, dict) and "$ref" in out:
                        out = {"type": "object", **out}
                    return self.with_defs(out)
                wrapped = {"type": "object", "properties": {"result": out}, "required": ["result"]}
                return self.with_defs(wrapped)
        return None

    def with_defs(self, schema: dict[str, Json]) -> dict[str, Json]:
        return {**schema, "$defs": dict(self.defs)} if self.defs else schema

    def convert(self, node: Json) -> Json:
        """A schema of the document in 2020-12, its references pointing into `$defs`."""
        if not isinstance(node, dict):
            return node
        if isinstance(node.get("$ref"), str):
            ref = {"$ref": self.definition(node["$ref"])}
            return (
                {
                    **ref,
                    **{k: self.convert(v) if k in _SCHEMA_SINGLES else v for k, v in node.items() if k != "$ref"},
                }
                if not self.old
                else ref
            )
        out: dict[str, Json] = {}
        for key, value in node.items():
            if key in _SCHEMA_MAPS and isinstance(value, dict):
                out[key] = {name: self.convert(sub) for name, sub in value.items()}
            elif key in _SCHEMA_LISTS and isinstance(value, list):
                out[key] = [self.convert(sub) for sub in value]
            elif key in _SCHEMA_SINGLES:
                out[key] = [self.convert(sub) for sub in value] if isinstance(value, list) else self.convert(value)
            else:
                out[key] = value
        return _from_old(out) if self.old else out

    def definition(self, ref: str) -> str:
        """Where a referenced schema stands among the tool's own definitions."""
        target = resolve(self.document, ref)
        name = re.sub(r"[^A-Za-z0-9._-]", "_", ref.rsplit("/", 1)[-1]) or "root"
        if not ref.startswith(("#/components/schemas/", "#/definitions/")):
            name = re.sub(r"[^A-Za-z0-9._-]+", "_", ref.removeprefix("#/")) or "root"
        if name not in self.defs:
            self.defs[name] = True  # the place is taken before it is filled, so that a cycle ends here
            self.defs[name] = self.convert(target)
        return f"#/$defs/{name}"


def _from_old(node: dict[str, Json]) -> dict[str, Json]:
    """The keywords of Swagger 2.0 and OpenAPI 3.0 that 2020-12 has in other words (OAS 3.1.0, appendix on 3.0 differences)."""
    out = dict(node)
    if out.get("type") == "file":
        out["type"] = "string"
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(out.get(exclusive), bool) and out.pop(exclusive) and bound in out:
            out[exclusive] = out.pop(bound)
    if "example" in out and "examples" not in out:
        out["examples"] = [out.pop("example")]
    if out.pop("nullable", False) is True or out.pop("x-nullable", False) is True:
        if isinstance(out.get("type"), str):
            out["type"] = [out["type"], "null"]
            if isinstance(out.get("enum"), list) and None not in out["enum"]:
                out["enum"] = [*out["enum"], None]
        elif out:
            out = {"anyOf": [out, {"type": "null"}]}
    return out


def _media_schema(content: Json) -> Json:
    if not isinstance(content, dict):
        return None
    ordered = sorted(content.items(), key=lambda item: 0 if "json" in item[0] else 1 if "form" in item[0] else 2)
    for _, media in ordered:
        if isinstance(media, dict) and "schema" in media:
            return media["schema"]
    return None


def _name(path: str, method: str, operation: dict[str, Any]) -> str:
    given = operation.get("operationId")
    raw = given if isinstance(given, str) and given else f"{method}_{path}"
    return re.sub(r"_{2,}", "_", re.sub(r"[^A-Za-z0-9_.-]+", "_", raw)).strip("_")[:128] or method


def _list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


def _escape(path: str) -> str:
    return path.replace("~", "~0").replace("/", "~1")
