"""Texts with slots, learned from examples: what came from the call is a slot, what differs otherwise is free text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from mcp_world.core.types import Json

_WORD = re.compile(r"\s+|[\w/.@:+-]+|.")
_SURE = 3
"""Strings of fewer characters are found only as words of their own."""


@dataclass(frozen=True)
class Slot:
    """A part of a text that comes from the call.

    Args:
        names: Facts of the call that it may be, the likeliest first: `path`, `file of path`, `calls`, …
        shown: What stood there.
    """

    names: tuple[str, ...]
    shown: str = field(default="", compare=False)


@dataclass(frozen=True)
class Free:
    """A part that differs from answer to answer.

    Args:
        samples: What stood there, in the order of the examples.
    """

    samples: tuple[str, ...]


Part = str | Slot | Free


@dataclass(frozen=True)
class Template:
    """A text in parts.

    Args:
        parts: Literal texts, slots and free parts; no two literals side by side.
    """

    parts: tuple[Part, ...]

    @property
    def constant(self) -> bool:
        """Whether nothing in it is free."""
        return not any(isinstance(part, Free) for part in self.parts)

    def fill(self, facts: Mapping[str, str], sample: int = -1) -> str | None:
        """The text for a call, or None where the call has not what a slot asks for.

        Args:
            facts: Of the call, see `facts_of`.
            sample: Which example's free parts to take.
        """
        out: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                out.append(part)
            elif isinstance(part, Free):
                out.append(part.samples[sample if abs(sample) <= len(part.samples) else -1])
            else:
                name = next((name for name in part.names if name in facts), None)
                if name is None:
                    return None
                out.append(facts[name])
        return "".join(out)

    def likeness(self, other: Template) -> float:
        """How alike two templates are, in [0, 1], by what is literal in them."""
        return SequenceMatcher(None, _tokens(self), _tokens(other), autojunk=False).ratio()

    def merge(self, other: Template) -> Template:
        """The template of both: slots are what both may be, and what differs is free."""
        mine, theirs = _tokens(self), _tokens(other)
        out: list[Part] = []
        for tag, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
            if tag == "equal":
                out.extend(_both(x, y) for x, y in zip(mine[a:b], theirs[c:d], strict=True))
                continue
            left, right = mine[a:b], theirs[c:d]
            if len(left) == len(right) == 1 and isinstance(left[0], Slot) and isinstance(right[0], Slot):
                common = tuple(name for name in left[0].names if name in right[0].names)
                if common:
                    out.append(Slot(common, right[0].shown))
                    continue
            out.append(Free((*_samples(left), *_samples(right))))
        return Template(_joined(out))


def learn(text: str, facts: Mapping[str, str]) -> Template:
    """The template that one text shows: each fact of its call that stands in it is a slot.

    Args:
        text: The answer.
        facts: Of its call.
    """
    names: dict[str, list[str]] = {}
    for name, value in facts.items():
        if value and (len(value) > 1 or value.isdigit()):
            names.setdefault(value, []).append(name)
    if not names:
        return Template((text,) if text else ())
    longest = sorted(names, key=lambda value: (-len(value), value))
    pattern = "|".join(
        re.escape(value)
        if len(value) >= _SURE and not value.isdigit()
        else rf"(?<![\w.]){re.escape(value)}(?![\w]|\.\d)"
        for value in longest
    )
    parts: list[Part] = []
    at = 0
    for found in re.finditer(pattern, text):
        parts.append(text[at : found.start()])
        parts.append(Slot(tuple(names[found.group()]), found.group()))
        at = found.end()
    parts.append(text[at:])
    return Template(_joined(parts))


def facts_of(arguments: Mapping[str, Json], calls: int) -> dict[str, str]:
    """What an answer may repeat of its call: arguments, parts and counts of them, and how often the tool was called.

    Args:
        arguments: The call's.
        calls: How many successful calls of the tool there were before.
    """
    out: dict[str, str] = {}
    for name, value in _leaves(arguments):
        out.setdefault(name, value)
    for name, value in list(out.items()):
        if "/" in value and "\n" not in value and " " not in value:
            out.setdefault(f"file of {name}", value.rstrip("/").rsplit("/", 1)[-1])
            out.setdefault(f"folder of {name}", value.rstrip("/").rsplit("/", 1)[0])
        if "\n" in value:
            out.setdefault(f"lines of {name}", str(len(value.split("\n"))))
        if len(value) > 20:
            out.setdefault(f"length of {name}", str(len(value)))
    for name, inner in arguments.items():
        if isinstance(inner, list):
            out.setdefault(f"count of {name}", str(len(inner)))
    numbers = [v for v in arguments.values() if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) > 1:
        out.setdefault("sum", _number(sum(numbers)))
        out.setdefault("most", _number(max(numbers)))
    out.setdefault("calls", str(calls + 1))
    return out


def _leaves(value: Json, path: str = "") -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [leaf for key, inner in value.items() for leaf in _leaves(inner, f"{path}.{key}" if path else str(key))]
    if isinstance(value, list):
        return [leaf for index, inner in enumerate(value) for leaf in _leaves(inner, f"{path}.{index}")]
    if isinstance(value, str):
        return [(path, value)]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [(path, _number(value))]
    return []


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _tokens(template: Template) -> list[Part]:
    out: list[Part] = []
    for part in template.parts:
        out.extend(_WORD.findall(part) if isinstance(part, str) else [part])
    return out


def _both(one: Part, other: Part) -> Part:
    if isinstance(one, Free) and isinstance(other, Free):
        return Free((*one.samples, *other.samples))
    return one


def _samples(parts: Sequence[Part]) -> tuple[str, ...]:
    """What stood in a part that differs, slots and all."""
    free = [part for part in parts if isinstance(part, Free)]
    if len(parts) == 1 and free:
        return free[0].samples
    texts = (
        part if isinstance(part, str) else part.shown if isinstance(part, Slot) else part.samples[-1] for part in parts
    )
    return ("".join(texts),)


def _joined(parts: Sequence[Part]) -> tuple[Part, ...]:
    out: list[Part] = []
    for part in parts:
        if isinstance(part, str) and out and isinstance(out[-1], str):
            out[-1] += part
        elif isinstance(part, Free) and out and isinstance(out[-1], Free):
            out[-1] = Free(tuple(a + b for a, b in zip(out[-1].samples, part.samples, strict=False)))
        elif part != "":
            out.append(part)
    return tuple(out)
