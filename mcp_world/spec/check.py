"""What a spec holds, tool by tool: what is wrong, what its result shape is, and where that was learned."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_world.spec.flatten import Flattener, types_of
from mcp_world.spec.model import Problem, ServerSpec, Tool


@dataclass(frozen=True)
class Report:
    """One tool's findings.

    Args:
        tool: Its name.
        shape: Its result shape in a few words.
        source: Where the shape comes from.
        problems: What is wrong.
    """

    tool: str
    shape: str
    source: str
    problems: tuple[Problem, ...]


def check(spec: ServerSpec) -> list[Report]:
    """The findings of every usable tool, in order; findings about other entries are in `spec.problems`."""
    return [_report(tool, spec) for tool in spec.tools]


def _report(tool: Tool, spec: ServerSpec) -> Report:
    _ = tool.input
    output = tool.output
    learned = spec.shapes.get(tool.name)
    if tool.name in spec.script.tools:
        shape, source = "as written", "script"
    elif learned is not None and output is None:
        schema = learned.schema
        shape = learned.format() if schema is None else f"{learned.format()} {shape_of(schema)}"
        source = f"{learned.examples} example{'s' if learned.examples != 1 else ''}"
    elif output is not None:
        shape, source = shape_of(output.checked), "outputSchema"
    elif "outputSchema" in tool.raw:
        shape, source = "none", "unusable outputSchema"
    else:
        shape, source = "text", "inferred"
    return Report(tool.name, shape, source, tuple(tool.problems))


def shape_of(schema: object) -> str:
    """A schema in a few words."""
    flattener = Flattener(schema)
    flat = flattener.flat(schema)
    properties = flat.get("properties")
    if isinstance(properties, dict) and properties:
        names = list(properties)
        return "{" + ", ".join(names[:5]) + (", …" if len(names) > 5 else "") + "}"
    branches = flattener.branches(flat)
    if branches:
        return f"one of {len(branches)} forms"
    return " or ".join(types_of(flat)) or "anything"
