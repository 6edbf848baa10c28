"""Function-calling JSON: the tools of OpenAI's and Anthropic's APIs."""

from __future__ import annotations

from typing import Any

from mcp_world.core.types import Json


def recognises(entries: list[Any]) -> bool:
    """Whether a list holds functions rather than MCP tools."""
    return any(_function(entry) is not None for entry in entries)


def to_tools(entries: list[Any]) -> list[Json]:
    """The same tools in MCP's layout; entries that are none stay as they are, to be named as problems.

    Layouts: OpenAI Chat Completions (`{"type": "function", "function": {name, description, parameters}}`), OpenAI
    Responses (`{"type": "function", name, description, parameters}`), the older `functions`, and Anthropic
    (`{name, description, input_schema}`).
    """
    return [_tool(entry) for entry in entries]


def _function(entry: Any) -> dict[str, Json] | None:
    if not isinstance(entry, dict) or "inputSchema" in entry:
        return None
    inner = entry.get("function")
    if isinstance(inner, dict):
        return inner
    if "input_schema" in entry or "parameters" in entry or entry.get("type") == "function":
        return entry
    return None


def _tool(entry: Any) -> Json:
    found = _function(entry)
    if found is None:
        return entry
    tool: dict[str, Json] = {"name": found.get("name")}
    if "description" in found:
        tool["description"] = found["description"]
    tool["inputSchema"] = found.get("input_schema") or found.get("parameters") or {"type": "object", "properties": {}}
    for key in ("output_schema", "outputSchema"):
        if isinstance(found.get(key), dict):
            tool["outputSchema"] = found[key]
    return tool
