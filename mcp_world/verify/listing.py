"""What a list says of itself: which page it is, how many there are in all, whether there are more."""

from __future__ import annotations

from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.names import words
from mcp_world.verify.seen import Seen


def series(seen: Seen) -> bytes:
    """What the pages of one list have in common: the question without the place in it."""
    reading = seen.reading
    return seen.question(reading.page, reading.offset, reading.cursor)


def place_of(seen: Seen) -> Json:
    """Which page was asked for: an offset, a page number or a cursor; None for the first."""
    reading = seen.reading
    for name in (reading.cursor, reading.offset, reading.page):
        value = seen.arguments.get(name) if name else None
        if value is not None and value != "" and not (value == 0 and name == reading.offset):
            return 1 if name == reading.page and value == 0 else value
    return 1 if reading.page else None


_TOTALS = frozenset({
    ("total",), ("total", "count"), ("total", "results"), ("total", "items"), ("total", "size"), ("total", "records"),
    ("total", "elements"), ("num", "found"), ("total", "matches"), ("total", "hits"),
})  # fmt: skip
_NEXT = frozenset({("next", "cursor"), ("next", "page", "token"), ("next", "token"), ("next", "page"), ("next",),
                   ("next", "link"), ("continuation", "token")})  # fmt: skip
_MORE = frozenset({("has", "more"), ("has", "next"), ("has", "next", "page"), ("incomplete", "results"), ("truncated",),
                   ("is", "truncated")})  # fmt: skip


def envelope(seen: Seen) -> dict[str, tuple[str, Json]]:
    """The plain members around a list, and those of objects beside it (`pagination`, `page_info`): name to path and value."""
    if not isinstance(seen.data, dict) or seen.listing is None:
        return {}
    out: dict[str, tuple[str, Json]] = {}
    at = ""
    node: Any = seen.data
    for part in seen.listing.split("/")[1:]:
        for name, value in node.items():
            if isinstance(value, dict) and name != part:
                out.update({inner: (f"{at}/{name}/{inner}", v) for inner, v in value.items()})
            elif not isinstance(value, list | dict):
                out[name] = (f"{at}/{name}", value)
        at, node = f"{at}/{part}", node.get(part)
        if not isinstance(node, dict):
            break
    return out


def total_of(seen: Seen) -> int | None:
    """How many things there are in all, as the answer says it."""
    for name, (_, value) in envelope(seen).items():
        if words(name) in _TOTALS and isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def more_of(seen: Seen) -> bool | None:
    """Whether the answer says that there are more pages; None where it does not say."""
    said: bool | None = None
    for name, (_, value) in envelope(seen).items():
        if words(name) in _MORE and isinstance(value, bool):
            said = value or bool(said)
        elif words(name) in _NEXT:
            said = bool(value) or bool(said)
    return said


def limit_of(seen: Seen) -> int | None:
    """The most things that the call asked for, or the schema's default for it."""
    reading = seen.reading
    value = seen.arguments.get(reading.limit, reading.defaults.get(reading.limit)) if reading.limit else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def whole(seen: Seen) -> bool:
    """Whether a list is known to be all that there is: its first page, with no more behind it."""
    if seen.listing is None or place_of(seen) not in (None, 1):
        return False
    count, total, more = len(seen.records), total_of(seen), more_of(seen)
    if more or (total is not None and total > count):
        return False
    if more is False or total is not None:
        return True
    limit, reading = limit_of(seen), seen.reading
    if limit is not None:
        return count < limit
    return not (reading.limit or reading.page or reading.offset or reading.cursor)
