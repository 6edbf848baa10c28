"""Which SDK a server was written with, as far as its spec and its recorded errors tell: they word errors differently."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.cassette import Call


class Dialect(Enum):
    """How a server's SDK words argument errors and unknown tools (seen in 96 public servers).

    `typescript`: `MCP error -32602: Input validation error: …` as a tool error, zod's words.
    `python-v1`: `Input validation error: …` as a tool error, jsonschema's words.
    `python-v2`: `Error executing tool X: N validation errors for XArguments …` as a tool error, pydantic's words;
    an unknown tool is a JSON-RPC error.
    """

    TYPESCRIPT = "typescript"
    PYTHON_V1 = "python-v1"
    PYTHON_V2 = "python-v2"


def guess(spec: dict[str, Json], tools: list[Any]) -> Dialect:
    """The dialect that a spec's own words suggest: its `dialect`, its package, the marks that SDKs leave in schemas."""
    stated = spec.get("dialect")
    for dialect in Dialect:
        if stated == dialect.value:
            return dialect
    package = spec.get("package")
    if isinstance(package, str) and package.startswith("@"):
        return Dialect.TYPESCRIPT
    capabilities = spec.get("capabilities")
    if isinstance(capabilities, dict) and "experimental" in capabilities:
        return Dialect.PYTHON_V1
    if any(_pydantic_made(tool) for tool in tools if isinstance(tool, dict)):
        return Dialect.PYTHON_V2
    return Dialect.TYPESCRIPT


def _pydantic_made(tool: dict[str, Json]) -> bool:
    """Whether a tool's schemas bear pydantic's marks: titles on every property, or FastMCP's wrapped result."""
    schema = tool.get("inputSchema")
    output = tool.get("outputSchema")
    if isinstance(output, dict) and "x-fastmcp-wrap-result" in output:
        return True
    if not isinstance(schema, dict) or "$schema" in schema:
        return False
    title = schema.get("title")
    if isinstance(title, str) and title.endswith(("Arguments", "_args")):
        return True
    properties = schema.get("properties")
    return (
        isinstance(properties, dict)
        and bool(properties)
        and all(isinstance(p, dict) and "title" in p for p in properties.values())
    )


def learned(calls: Iterable[Call]) -> Dialect | None:
    """The dialect of recorded answers, or None where they show none."""
    for call in calls:
        result = call.result
        if result is None or not result.get("isError"):
            continue
        for block in result.get("content", ()):
            text = block.get("text", "") if isinstance(block, dict) else ""
            if text.startswith("MCP error -32602:"):
                return Dialect.TYPESCRIPT
            if text.startswith("Input validation error:"):
                return Dialect.PYTHON_V1
            if text.startswith("Error executing tool ") and "validation error" in text:
                return Dialect.PYTHON_V2
    return None
