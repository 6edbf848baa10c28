"""Arguments, checked as the impersonated server would, and refused in its SDK's words.

Wording as recorded from public servers: zod 4 (TypeScript SDK), jsonschema (Python SDK 1.x low-level server), pydantic 2
(Python SDK `FastMCP` and 2.x).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp_world.core.types import Json, Observation, RpcError
from mcp_world.spec.dialect import Dialect
from mcp_world.spec.model import Tool

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
_PYDANTIC_DOCS = "https://errors.pydantic.dev/2.14/v"
_ZOD_TYPES = {
    "integer": "number",
    "number": "number",
    "string": "string",
    "boolean": "boolean",
    "array": "array",
    "object": "object",
    "null": "null",
}
_PYDANTIC_TYPES = {"integer": ("int_type", "integer"), "number": ("float_type", "number"), "string": ("string_type", "string"),
                   "boolean": ("bool_type", "boolean"), "array": ("list_type", "list"), "object": ("dict_type", "dictionary"), "null": ("none_required", "None")}  # fmt: skip


def unknown_tool(name: str, dialect: Dialect) -> Observation:
    """A call of a tool that is not there: a tool error in TypeScript and Python 1.x, a JSON-RPC error in Python 2.x."""
    if dialect is Dialect.TYPESCRIPT:
        return Observation.failure(f"MCP error {INVALID_PARAMS}: Tool {name} not found")
    if dialect is Dialect.PYTHON_V1:
        return Observation.failure(f"Unknown tool: {name}")
    return Observation(error=RpcError(INVALID_PARAMS, f"Unknown tool: {name}"))


def as_task_only(tool: Tool) -> Observation | None:
    """The refusal of a tool that only runs as a task (MCP 2025-11-25, tasks, `execution.taskSupport`), in the SDK's words."""
    execution = tool.raw.get("execution")
    if not isinstance(execution, dict) or execution.get("taskSupport") != "required":
        return None
    return Observation.failure(
        f"MCP error {METHOD_NOT_FOUND}: Tool {tool.name} requires task augmentation (taskSupport: 'required')"
    )


def check(tool: Tool, arguments: Mapping[str, Json], dialect: Dialect) -> Observation | None:
    """The refusal of arguments that do not conform to the inputSchema, or None where they do."""
    schema = tool.input
    if schema is None or schema.is_valid(arguments):
        return None
    try:
        errors = schema.errors(arguments)
    except ValueError as error:
        return Observation.failure(f"Input validation error: {error}")
    if dialect is Dialect.PYTHON_V1:
        return Observation.failure(f"Input validation error: {_jsonschema_words(schema.checked, arguments, errors)}")
    if dialect is Dialect.PYTHON_V2:
        lines = [_pydantic_words(error, arguments) for error in errors]
        count = f"{len(lines)} validation error{'s' if len(lines) != 1 else ''}"
        return Observation.failure(
            f"Error executing tool {tool.name}: {count} for {tool.name}Arguments\n" + "\n".join(lines)
        )
    text = "\n".join(_zod_words(error, schema.checked) for error in errors)
    return Observation.failure(
        f"MCP error {INVALID_PARAMS}: Input validation error: Invalid arguments for tool {tool.name}: {text}"
    )


def _jsonschema_words(schema: Json, arguments: Mapping[str, Json], errors: list[Any]) -> str:
    """What the Python package `jsonschema` says of the first error; ours where it cannot follow the schema."""
    from jsonschema import Draft202012Validator  # slow to import, and wanted only to word a refusal

    first = errors[0]
    if first.kind.name == "required":
        return f"{first.kind.as_dict()['property']!r} is a required property"
    if (
        first.kind.name in ("type", "enum", "minimum", "maximum", "additionalProperties")
        and not first.instance_path[20:]
    ):
        narrow = _at(schema, list(first.schema_path)[:-1])
        if isinstance(narrow, dict):
            keyword = {
                first.kind.name: narrow.get(first.kind.name),
                "properties": narrow.get("properties", {}),
            }
            try:
                found = next(
                    iter(Draft202012Validator(keyword).iter_errors(_at(arguments, list(first.instance_path)))),
                    None,
                )
            except Exception:  # an untrusted schema may break it; the words are then ours
                found = None
            if found is not None and found.validator == first.kind.name:
                return str(found.message)
    return str(first.message)


def _at(value: Json, path: list[Any]) -> Json:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _received(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"


def _zod_path(path: list[Any]) -> str:
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else str(part)
    return f" at {out}" if out else ""


def _zod_words(error: Any, schema: Json) -> str:
    path = list(error.instance_path)
    kind = error.kind.name
    detail = error.kind.as_dict()
    value = error.instance
    where = _zod_path(path)
    if kind == "required":
        missing = detail["property"]
        node = _at(schema, [*list(error.schema_path)[:-1], "properties", missing])
        node = node if isinstance(node, dict) else {}
        if isinstance(node.get("enum"), list):
            return f"Invalid option: expected one of {'|'.join(json.dumps(o) for o in node['enum'])}{_zod_path([*path, missing])}"
        types = node.get("type")
        expected = next((t for t in types if t != "null"), "null") if isinstance(types, list) else types
        return f"Invalid input: expected {_ZOD_TYPES.get(str(expected), 'nonoptional')}, received undefined{_zod_path([*path, missing])}"
    if kind == "type":
        types = [t for t in detail["types"] if t != "null"] or ["null"]
        if types == ["integer"] and isinstance(value, float):
            return f"Invalid input: expected int, received number{where}"
        return f"Invalid input: expected {_ZOD_TYPES.get(types[0], types[0])}, received {_received(value)}{where}"
    if kind == "enum":
        return f"Invalid option: expected one of {'|'.join(json.dumps(o) for o in detail['options'])}{where}"
    if kind == "constant":
        return f"Invalid input: expected {json.dumps(detail['expected_value'])}{where}"
    if kind in ("maximum", "exclusiveMaximum"):
        return f"Too big: expected number to be {'<' if kind[0] == 'e' else '<='}{_number(detail['limit'])}{where}"
    if kind in ("minimum", "exclusiveMinimum"):
        return f"Too small: expected number to be {'>' if kind[0] == 'e' else '>='}{_number(detail['limit'])}{where}"
    for name, word, what in (("maxLength", "Too big", "string to have <={} characters"), ("minLength", "Too small", "string to have >={} characters"),
                             ("maxItems", "Too big", "array to have <={} items"), ("minItems", "Too small", "array to have >={} items")):  # fmt: skip
        if kind == name:
            return f"{word}: expected {what.format(detail['limit'])}{where}"
    if kind == "pattern":
        return f"Invalid string: must match pattern /{detail['pattern']}/{where}"
    if kind == "format":
        return f"Invalid {detail['format']}{where}"
    if kind == "additionalProperties":
        keys = detail["unexpected"]
        return f"Unrecognized key{'s' if len(keys) > 1 else ''}: {', '.join(json.dumps(k) for k in keys)}{where}"
    return f"Invalid input{where}"


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _pydantic_words(error: Any, arguments: Mapping[str, Json]) -> str:
    path = ".".join(str(part) for part in error.instance_path)
    kind = error.kind.name
    detail = error.kind.as_dict()
    value = error.instance
    code, message = "value_error", str(error.message)
    if kind == "required":
        path = f"{path}.{detail['property']}" if path else str(detail["property"])
        code, message = "missing", "Field required"
    elif kind == "type":
        wanted = next((t for t in detail["types"] if t != "null"), "null")
        code, noun = _PYDANTIC_TYPES.get(wanted, ("value_error", wanted))
        message = f"Input should be a valid {noun}"
        if isinstance(value, str) and wanted in ("integer", "number", "boolean"):
            code = {"integer": "int_parsing", "number": "float_parsing", "boolean": "bool_parsing"}[wanted]
            message += (
                ", unable to parse string as "
                + {"integer": "an integer", "number": "a number", "boolean": "a boolean"}[wanted]
            )
            message = message.replace(
                "boolean, unable to parse string as a boolean", "boolean, unable to interpret input"
            )
    elif kind in ("enum", "constant"):
        options = [repr(o) for o in detail.get("options", [detail.get("expected_value")])]
        code = "literal_error"
        message = "Input should be " + (
            ", ".join(options[:-1]) + " or " + options[-1] if len(options) > 1 else options[0]
        )
    elif kind in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        code, words = {"minimum": ("greater_than_equal", "greater than or equal to"), "maximum": ("less_than_equal", "less than or equal to"),
                       "exclusiveMinimum": ("greater_than", "greater than"), "exclusiveMaximum": ("less_than", "less than")}[kind]  # fmt: skip
        message = f"Input should be {words} {_number(detail['limit'])}"
    elif kind in ("minLength", "maxLength"):
        least = kind == "minLength"
        code = "string_too_short" if least else "string_too_long"
        message = f"String should have at {'least' if least else 'most'} {detail['limit']} character{'s' if detail['limit'] != 1 else ''}"
    elif kind == "pattern":
        code, message = "string_pattern_mismatch", f"String should match pattern '{detail['pattern']}'"
    elif kind == "additionalProperties":
        path = f"{path}.{detail['unexpected'][0]}" if path else str(detail["unexpected"][0])
        code, message, value = (
            "extra_forbidden",
            "Extra inputs are not permitted",
            value.get(detail["unexpected"][0]) if isinstance(value, dict) else value,
        )
    shown = repr(value)
    if len(shown) > 50:
        shown = f"{shown[:24]}...{shown[-23:]}"
    line = f"  {message} [type={code}, input_value={shown}, input_type={type(value).__name__}]"
    return f"{path}\n{line}\n    For further information visit {_PYDANTIC_DOCS}/{code}"
