"""What a tool's answers look like, learned from examples: formats, templates, what stands beside structured content."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_world.core.types import Json
from mcp_world.spec.cassette import Call
from mcp_world.spec.formats import Format, find_json, format_of, parse_json, parse_python
from mcp_world.spec.infer import infer
from mcp_world.spec.template import Template, facts_of, learn

_ALIKE = 0.55
"""Texts that share this much of their words are one template."""


@dataclass(frozen=True)
class Style:
    """How a value is written as text.

    Args:
        format: `json` or `python`.
        indent: Spaces of JSON's indentation; None for one line.
        tight: Whether one line of JSON has no spaces after `,` and `:`.
        escaped: Whether JSON escapes what is not ASCII.
    """

    format: Format = "json"
    indent: int | None = 2
    tight: bool = False
    escaped: bool = False

    def write(self, value: Json) -> str:
        """The text of a value."""
        if self.format == "python":
            return repr(value)
        separators = (",", ":") if self.tight else None
        return json.dumps(value, indent=self.indent, ensure_ascii=self.escaped, separators=separators)


@dataclass
class Variant:
    """One kind of answer that a tool gives.

    Args:
        count: How many examples are of it.
        blocks: A template for each text block, None for a block that is repeated as it was.
        last: The latest example.
        arguments: The arguments of all examples.
        data: Values that the text was, or held, as JSON or Python's repr.
        style: How these were written.
        before: What stood before such a value in prose.
        after: What stood after it.
        structured: Scalar members of the structured content, by path, as templates of their text.
    """

    count: int
    blocks: list[Template | None]
    last: Call
    arguments: list[Mapping[str, Json]]
    data: list[Json] = field(default_factory=list)
    style: Style | None = None
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The text of the latest example."""
        return _text_of(self.last.result or {})

    def merge(self, other: Variant) -> None:
        """Take another example of the same kind in."""
        self.count += other.count
        self.blocks = [
            a.merge(b) if a is not None and b is not None else None
            for a, b in zip(self.blocks, other.blocks, strict=True)
        ]
        self.last = other.last
        self.arguments += other.arguments
        self.data += other.data
        self.style = other.style or self.style


@dataclass
class Shape:
    """What the answers of one tool look like.

    Args:
        tool: Its name.
        examples: How many there were.
        successes: Kinds of success, the most frequent first; contradictions are kept, with their frequency.
        failures: Kinds of error results, the same.
        beside: The path into the structured content whose text stands beside it (`()` for all of it), or None where
            the text is something else, or nothing was structured.
        style: How the text beside structured content is written; None where it is a plain string.
    """

    tool: str
    examples: int = 0
    successes: list[Variant] = field(default_factory=list)
    failures: list[Variant] = field(default_factory=list)
    beside: tuple[str, ...] | None = None
    style: Style | None = None

    @property
    def schema(self) -> dict[str, Json] | None:
        """The JSON Schema of what the answers hold as text, or None where they hold no data."""
        values = [value for variant in self.successes for value in variant.data]
        return infer(values) if values else None

    def format(self) -> str:
        """The commonest format of a success."""
        if not self.successes:
            return "none"
        variant = self.successes[0]
        if variant.style is not None:
            return "prose with json" if variant.before or variant.after else variant.style.format
        return format_of(variant.text)


def learn_shapes(calls: Iterable[Call]) -> dict[str, Shape]:
    """The shapes of all tools that were called, by tool.

    Args:
        calls: Recorded calls, in order.
    """
    shapes: dict[str, Shape] = {}
    done: Counter[str] = Counter()
    beside: dict[str, list[tuple[tuple[str, ...], Style | None] | None]] = {}
    for call in calls:
        if not call.tool or call.result is None:
            continue
        shape = shapes.setdefault(call.tool, Shape(call.tool))
        shape.examples += 1
        facts = facts_of(call.arguments, done[call.tool])
        variant = _variant(call, facts)
        _file(shape.failures if call.failed else shape.successes, variant)
        if not call.failed:
            done[call.tool] += 1
            if "structuredContent" in call.result:
                beside.setdefault(call.tool, []).append(_beside(call.result))
    for tool, found in beside.items():
        (commonest, _), *_ = Counter(found).most_common(1)
        if commonest is not None:
            shapes[tool].beside, shapes[tool].style = commonest
    for shape in shapes.values():
        shape.successes.sort(key=lambda variant: -variant.count)
        shape.failures.sort(key=lambda variant: -variant.count)
    return shapes


def voice_of(shapes: Iterable[Shape]) -> Style | None:
    """How a server writes data as text, by what most of its tools do; None where none does."""
    styles = Counter(v.style for s in shapes for v in s.successes for _ in range(v.count) if v.style is not None)
    return styles.most_common(1)[0][0] if styles else None


def _variant(call: Call, facts: Mapping[str, str]) -> Variant:
    result = call.result or {}
    blocks = [
        learn(str(block.get("text", "")), facts) if block.get("type") == "text" else None
        for block in result.get("content") or []
    ]
    variant = Variant(1, blocks, call, [call.arguments])
    text = _text_of(result)
    kind = format_of(text)
    if call.failed or not _only_text(result, text):
        return variant
    if kind in ("json", "python"):
        value = parse_json(text) if kind == "json" else parse_python(text.strip())
        variant.data, variant.style = [value], _style(text, value)
    elif kind == "prose with json":
        found = find_json(text)
        if found is not None:
            begin, end, value = found
            variant.data, variant.style = [value], _style(text[begin:end], value)
            variant.before, variant.after = text[:begin], text[end:]
    return variant


def _file(variants: list[Variant], new: Variant) -> None:
    """Put an example with those of its kind, or by itself."""
    for variant in variants:
        if len(variant.blocks) != len(new.blocks):
            continue
        if variant.style is not None or new.style is not None:
            if variant.style is not None and new.style is not None and variant.style.format == new.style.format:
                variant.merge(new)
                return
            continue
        pairs = zip(variant.blocks, new.blocks, strict=True)
        if all((a is None and b is None) or (a and b and a.likeness(b) >= _ALIKE) for a, b in pairs):
            variant.merge(new)
            return
    variants.append(new)


def _beside(result: Mapping[str, Json]) -> tuple[tuple[str, ...], Style | None] | None:
    """Which part of the structured content the text is, and how it is written."""
    text, structured = _text_of(result), result["structuredContent"]
    value = parse_json(text)
    value = parse_python(text.strip()) if value is None else value
    for path, part in _parts(structured, ()):
        if value is not None and part == value:
            return path, _style(text, value)
        if isinstance(part, str) and part == text:
            return path, None
    return None


def _parts(value: Json, path: tuple[str, ...]) -> Iterable[tuple[tuple[str, ...], Json]]:
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _parts(inner, (*path, key))


def _style(text: str, value: Json) -> Style | None:
    """The style that gives just this text, or the nearest."""
    styles: Sequence[Style] = [
        Style("json", 2),
        Style("json", None, True),
        Style("json", None),
        Style("json", 4),
        Style("json", 2, escaped=True),
        Style("json", None, True, True),
        Style("json", None, escaped=True),
        Style("json", 4, escaped=True),
        Style("python", None),
    ]
    body = text.strip()
    exact = next((style for style in styles if style.write(value) == body), None)
    if exact is not None:
        return exact
    return Style("json", 2 if "\n" in body else None) if parse_json(body) is not None else Style("python", None)


def _only_text(result: Mapping[str, Json], text: str) -> bool:
    """Whether the text is all there is: nothing structured beside it, or just the text in a wrapper."""
    structured = result.get("structuredContent")
    return structured is None or (isinstance(structured, dict) and list(structured.values()) == [text])


def _text_of(result: Mapping[str, Json]) -> str:
    blocks = result.get("content") or []
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")
