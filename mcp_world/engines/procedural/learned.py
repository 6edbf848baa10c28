"""Answers in the real server's voice: the shapes that were learned from examples, filled for a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp_world.core.encoding import pretty
from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json, Observation
from mcp_world.engines.contract import Past, Request
from mcp_world.engines.procedural.fabricate import MISSING
from mcp_world.engines.procedural.model import Plan
from mcp_world.engines.procedural.sql import is_statement
from mcp_world.engines.procedural.voice import Refusal
from mcp_world.spec.formats import format_of
from mcp_world.spec.model import ServerSpec
from mcp_world.spec.shapes import Shape, Style, Variant, voice_of
from mcp_world.spec.template import Slot, Template, facts_of

_WORDING = {
    "missing": re.compile(
        r"(?i)no such|not[ _]found|does not exist|doesn't exist|unknown|ENOENT|no \w+ (?:with|named)"
    ),
    "exists": re.compile(r"(?i)already|exists|duplicate|unique constraint|EEXIST|conflict"),
}
_FAILURE = re.compile(r"(?i)[^\n]{0,60}(?:\berror\b|not found|fail|denied|invalid|not allowed)")


class Learned:
    """What a spec's examples teach.

    Args:
        spec: The server.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self.shapes: Mapping[str, Shape] = spec.shapes
        self.voice: Style = voice_of(self.shapes.values()) or Style()
        structured = [shape for shape in self.shapes.values() if shape.beside is not None]
        self._shows_parts = sum(bool(shape.beside) for shape in structured) * 2 > len(structured)
        texts = [shape.format() for shape in self.shapes.values() if shape.successes and shape.beside is None]
        self.speaks = texts.count("plain") * 2 > len(texts) > 0
        self.lead = _lead(self.shapes.values())
        self._database_says = _database_says(spec)
        self._failed = {call.key: call for call in spec.examples if call.tool and call.failed and call.result}
        for call in spec.examples:
            if call.tool and not call.failed:
                self._failed.pop(call.key, None)

    def __bool__(self) -> bool:
        """Whether there were any examples."""
        return bool(self.shapes)

    def again(self, request: Request, plans: Mapping[str, Plan]) -> Observation | None:
        """The answer to the same question a moment ago, with nothing done since; None where there is none."""
        for past in reversed(request.history):
            plan = plans.get(past.tool)
            if past.tool == request.tool.name and past.arguments == request.action.arguments:
                if past.committed.is_error or (plan is not None and _only_reads(plan)):
                    return past.committed
                return None
            if not past.committed.is_error and (plan is None or not _only_reads(plan)):
                return None
        return None

    def success(
        self, request: Request, value: Json, *, wrapped: str = "", data: bool = False, thing: Entity | None = None
    ) -> dict[str, Json] | None:
        """The result of a call that succeeds, or None where nothing was learned for it.

        Args:
            request: What is answered.
            value: The data of the answer, or MISSING where it is a text.
            wrapped: The one string member of the structured content, where that is all there is of it.
            data: Whether the answer is data for certain, so that a kind of answer that is none does not serve.
            thing: What is read, where one thing is; a text that is all its own is its content.
        """
        shape = self.shapes.get(request.tool.name)
        if shape is None:
            return None
        found = [variant for variant in shape.successes if variant.style is not None or not data]
        found = [variant for variant in found if not failed(variant.text)] or found
        variant = _nearest(found, request.action.arguments)
        if variant is None:
            return None
        facts = facts_of(request.action.arguments, _calls(request.history, request.tool.name))
        result: dict[str, Json] = {key: inner for key, inner in (variant.last.result or {}).items() if key != "_meta"}
        if value is not MISSING and not wrapped and "structuredContent" in result:
            return {**result, "content": _text_block(result, self._beside(shape, value)), "structuredContent": value}
        blocks = list(result.get("content") or [])
        if variant.style is not None and value is not MISSING:
            text: str | None = variant.before + variant.style.write(value) + variant.after
            blocks = _text_block(result, text or "")
        else:
            content = None if thing is None else content_of(thing)
            for index, template in enumerate(variant.blocks):
                if template is not None:
                    own = content is not None and len(variant.blocks) == 1 and not _slotted(template)
                    text = part_of(content or "", request.action.arguments) if own else template.fill(facts)
                    if text is not None:
                        blocks[index] = {**blocks[index], "text": text}
                else:
                    blocks[index] = _refilled(blocks[index], variant.last.arguments, request.action.arguments)
        result["content"] = blocks
        if wrapped:
            result["structuredContent"] = {wrapped: "\n".join(str(b.get("text", "")) for b in blocks)}
        return result

    def sentence(self, plan: Plan, arguments: Mapping[str, Json], past: str, noun: str) -> str:
        """What a tool says that did something, and that there are no examples of: as the others begin."""
        if not self.lead:
            return f"{noun[:1].upper()}{noun[1:]} {past} successfully"
        about = [arguments.get(name) for name in (plan.reading.id_arg, *plan.reading.content) if name]
        texts = [text for text in about if isinstance(text, str) and text and "\n" not in text and len(text) < 200]
        return f"{self.lead} {past} {' to '.join(texts[:2]) or noun}"

    def text(self, value: Json) -> str:
        """The text beside structured content of a tool that there are no examples of: what the others show of theirs."""
        if self._shows_parts and isinstance(value, dict):
            message = value.get("message")
            if isinstance(message, str):
                return message
            lists = [inner for inner in value.values() if isinstance(inner, list)]
            if len(lists) == 1:
                return pretty(lists[0])
        return pretty(value)

    def _beside(self, shape: Shape, value: Json) -> str:
        """The text beside structured content, as the server writes it."""
        part = value
        for key in shape.beside or ():
            part = part.get(key) if isinstance(part, dict) else None
        if shape.style is None:
            return part if isinstance(part, str) else pretty(value)
        return shape.style.write(part)

    def constants(self, tool: str, value: dict[str, Json], request: Request) -> dict[str, Json]:
        """Structured content with the scalar members that all examples had in common, or took from their calls."""
        shape = self.shapes.get(tool)
        if shape is None or not shape.successes:
            return value
        variant = _nearest(shape.successes, request.action.arguments)
        known = (variant.last.result or {}).get("structuredContent") if variant is not None else None
        if variant is None or not isinstance(known, dict):
            return value
        facts = facts_of(request.action.arguments, _calls(request.history, tool))
        before = facts_of(variant.last.arguments, 0)
        out = dict(value)
        for key, inner in known.items():
            if key not in out or isinstance(inner, dict | list):
                continue
            if isinstance(inner, bool) and key not in request.action.arguments:
                out[key] = inner
            elif isinstance(inner, str) and (shape.beside == (key,) or variant.count > 1):
                template = variant.blocks[0] if shape.beside == (key,) and variant.blocks else None
                filled = template.fill(facts) if template is not None else None
                out[key] = filled if filled is not None else out[key]
            elif isinstance(inner, int) and str(inner) == before.get("most") and "most" in facts:
                out[key] = int(float(facts["most"]))
            elif isinstance(inner, int) and not isinstance(inner, bool) and key not in request.action.arguments:
                done = _calls(request.history, tool)
                counted = [past.committed.structured for past in request.history if past.tool == tool]
                last = next((s.get(key) for s in reversed(counted) if isinstance(s, dict)), None)
                if last == done:
                    out[key] = done + 1
        return out

    def known_failure(self, request: Request) -> Observation | None:
        """The error that this very call gave when it was recorded."""
        from mcp_world.spec.cassette import Call

        asked = Call("tools/call", {"name": request.tool.name, "arguments": dict(request.action.arguments)})
        call = self._failed.get(asked.key)
        return None if call is None or call.result is None else Observation(call.result)

    def failure(self, request: Request, refusal: Refusal) -> Observation | None:
        """A refusal in the words of the server: this tool's, else another's; None where none fits."""
        if refusal.kind == "statement":
            return self._statement_failure(request, str(refusal))
        if refusal.kind == "sql":
            return self._sql_failure(request, str(refusal))
        wording = _WORDING.get(refusal.kind)
        if wording is None:
            return None
        own = self.shapes.get(request.tool.name)
        others = [shape for shape in self.shapes.values() if shape is not own]
        facts = facts_of(request.action.arguments, 0)
        for shape in [*([own] if own is not None else []), *others]:
            variants = [*shape.failures, *(v for v in shape.successes if _says(v, _FAILURE))]
            for variant in variants:
                if len(variant.blocks) != 1 or variant.blocks[0] is None or not _says(variant, wording):
                    continue
                text = _for(variant.blocks[0], facts, refusal.id)
                if text is not None:
                    result = variant.last.result or {}
                    kept = {key: inner for key, inner in result.items() if key != "structuredContent"}
                    return Observation({**kept, "content": _text_block(result, text)})
        return None

    def _statement_failure(self, request: Request, message: str) -> Observation:
        """A statement of the wrong kind, refused as before."""
        own = self.shapes.get(request.tool.name)
        for variant in (*own.failures, *own.successes) if own is not None else ():
            template = variant.blocks[0] if variant.blocks else None
            text = None if template is None else template.fill(facts_of(request.action.arguments, 0))
            if text is not None and failed(text) and re.search(r"(?i)allow|only", text):
                return Observation(
                    {**(variant.last.result or {}), "content": _text_block(variant.last.result or {}, text)}
                )
        result = self._database_says[1] if self._database_says is not None else {"isError": True}
        return Observation({**result, "content": _text_block(result, f"Error: {message}")})

    def _sql_failure(self, request: Request, message: str) -> Observation | None:
        """A database's message, led in as it was when other statements failed; None where none did."""
        if self._database_says is None:
            return None
        lead, result = self._database_says
        return Observation({**result, "content": _text_block(result, lead + message)})

    def changed(self, tool: str, rows: int) -> Json:
        """How a tool says that so many rows were changed: as it did before, with another number."""
        shape = self.shapes.get(tool)
        data = [value for variant in (shape.successes if shape else ()) for value in variant.data]
        return _with_number(data[-1], rows) if data else [{"affected_rows": rows}]


def _lead(shapes: Iterable[Shape]) -> str:
    """The word that the sentences of two tools or more begin with (`Successfully`), or an empty string."""
    first = [variant.text.split(" ")[0] for shape in shapes for variant in shape.successes[:1] if " " in variant.text]
    word = max(dict.fromkeys(first), key=first.count, default="")
    return word if first.count(word) >= 2 and re.fullmatch(r"[A-Z][a-z]+ly", word) else ""


def _database_says(spec: ServerSpec) -> tuple[str, dict[str, Json]] | None:
    """What leads a database's message in, and the rest of such a result; None where no statement failed."""
    for call in spec.examples:
        taken = any(isinstance(value, str) and is_statement(value) for value in call.arguments.values())
        text = "".join(str(block.get("text", "")) for block in (call.result or {}).get("content") or [])
        lead = re.match(r"[^:\n]{0,60}?[Ee]rror[^:\n]{0,20}: ", text)
        if taken and lead is not None and call.result is not None:
            return lead.group(), {k: v for k, v in call.result.items() if k != "structuredContent"}
    return None


def _with_number(value: Json, number: int) -> Json:
    """A value with its one number replaced."""
    if isinstance(value, dict):
        return {key: _with_number(inner, number) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_number(inner, number) for inner in value]
    return number if isinstance(value, int) and not isinstance(value, bool) else value


_CONTENT = ("content", "contents", "text", "body")


def content_of(thing: Entity) -> str | None:
    """The text that a thing is known to hold: a file's content; None where it is not known."""
    found = (
        thing.fields[name] for name in _CONTENT if name in thing.stated and isinstance(thing.fields.get(name), str)
    )
    return next(found, None)


def part_of(text: str, arguments: Mapping[str, Json]) -> str:
    """The lines of a text that a call asks for: the first with `head`, the last with `tail`."""
    head, tail = arguments.get("head"), arguments.get("tail")
    lines = text.splitlines(keepends=True)
    if isinstance(head, int) and head >= 0:
        return "".join(lines[:head]).removesuffix("\n")
    if isinstance(tail, int) and tail > 0:
        return "".join(lines[-tail:])
    return text


def _slotted(template: Template) -> bool:
    return any(isinstance(part, Slot) for part in template.parts)


def failed(text: str) -> bool:
    """Whether a short text says that something failed, as servers do that report failures as success."""
    return len(text) < 400 and format_of(text) == "plain" and _FAILURE.match(text.lstrip()) is not None


def missing(text: str) -> bool:
    """Whether an error says that something is not there."""
    return _WORDING["missing"].search(text) is not None


def _only_reads(plan: Plan) -> bool:
    hint = plan.tool.annotations.get("readOnlyHint")
    return plan.reading.verb in ("get", "list", "search", "count") if hint is None else hint is True


def _says(variant: Variant, wording: re.Pattern[str]) -> bool:
    template = variant.blocks[0] if variant.blocks else None
    return template is not None and any(isinstance(part, str) and wording.search(part) for part in template.parts)


def _for(template: Template, facts: Mapping[str, str], id: Json) -> str | None:
    """A template of another call, its one slot filled with what was asked for where the names differ."""
    text = template.fill(facts)
    if text is not None:
        return text
    names = {part.names for part in template.parts if isinstance(part, Slot)}
    if len(names) != 1:
        return None
    return template.fill({name: str(id) for name in next(iter(names))})


def _nearest(variants: Sequence[Variant], arguments: Mapping[str, Json]) -> Variant | None:
    """The variant whose examples had arguments most like these; of equals, the more frequent."""

    def alike(given: Mapping[str, Json]) -> tuple[float, int]:
        names = len(given.keys() & arguments.keys()) / max(1, len(given.keys() | arguments.keys()))
        return names, sum(given[name] == arguments.get(name) for name in given)

    return max(variants, key=lambda v: (max(map(alike, v.arguments)), v.count), default=None)


def _calls(history: Sequence[Past], tool: str) -> int:
    return sum(past.tool == tool and not past.committed.is_error for past in history)


def _text_block(result: Mapping[str, Json], text: str) -> list[Json]:
    """One text block, in the form of the first one recorded."""
    first = next((block for block in result.get("content") or [] if block.get("type") == "text"), {"type": "text"})
    return [{**first, "text": text}]


def _refilled(value: Json, before: Mapping[str, Json], now: Mapping[str, Json]) -> Json:
    """A block with what it took from its own call taken from this one."""
    if isinstance(value, dict):
        return {key: _refilled(inner, before, now) for key, inner in value.items()}
    if isinstance(value, list):
        return [_refilled(inner, before, now) for inner in value]
    if isinstance(value, str) and len(value) < 2_000:
        from mcp_world.spec.template import learn

        return learn(value, facts_of(before, 0)).fill(facts_of(now, 0)) or value
    return value
