"""What a server is about: its kinds of things, their fields, and a plan for each tool. Shared by all worlds of one spec."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from mcp_world.core.types import Json
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.flatten import types_of
from mcp_world.spec.layout import Layout, layout_of
from mcp_world.spec.model import ServerSpec, Tool
from mcp_world.spec.names import kind_of, plural, words
from mcp_world.spec.reading import ABBREVIATIONS, Reading, is_natural, role_name
from mcp_world.spec.schema import Schema, SchemaError
from mcp_world.spec.server_reading import parent_of, read_together

_FOLDERS = frozenset(
    {"folder", "directory", "dir", "path", "parent", "prefix", "root", "folder_path", "directory_path"}
)
_SPEAKING = (("at",), ("date",), ("name",), ("email",), ("content",))
_TRIAL = datetime(2025, 1, 6, tzinfo=UTC)
_NAMES = ("name", "slug", "path", "key", "id", "title")
_ID_FIELDS = (
    "id", "number", "key", "uuid", "uid", "path", "sha", "ts", "iid", "name", "slug", "login", "email", "url",
    "guid", "code", "title",
)  # fmt: skip


@dataclass(slots=True)
class Field:
    """One field of a kind, with the schema that says most about it."""

    node: Any
    fabricator: Fabricator
    stated: bool
    """Whether a result has it; else it is known from arguments alone."""


@dataclass(slots=True)
class Kind:
    """A kind of thing.

    Args:
        name: In the singular, prefixed with its server's name where several are served as one.
        id_field: The field that identifies it.
        natural: Whether its ids are names that people make up.
        fields: Its fields by name.
        scope: Argument names that say what it belongs to.
        listed: Whether any tool lists or searches it.
    """

    name: str
    id_field: str = "id"
    id_node: Any = None
    natural: bool = False
    whole: bool = False
    fields: dict[str, Field] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    listed: bool = False
    folder: str = ""
    """The argument that says in which folder to look, for things that are named by path."""
    parents: dict[str, str] = field(default_factory=dict)
    """Kinds that its scope arguments name."""
    agreeing: tuple[str, ...] = ()
    """Fields that speak of each other."""
    children: dict[str, str] = field(default_factory=dict)
    """Fields that count things of another kind."""

    @property
    def noun(self) -> str:
        """The kind without a server's prefix."""
        return self.name.rsplit(".", 1)[-1]

    def spelling(self, name: str) -> str | None:
        """The field that an argument of this name sets."""
        if name in self.fields:
            return name
        wanted = words(name)
        noun = words(self.noun)
        for candidate in self.fields:
            have = words(candidate)
            if have == wanted or have == (*noun, *wanted) or (*noun, *have) == wanted or (*noun[-1:], *have) == wanted:
                return candidate
        for synonym in _SYNONYMS.get(role_name(name), ()):
            if synonym in self.fields:
                return synonym
        return None


_SYNONYMS = {
    "body": ("text", "content", "description", "message"), "text": ("body", "content", "message"), "content": ("body", "text"),
    "message": ("text", "body", "content"), "summary": ("title", "name", "subject"), "title": ("name", "summary", "subject"),
    "name": ("title", "summary", "display_name", "full_name"), "description": ("body", "summary", "desc"), "subject": ("title",),
    "status": ("state",), "state": ("status",), "due_date": ("due", "due_at", "due_on"), "start": ("start_time", "starts_at"),
    "end": ("end_time", "ends_at"), "to": ("recipients",), "timestamp": ("ts",), "thread_id": ("thread_ts",),
}  # fmt: skip


@dataclass(slots=True)
class Plan:
    """How one tool is answered."""

    tool: Tool
    reading: Reading
    kind: Kind
    parents: dict[str, str]
    """Kinds that scope arguments name."""
    output: Fabricator | None
    layout: Layout
    problem: str = ""
    """Why no valid result can be made, or empty."""
    marks: dict[str, dict[str, Any]] | None = None
    """Properties of a thing's result that speak of the call (`deleted: true`); found at the first one."""
    lists: dict[str, Kind] = field(default_factory=dict)
    """Properties of a composite result that list things of another kind."""


class Model:
    """The reading of a whole server.

    Args:
        spec: The server.
        values: Makers of plain values, in the world's locale.
    """

    def __init__(self, spec: ServerSpec, values: Values) -> None:
        self.spec = spec
        self.values = values
        self.kinds: dict[str, Kind] = {}
        self.plans: dict[str, Plan] = {}
        for tool, reading in read_together(spec.tools):
            self._plan(tool, reading, tool.group)
        self.made = frozenset(plan.kind.name for plan in self.plans.values() if plan.reading.verb == "create")
        for plan in self.plans.values():
            plan.lists = self._lists(plan)
        for kind in self.kinds.values():
            self._identify(kind)
            self._count(kind)
            kind.agreeing = _agreeing(kind)
            if words(kind.id_field)[-1:] == ("path",):
                kind.folder = next((arg for arg in kind.scope if role_name(arg) in _FOLDERS), "")

    def kind(self, name: str) -> Kind:
        """The kind of this name; one that no tool speaks of has an `id` and nothing else."""
        known = self.kinds.get(name)
        if known is None:
            known = self.kinds[name] = Kind(name)
            self._identify(known)
        return known

    def kind_named(self, text: str) -> Kind | None:
        """The kind that a person means by `text`, singular or plural, or None."""
        wanted = kind_of(text)
        for kind in self.kinds.values():
            if wanted in (kind.noun, kind.name):
                return kind
        return None

    def _plan(self, tool: Tool, reading: Reading, group: str) -> None:
        name = f"{group}.{reading.kind}" if group else reading.kind
        kind = self.kinds.setdefault(name, Kind(name))
        output, problem, layout = None, "", Layout("none")
        if tool.output is not None:
            try:
                output = Fabricator(tool.output, self.values)
                output.root(0, now=_TRIAL)  # what cannot be satisfied is known now, not at the first call
                layout = layout_of(output.flattener, tool.output.checked, reading)
                if reading.verb in ("list", "search") and layout.shape == "none":
                    reading.verb = "call"  # it answers with something else than a list of things
            except Unsatisfiable as error:
                problem = str(error)
        elif "outputSchema" not in tool.raw and tool.name in self.spec.shapes:
            output, layout = self._learned(tool, reading)
        elif "outputSchema" in tool.raw:
            problem = tool.problems[0].reason if tool.problems else "its outputSchema is unusable"
        if reading.verb in ("list", "search"):
            kind.listed = True
        if reading.verb in ("list", "search") and not kind.scope:
            kind.scope = reading.scope
        parents = {}
        for arg in reading.scope:
            parent = parent_of(arg)
            full = f"{group}.{parent}" if group else parent
            if parent and full != name:
                parents[arg] = full
        kind.parents.update(parents)
        self.plans[tool.name] = Plan(tool, reading, kind, parents, output, layout, problem)
        self._learn(kind, tool, reading, output, layout)

    def _learned(self, tool: Tool, reading: Reading) -> tuple[Fabricator | None, Layout]:
        """The fabricator and the layout of what a tool's examples hold as text, or none where they hold no data."""
        schema = self.spec.shapes[tool.name].schema
        if schema is None:
            return None, Layout("none")
        try:
            output = Fabricator(Schema(schema), self.values)
            output.root(0, now=_TRIAL)
        except (Unsatisfiable, SchemaError):
            return None, Layout("none")
        return output, layout_of(output.flattener, output.schema.checked, reading)

    def _lists(self, plan: Plan) -> dict[str, Kind]:
        """What a composite result lists: kinds that other tools make, where the tool's own is none of them."""
        if plan.output is None or plan.reading.writes or plan.kind.name in self.made or plan.reading.id_arg:
            return {}
        properties = plan.output.flattener.flat(plan.output.schema.checked).get("properties") or {}
        prefix = plan.kind.name.rsplit(".", 1)[0] + "." if "." in plan.kind.name else ""
        out: dict[str, Kind] = {}
        for name, node in properties.items():
            kind = self.kinds.get(prefix + kind_of(name))
            if "array" in types_of(plan.output.flattener.flat(node)) and kind is not None and kind.name in self.made:
                out[name] = kind
        return out

    def _learn(self, kind: Kind, tool: Tool, reading: Reading, output: Fabricator | None, layout: Layout) -> None:
        """Take the fields of a kind from a result, then from the arguments that carry them."""
        if reading.verb == "call":
            return
        if output is not None and layout.shape != "none":
            flat = output.flattener.flat(layout.node)
            if "properties" not in flat:
                solid = [b for b in output.flattener.branches(flat) if "properties" in b]
                flat = solid[0] if solid else flat
            for name, node in (flat.get("properties") or {}).items():
                known = kind.fields.get(name)
                if (
                    known is None
                    or not known.stated
                    or _says_more(output.flattener.flat(node), known.fabricator.flattener.flat(known.node))
                ):
                    kind.fields[name] = Field(node, output, stated=True)
        if reading.verb in ("create", "update", "upsert") and tool.input is not None:
            try:
                fabricator = Fabricator(tool.input, self.values)
            except Unsatisfiable:
                return
            for name in reading.content:
                if kind.spelling(name) is None:
                    kind.fields[name] = Field(reading.properties[name], fabricator, stated=False)

    def _identify(self, kind: Kind) -> None:
        """Which field identifies a kind: what its tools ask for, as its results spell it."""
        args = [p.reading.id_arg for p in self.plans.values() if p.kind is kind and p.reading.id_arg]
        noun = words(kind.noun)
        best = ""
        for arg in args:
            stem = words(arg)
            tail = next((f for f in kind.fields if words(f) == stem[-1:] and kind.fields[f].stated), None)
            whole = stem == noun or ABBREVIATIONS.get(arg, "") == kind.noun
            named = next((f for f in _NAMES if f in kind.fields), "") if whole else ""
            best = kind.spelling(arg) or tail or named
            if best:
                break
        if not best and args:
            best = words(args[0])[-1] if words(args[0])[-1] in _ID_FIELDS else args[0]
        if not best:
            best = next((f for f in _ID_FIELDS if f in kind.fields and (kind.fields[f].stated or f != "title")), "")
        if not best:
            best = next((f for f in kind.fields if words(f)[-1:] == ("id",) and words(f)[:-1] == noun), "")
        kind.id_field = best or "id"
        known = kind.fields.get(kind.id_field)
        flat = known.fabricator.flattener.flat(known.node) if known else {}
        if not flat and args:
            plan = next(p for p in self.plans.values() if p.kind is kind and p.reading.id_arg)
            flat = plan.reading.properties[plan.reading.id_arg]
        types = types_of(flat)
        kind.id_node = flat
        kind.whole = bool(types) and set(types) <= {"integer", "number", "null"}
        kind.natural = not kind.whole and flat.get("format") != "uuid" and is_natural(kind.id_field)

    def _count(self, kind: Kind) -> None:
        """Which fields count things of another kind that belong to this one."""
        for name, known in kind.fields.items():
            if "integer" not in types_of(known.fabricator.flattener.flat(known.node)):
                continue
            stem = [w for w in words(name) if w not in ("count", "num", "number", "total", "of")]
            if not stem or (len(stem) == len(words(name)) and plural(kind_of(stem[-1])) != stem[-1]):
                continue
            child = kind_of("_".join(stem))
            for other in self.kinds.values():
                if other is kind or (other.noun != child and words(other.noun)[-1:] != (child,)):
                    continue
                if any(
                    kind.name in p.parents.values()
                    for p in self.plans.values()
                    if p.kind is other and p.reading.verb == "list"
                ):
                    kind.children[name] = other.name


def _agreeing(kind: Kind) -> tuple[str, ...]:
    """The fields that `agree` may move: lists, numbers, times, names and addresses, where there are several."""
    out = []
    for name, known in kind.fields.items():
        types = set(types_of(known.fabricator.flattener.flat(known.node)))
        if types & {"array", "integer", "number"} or words(name)[-1:] in _SPEAKING:
            out.append(name)
    return tuple(out) if len(out) > 1 else ()


def _says_more(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether a schema is more definite: an enum, a format, a pattern where the other has none."""
    marks = ("enum", "format", "pattern", "const", "properties", "$ref")
    return sum(m in new for m in marks) > sum(m in old for m in marks)


def schema_for(kind: Kind) -> Schema:
    """The result shape inferred for a kind that no outputSchema speaks of: its id, its fields, its times."""
    properties: dict[str, Json] = {}
    if kind.id_field not in kind.fields:
        properties[kind.id_field] = kind.id_node or {"type": "string"}
    for name, known in kind.fields.items():
        flat = known.fabricator.flattener.flat(known.node)
        properties[name] = {k: v for k, v in flat.items() if k not in ("default", "description")}
    if not ({"name", "title", "text", "content", "body", "message", "subject", "summary"} & properties.keys()):
        properties["name"] = {"type": "string"}
    properties.setdefault("created_at", {"type": "string", "format": "date-time"})
    properties.setdefault("updated_at", {"type": "string", "format": "date-time"})
    root: dict[str, Json] = {"type": "object", "properties": properties, "required": list(properties)}
    for known in kind.fields.values():
        checked = known.fabricator.schema.checked
        if isinstance(checked, dict):
            for key in ("$defs", "definitions"):
                if key in checked:
                    root.setdefault(key, checked[key])
    return Schema(root)
