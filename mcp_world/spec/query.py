"""Filters, searches, sorts and pages over records: what the arguments of a list ask for."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from mcp_world.core.types import Json, leaves
from mcp_world.spec.names import singular, words

T = TypeVar("T")

_LOW = ("min", "since", "after", "from", "gte", "gt", "start", "newer", "above", "over", "oldest")
_HIGH = ("max", "until", "before", "to", "lte", "lt", "end", "older", "below", "under", "latest", "newest")
_ANY = frozenset({"all", "any", "*", ""})
_WORD = re.compile(r"[\w@.+#-]+", re.UNICODE)
_QUALIFIER = re.compile(r'([A-Za-z_]+):("[^"]*"|\S+)')
_TIME_FIELDS = (
    "created_at", "updated_at", "date", "start", "start_time", "timestamp", "sent_at", "posted_at", "createdAt",
    "due_date", "ts", "time",
)  # fmt: skip


class BadCursor(Exception):
    """A cursor that no earlier page gave out."""


def bound_of(name: str, fields: Iterable[str]) -> tuple[str, int] | None:
    """The field and the side (-1 low, 1 high) that an argument such as `min_amount`, `since` or `created_before` bounds."""
    parts = words(name)
    for side, marks in ((-1, _LOW), (1, _HIGH)):
        hit = [i for i, part in enumerate(parts) if part in marks]
        if not hit:
            continue
        rest = tuple(
            part
            for i, part in enumerate(parts)
            if i != hit[0] and part not in ("date", "time", "at", "inclusive", "value")
        )
        fields = list(fields)
        if rest:
            for field in fields:
                have = words(field)
                if (
                    have == rest
                    or have[: len(rest)] == rest
                    or tuple(w for w in have if w not in ("at", "date", "time", "on")) == rest
                ):
                    return field, side
        else:
            for field in _TIME_FIELDS:
                if field in fields:
                    return field, side
    return None


def plain(value: Json) -> list[str]:
    """The texts by which a value is compared: itself, or the names inside it."""
    if value is None:
        return []
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, dict):
        return [
            t
            for key in ("name", "login", "id", "key", "title", "email", "slug", "username", "value")
            if key in value
            for t in plain(value[key])
        ]
    if isinstance(value, list):
        return [t for item in value for t in plain(item)]
    if isinstance(value, float) and value.is_integer():
        return [str(int(value))]
    return [str(value).casefold()]


def matches(value: Json, wanted: Json) -> bool:
    """Whether a field's value satisfies a filter's; lists ask for any of theirs, comma lists too, and `all` for everything."""
    options = plain(wanted)
    if isinstance(wanted, str):
        if wanted.casefold() in _ANY:
            return True
        if "," in wanted:
            options = [part.strip().casefold() for part in wanted.split(",")]
    have = set(plain(value))
    return not options or any(option in have for option in options)


def within(value: Json, limit: Json, side: int) -> bool:
    """Whether a value lies on the right side of a limit, the limit included; values of other types do not."""
    if isinstance(value, str) and isinstance(limit, str):
        a, b = value[: len(limit)], limit[: len(value)]
        return a >= b if side < 0 else a <= b
    if isinstance(value, int | float) and isinstance(limit, int | float):
        return value >= limit if side < 0 else value <= limit
    return False


def search(text: str, fields: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """The words and the `field:value` qualifiers of a query; qualifiers of no known field are left out."""
    known = {"_".join(words(field)): field for field in fields}
    qualifiers = {}
    for name, value in _QUALIFIER.findall(text):
        field = known.get("_".join(words(name)))
        value = value.strip('"')
        if name == "is" and ("state" in known or "status" in known):
            field = known.get("state") or known["status"]
        if field is not None:
            qualifiers[field] = value
    rest = _QUALIFIER.sub(" ", text)
    return [word.casefold() for word in _WORD.findall(rest)], qualifiers


def contains(record: Json, wanted: Sequence[str]) -> int:
    """How many of the words stand somewhere in a record's texts."""
    haystack = " ".join(leaf for leaf in leaves(record) if isinstance(leaf, str)).casefold()
    return sum(1 for word in wanted if word in haystack or singular(word) in haystack)


def sort_key(value: Json) -> tuple[int, float, str]:
    """A key by which any JSON values can be ordered: numbers, then texts, then nothing."""
    if isinstance(value, bool):
        return (0, float(value), "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    if isinstance(value, str):
        return (1, 0.0, value.casefold())
    if isinstance(value, list):
        return (0, float(len(value)), "")
    return (2, 0.0, "")


def sort_field(text: str, fields: Iterable[str]) -> tuple[str | None, bool | None]:
    """The field that a sort argument names, and whether it asks for descending order (None: it does not say)."""
    down: bool | None = None
    text = text.strip()
    if text[:1] in "-+":
        down, text = text[0] == "-", text[1:]
    head, _, tail = text.replace(":", " ").partition(" ")
    if tail.strip().lower() in ("asc", "desc", "ascending", "descending"):
        down = tail.strip().lower().startswith("desc")
    for suffix in ("_asc", "_desc"):
        if head.lower().endswith(suffix):
            head, down = head[: -len(suffix)], suffix == "_desc"
    wanted = words(head)
    for field in fields:
        have = words(field)
        if have == wanted or (wanted and have[: len(wanted)] == wanted):
            return field, down
    return None, down


def cursor_for(offset: int) -> str:
    """An opaque cursor for a place in a list."""
    return base64.urlsafe_b64encode(f"o:{offset}".encode()).decode().rstrip("=")


def offset_of(cursor: str) -> int:
    """The place of a cursor.

    Raises:
        BadCursor: It is none of ours.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        if text.startswith("o:"):
            return int(text[2:])
    except (ValueError, UnicodeDecodeError):
        pass
    raise BadCursor(cursor)
