"""Whether two values say the same, though they are written differently or at different times."""

from __future__ import annotations

import math
from datetime import datetime

from mcp_world.core.clock import parse_time
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.names import words
from mcp_world.spec.query import plain

_CUT = ("…", "...")
_MOVING = frozenset({"accessed", "viewed", "views", "view", "age", "elapsed", "uptime", "seen", "now", "cursor", "score",
                     "rank", "relevance", "etag", "position", "duration", "highlight", "snippet", "similarity", "distance"})  # fmt: skip
"""Words of fields that move by themselves, or that speak of the call rather than of the thing."""


def alike(said: Json, shown: Json) -> bool:
    """Whether what was said before and what is shown now may be one value.

    A server may change case and spacing, write a time in another zone, cut or wrap a long text, spell a number as text,
    show a list's members or a referred thing as objects, and leave out what is empty. What differs beyond that differs.

    Args:
        said: What an argument or an earlier observation said.
        shown: What the present observation shows.
    """
    if said == shown or (_empty(said) and _empty(shown)):
        return True
    if isinstance(said, bool) or isinstance(shown, bool):
        return str(said).casefold() == str(shown).casefold()
    if isinstance(said, int | float) and isinstance(shown, int | float):
        return math.isclose(said, shown, rel_tol=1e-9)
    if isinstance(said, str) and isinstance(shown, str):
        return _texts(said, shown)
    if isinstance(said, list) and isinstance(shown, list):
        return _members(said) == _members(shown)
    if isinstance(said, dict) and isinstance(shown, dict):
        return all(alike(value, shown[name]) for name, value in said.items() if name in shown)
    return bool(set(plain(said)) & set(plain(shown)))


def moment(value: Json) -> datetime | None:
    """The time that a text gives in ISO 8601, in UTC where it names no zone; else None."""
    if not isinstance(value, str) or not 10 <= len(value) <= 40 or not value[:4].isdigit():
        return None
    try:
        return parse_time(value)
    except BadInput:
        return None


def moves(name: str) -> bool:
    """Whether a field may change with nothing written."""
    return bool(_MOVING.intersection(words(name)))


def short(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _empty(value: Json) -> bool:
    return value is None or value == "" or value == [] or value == {}


def _texts(said: str, shown: str) -> bool:
    a, b = " ".join(said.split()).casefold(), " ".join(shown.split()).casefold()
    if a == b:
        return True
    first, second = moment(said), moment(shown)
    if first is not None and second is not None:
        return first == second or (min(len(said), len(shown)) == 10 and said[:10] == shown[:10])
    short, long = sorted((a, b), key=len)
    for mark in _CUT:
        if short.endswith(mark):
            return long.startswith(short.removesuffix(mark).rstrip())
    if a and a in b:
        return True  # wrapped: a name in a path, a text in markup
    return len(a) <= 80 and words(said) == words(shown) != ()


def _members(values: list[Json]) -> frozenset[str]:
    return frozenset(text for value in values for text in plain(value))
