"""Is an observation what the tool promised? Checked after every prediction, whatever engine made it."""

from __future__ import annotations

from mcp_world.core.types import Observation, Violation
from mcp_world.spec.model import Tool


def conforms(tool: Tool, observation: Observation) -> list[Violation]:
    """What is wrong with an observation; an empty list for nothing.

    Rules (MCP 2025-06-18, tools): with an outputSchema a success has `structuredContent` that conforms; an error has
    none, since clients check it even then; `content` is a list of blocks.
    """
    result = observation.result
    if result is None:
        return []
    content = result.get("content")
    if not isinstance(content, list) or not all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in content
    ):
        return [Violation("content", "/content", "content is a list of blocks with a type")]
    if result.get("isError"):
        if "structuredContent" in result:
            return [Violation("error-structured", "/structuredContent", "an error result has no structuredContent")]
        return []
    if tool.output is None:
        return []
    if "structuredContent" not in result:
        return [
            Violation(
                "structured",
                "/structuredContent",
                "a tool with an outputSchema answers with structuredContent",
            )
        ]
    value = result["structuredContent"]
    return [] if tool.output.is_valid(value) else tool.output.violations(value)
