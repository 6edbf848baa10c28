"""Strings that match an ECMA-262 pattern, with a length to hit."""

from __future__ import annotations

import re
from functools import lru_cache
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

from mcp_world.core.seed import Rng

_PRINTABLE = [chr(c) for c in range(32, 127)]
_WORD = [c for c in _PRINTABLE if c.isalnum() or c == "_"]
_DIGIT = list("0123456789")
_SPACE = [" "]
_LETTERS = [c for c in _PRINTABLE if c.isalpha()]
_UNICODE = {"L": "a-zA-ZÀ-ÖØ-öø-ÿ", "Lu": "A-Z", "Ll": "a-z", "N": "0-9", "Nd": "0-9", "P": "!-/", "S": "+<=>", "Z": " ",
            "Zs": " ", "Letter": "a-zA-Z", "Alphabetic": "a-zA-Z"}  # fmt: skip


class NoMatch(Exception):
    """The pattern is not one we can build a string for."""


def to_python(pattern: str) -> str:
    """Rewrite the ECMA-262 syntax that Python's parser does not know: `\\p{L}`, `\\cX`, `\\u{…}`, `(?<name>…)`, `[^]`, `\\/`."""
    out: list[str] = []
    i, in_class = 0, False
    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and i + 1 < len(pattern):
            n = pattern[i + 1]
            if n in "pP" and pattern[i + 2 : i + 3] == "{":
                end = pattern.find("}", i)
                name = pattern[i + 3 : end].split("=")[-1]
                chars = _UNICODE.get(name, "a-zA-Z")
                out.append(chars if in_class and n == "p" else f"[{'^' if n == 'P' else ''}{chars}]")
                i = end + 1
                continue
            if n == "u" and pattern[i + 2 : i + 3] == "{":
                end = pattern.find("}", i)
                out.append(re.escape(chr(int(pattern[i + 3 : end], 16))))
                i = end + 1
                continue
            if n == "c" and i + 2 < len(pattern):
                out.append(f"\\x{ord(pattern[i + 2]) % 32:02x}")
                i += 3
                continue
            if n == "k" and pattern[i + 2 : i + 3] == "<":
                end = pattern.find(">", i)
                out.append(f"(?P={pattern[i + 3 : end]})")
                i = end + 1
                continue
            out.append(n if n in "/-" and not in_class else c + n if n.isalnum() or not n.isalpha() else n)
            if n == "-" and in_class:
                out[-1] = "\\-"
            i += 2
            continue
        if c == "[" and not in_class:
            if pattern.startswith("[^]", i):
                out.append("[\\s\\S]")
                i += 3
                continue
            in_class = True
        elif c == "[" and in_class:
            out.append("\\[")
            i += 1
            continue
        elif c == "]" and in_class:
            in_class = False
        elif c == "(" and not in_class and pattern.startswith("(?<", i) and pattern[i + 3 : i + 4] not in "=!":
            out.append("(?P<")
            i += 3
            continue
        out.append(c)
        i += 1
    return "".join(out)


@lru_cache(maxsize=4096)
def _parse(pattern: str) -> Any:
    try:
        return sre_parse.parse(to_python(pattern))
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise NoMatch(str(error)) from None


def string_for(pattern: str, rng: Rng, low: int = 0, high: int | None = None) -> str:
    """A string that matches `pattern` somewhere, of `low` to `high` characters where that is possible.

    The result is built from the pattern's positive parts; look-arounds are left to the caller's check.

    Raises:
        NoMatch: The pattern cannot be parsed, or no such length was found.
    """
    tree = _parse(pattern)
    anchored_left = bool(tree) and tree[0] == (sre.AT, sre.AT_BEGINNING)
    anchored_right = bool(tree) and tree[-1] == (sre.AT, sre.AT_END)
    shortest, longest = _width(tree)
    limit = high if high is not None else max(low, shortest + 24)
    if shortest > limit or (anchored_left and anchored_right and longest < low):
        raise NoMatch(f"no string of {low} to {high} characters matches {pattern!r}")
    target = max(low, shortest)
    for attempt in range(12):
        room = min(limit, longest) - target
        wanted = target + (rng.below(min(room, 4 + 3 * attempt) + 1) if room > 0 else 0)
        text = _Builder(rng).sequence(tree, wanted)
        if len(text) < low and not (anchored_left and anchored_right):
            text = (
                text + rng.string("abcdefgh", low - len(text))
                if not anchored_right
                else (rng.string("abcdefgh", low - len(text)) + text)
            )
        if low <= len(text) <= limit:
            return text
    raise NoMatch(f"no string of {low} to {high} characters found for {pattern!r}")


def _width(tree: Any) -> tuple[int, int]:
    """The shortest and the longest string a parsed pattern builds."""
    low = high = 0
    for op, arg in tree:
        a, b = _item_width(op, arg)
        low, high = low + a, min(high + b, 1 << 20)
    return low, high


def _item_width(op: Any, arg: Any) -> tuple[int, int]:
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
        least, most, sub = arg
        a, b = _width(sub)
        return a * least, min(b * (1 << 20 if most == sre.MAXREPEAT else most), 1 << 20)
    if op is sre.BRANCH:
        widths = [_width(branch) for branch in arg[1]]
        return min(w[0] for w in widths), max(w[1] for w in widths)
    if op is sre.SUBPATTERN:
        return _width(arg[3])
    if op is sre.ATOMIC_GROUP:
        return _width(arg)
    if op in (sre.AT, sre.ASSERT, sre.ASSERT_NOT):
        return 0, 0
    if op is sre.GROUPREF:
        return 0, 1 << 10
    return 1, 1


class _Builder:
    """Builds one string; remembers groups for back-references."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.groups: dict[int, str] = {}

    def sequence(self, tree: Any, wanted: int) -> str:
        items = list(tree)
        widths = [_item_width(op, arg) for op, arg in items]
        spare = max(0, wanted - sum(low for low, _ in widths))
        parts = []
        for index, ((op, arg), (low, high)) in enumerate(zip(items, widths, strict=True)):
            later = sum(min(b - a, spare) for a, b in widths[index + 1 :])
            most = min(high - low, spare)
            least = max(0, spare - later)
            extra = least if least >= most else least + self.rng.below(most - least + 1)
            text = self.item(op, arg, low + extra)
            spare = max(0, spare - max(0, len(text) - low))
            parts.append(text)
        return "".join(parts)

    def item(self, op: Any, arg: Any, wanted: int) -> str:
        if op is sre.LITERAL:
            return chr(arg)
        if op is sre.NOT_LITERAL:
            return self.rng.pick([c for c in _WORD if ord(c) != arg])
        if op is sre.ANY:
            return self.rng.pick(_LETTERS)
        if op is sre.IN:
            return self.rng.pick(_choices(arg))
        if op is sre.BRANCH:
            fits = [b for b in arg[1] if _width(b)[0] <= wanted <= _width(b)[1]]
            near = fits or [b for b in arg[1] if _width(b)[0] <= wanted] or [min(arg[1], key=lambda b: _width(b)[0])]
            return self.sequence(self.rng.pick(near), wanted)
        if op is sre.SUBPATTERN:
            text = self.sequence(arg[3], wanted)
            if arg[0] is not None:
                self.groups[arg[0]] = text
            return text
        if op is sre.ATOMIC_GROUP:
            return self.sequence(arg, wanted)
        if op is sre.GROUPREF:
            return self.groups.get(arg, "")
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            return self.repeat(arg, wanted)
        return ""  # anchors and look-arounds are left to the caller's check

    def repeat(self, arg: Any, wanted: int) -> str:
        least, most, sub = arg
        low, high = _width(sub)
        ceiling = 1 << 20 if most == sre.MAXREPEAT else int(most)
        if high == 0:
            return ""
        at_least = max(least, -(-wanted // high) if high else 0)
        at_most = min(ceiling, wanted // low if low else at_least + 1)
        count = min(ceiling, at_least if at_most <= at_least else self.rng.between(at_least, at_most))
        parts = []
        left = wanted
        for index in range(count):
            remaining = count - index
            text = self.sequence(sub, max(low, min(high, -(-left // remaining))))
            left -= len(text)
            parts.append(text)
        return "".join(parts)


@lru_cache(maxsize=4096)
def _category(category: Any) -> frozenset[str]:
    table = {
        sre.CATEGORY_DIGIT: _DIGIT,
        sre.CATEGORY_WORD: _WORD,
        sre.CATEGORY_SPACE: _SPACE,
        sre.CATEGORY_NOT_DIGIT: [c for c in _PRINTABLE if c not in _DIGIT],
        sre.CATEGORY_NOT_WORD: [c for c in _PRINTABLE if c not in _WORD],
        sre.CATEGORY_NOT_SPACE: [c for c in _PRINTABLE if c != " "],
    }
    return frozenset(table.get(category, _WORD))


def _choices(items: Any) -> list[str]:
    """The characters a class admits, printable ones where there are any."""
    negated = bool(items) and items[0][0] is sre.NEGATE
    chars: set[str] = set()
    for op, arg in items:
        if op is sre.LITERAL:
            chars.add(chr(arg))
        elif op is sre.RANGE:
            low, high = arg
            chars.update(chr(c) for c in range(low, min(high, low + 256) + 1) if not 0xD800 <= c <= 0xDFFF)
        elif op is sre.CATEGORY:
            chars.update(_category(arg))
    if negated:
        rest = [c for c in _WORD if c not in chars] or [c for c in _PRINTABLE if c not in chars]
        return rest or [chr(c) for c in range(0xA1, 0x180) if chr(c) not in chars]
    plain = sorted(c for c in chars if c in _PRINTABLE)
    return plain or sorted(chars) or ["a"]
