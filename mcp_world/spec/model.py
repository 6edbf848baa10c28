"""A server spec: what is impersonated, exactly as it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from mcp_world.core.types import LATEST_HANDSHAKE, Json
from mcp_world.spec.cassette import Call
from mcp_world.spec.dialect import Dialect
from mcp_world.spec.schema import Schema, SchemaError
from mcp_world.spec.script import NOTHING, Script
from mcp_world.spec.shapes import Shape, learn_shapes


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with one part of a spec.

    Args:
        where: File and JSON pointer, `github.json#/tools/3/inputSchema`.
        reason: What is wrong, and what comes of it.
    """

    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool.

    Args:
        raw: The definition as read; it is served untouched.
        where: File and JSON pointer, for messages.
        group: The server it came from, where several are served as one.
        local: Its name in that server.
    """

    raw: dict[str, Json]
    where: str = ""
    group: str = ""
    local: str = ""
    problems: list[Problem] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name that agents call it by."""
        return str(self.raw["name"])

    @property
    def own_name(self) -> str:
        """The name in its own server, without a prefix."""
        return self.local or self.name

    @property
    def description(self) -> str:
        """The description, or an empty string."""
        text = self.raw.get("description")
        return text if isinstance(text, str) else ""

    @property
    def annotations(self) -> dict[str, Json]:
        """The annotations, or an empty dict."""
        found = self.raw.get("annotations")
        return found if isinstance(found, dict) else {}

    @cached_property
    def input(self) -> Schema | None:
        """The compiled inputSchema; None where it is unusable (see `problems`), and then arguments go unchecked."""
        return self._compile("inputSchema")

    @cached_property
    def output(self) -> Schema | None:
        """The compiled outputSchema; None where there is none or it is unusable."""
        return self._compile("outputSchema")

    def _compile(self, key: str) -> Schema | None:
        raw = self.raw.get(key)
        if raw is None:
            return None
        try:
            schema = Schema(raw)
        except SchemaError as error:
            self.problems.append(Problem(f"{self.where}/{key}{error.pointer}", error.reason))
            return None
        self.problems.extend(
            Problem(f"{self.where}/{key}{m.pointer}", f"{m.reason}; left unchecked") for m in schema.mended
        )
        return schema


@dataclass(frozen=True, eq=False)
class ServerSpec:
    """A server: identity, capabilities, tools, resources, prompts.

    Args:
        name: The short name that people call the spec by.
        info: `serverInfo` as read.
        tools: The usable tools, in order.
        listed: Every entry of the tools list that can be sent, as read, in order.
        dialect: How its SDK words errors.
        problems: What is wrong with entries that are not in `tools`.
        script: What is played as written rather than fabricated.
        examples: Recorded requests and their answers.
    """

    name: str
    info: dict[str, Json]
    tools: tuple[Tool, ...]
    listed: tuple[dict[str, Json], ...]
    dialect: Dialect
    protocol: str = LATEST_HANDSHAKE
    capabilities: dict[str, Json] = field(default_factory=lambda: {"tools": {}})
    instructions: str | None = None
    resources: tuple[dict[str, Json], ...] = ()
    templates: tuple[dict[str, Json], ...] = ()
    prompts: tuple[dict[str, Json], ...] = ()
    package: str = ""
    license: str = ""
    problems: tuple[Problem, ...] = ()
    script: Script = NOTHING
    examples: tuple[Call, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, Tool]:
        """Tools by name; of two with one name, the first."""
        return {tool.name: tool for tool in reversed(self.tools)}

    @cached_property
    def listed_before(self) -> tuple[dict[str, Json], ...]:
        """The tools list for versions before 2026-07-28: they refuse the whole list for an outputSchema whose root is no object."""
        return tuple(_without_array_output(entry) for entry in self.listed)

    @cached_property
    def recorded(self) -> dict[bytes, Call]:
        """Recorded requests other than tool calls, by what they ask; of several, the last."""
        return {call.key: call for call in self.examples if call.method != "tools/call"}

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """What the examples show of each tool's answers."""
        return learn_shapes(self.examples)

    def to_json(self) -> dict[str, Json]:
        """The spec in the layout that `capture` writes."""
        return {
            "server": self.name,
            "package": self.package,
            "license": self.license,
            "protocolVersion": self.protocol,
            "serverInfo": self.info,
            "capabilities": self.capabilities,
            "instructions": self.instructions,
            "tools": list(self.listed),
            "resources": list(self.resources),
            "resourceTemplates": list(self.templates),
            "prompts": list(self.prompts),
        }


def _without_array_output(entry: dict[str, Json]) -> dict[str, Json]:
    schema = entry.get("outputSchema")
    if isinstance(schema, dict) and schema.get("type", "object") != "object":
        return {k: v for k, v in entry.items() if k != "outputSchema"}
    return entry


def tools_of(
    entries: Iterable[Any], where: str
) -> tuple[tuple[Tool, ...], tuple[dict[str, Json], ...], tuple[Problem, ...]]:
    """The usable tools, the entries that can be served, and what is wrong with the rest.

    Args:
        entries: The list as read.
        where: File and JSON pointer of the list.
    """
    tools: list[Tool] = []
    listed: list[dict[str, Json]] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for index, entry in enumerate(entries):
        place = f"{where}/{index}"
        if not isinstance(entry, dict):
            problems.append(Problem(place, f"a tool is an object, not {type(entry).__name__}; left out"))
            continue
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            problems.append(Problem(f"{place}/name", "a tool needs a name; left out"))
            continue
        listed.append(entry)
        tool = Tool(entry, place)
        if name in names:
            problems.append(Problem(f"{place}/name", f"there is a tool {name!r} already; calls go to the first"))
            continue
        names.add(name)
        schema = entry.get("inputSchema")
        if not isinstance(schema, dict):
            problems.append(
                Problem(
                    f"{place}/inputSchema",
                    "a tool needs an inputSchema object; any arguments are taken",
                )
            )
        elif schema.get("type") != "object":
            problems.append(Problem(f"{place}/inputSchema/type", 'MCP asks for "object" here; served as read'))
        tools.append(tool)
    return tuple(tools), tuple(listed), tuple(problems)


def combine(specs: list[ServerSpec], name: str = "") -> ServerSpec:
    """Several servers as one, each tool's name prefixed with its server's.

    The identity and the dialect are the first server's; instructions are joined.
    """
    if len(specs) == 1:
        return specs[0]
    first = specs[0]
    tools: list[Tool] = []
    listed: list[dict[str, Json]] = []
    for spec in specs:
        for entry in spec.listed:
            listed.append({**entry, "name": f"{spec.name}_{entry['name']}"})
        for tool in spec.tools:
            tools.append(Tool({**tool.raw, "name": f"{spec.name}_{tool.name}"}, tool.where, spec.name, tool.name))
    notes = [f"{spec.name}: {spec.instructions}" for spec in specs if spec.instructions]
    capabilities: dict[str, Json] = {}
    for spec in specs:
        capabilities.update(spec.capabilities)
    return replace(
        first,
        name=name or "+".join(spec.name for spec in specs),
        tools=tuple(tools),
        listed=tuple(listed),
        capabilities=capabilities,
        instructions="\n\n".join(notes) or None,
        resources=tuple(r for spec in specs for r in spec.resources),
        templates=tuple(t for spec in specs for t in spec.templates),
        prompts=tuple(p for spec in specs for p in spec.prompts),
        problems=tuple(p for spec in specs for p in spec.problems),
        script=_combined(specs),
        examples=tuple(_renamed(spec, call) for spec in specs for call in spec.examples),
    )


def _renamed(spec: ServerSpec, call: Call) -> Call:
    """A recorded call, its tool prefixed as in the combined list."""
    if call.method != "tools/call":
        return call
    return replace(call, params={**call.params, "name": f"{spec.name}_{call.tool}"})


def _combined(specs: list[ServerSpec]) -> Script:
    """The scripts of several servers as one; page size and cache hints are the first server's."""
    return Script(
        tools={f"{spec.name}_{tool}": steps for spec in specs for tool, steps in spec.script.tools.items()},
        prompts={name: steps for spec in specs for name, steps in spec.script.prompts.items()},
        resources={uri: steps for spec in specs for uri, steps in spec.script.resources.items()},
        completions={name: values for spec in specs for name, values in spec.script.completions.items()},
        cache=specs[0].script.cache,
        greeting=[step for spec in specs for step in spec.script.greeting],
        page_size=specs[0].script.page_size,
    )
