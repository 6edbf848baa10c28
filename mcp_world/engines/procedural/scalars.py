"""Strings and numbers within the bounds of a schema."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mcp_world.core.seed import Rng
from mcp_world.core.types import Json
from mcp_world.engines.procedural.heights import Unsatisfiable
from mcp_world.engines.procedural.pattern import NoMatch, string_for
from mcp_world.engines.procedural.values import Hint, Values
from mcp_world.spec.schema import Schema


def string(flat: dict[str, Any], hint: Hint, rng: Rng, values: Values, check: Callable[[], Schema | None]) -> str:
    """A string for a flat schema: by pattern, by format, or by name, of a length within its bounds.

    Args:
        flat: The schema.
        hint: What the value is for.
        rng: The randomness.
        values: Makers of plain values.
        check: Gives a validator for the schema; asked for only where a pattern needs it.

    Raises:
        Unsatisfiable: None was found.
    """
    low = int(flat.get("minLength", 0))
    high = flat.get("maxLength")
    high = None if high is None else int(high)
    if high is not None and low > high:
        raise Unsatisfiable(f"{hint.name or 'a string'} must be at least {low} and at most {high} characters")
    if low > 1_000_000:
        raise Unsatisfiable(f"a string of at least {low} characters is too large")
    pattern = flat.get("pattern")
    form = flat.get("format")
    if isinstance(pattern, str):
        natural = values.format(form, hint, rng) if isinstance(form, str) else values.string(hint, rng)
        validator = check()
        if natural is not None and validator is not None and validator.is_valid(natural):
            return natural
        return _matching(pattern, validator, rng, low, high)
    if isinstance(form, str):
        text = values.format(form, hint, rng)
        if text is not None:
            return _fitted(text, form, rng, low, high)
    text = values.string(hint, rng)
    while len(text) < low:
        text = f"{text} {values.sentence(rng)}"[: max(low, high or low)]
    return text if high is None else text[:high].rstrip() or text[:high]


def _matching(pattern: str, check: Schema | None, rng: Rng, low: int, high: int | None) -> str:
    try:
        for _ in range(40):
            text = string_for(pattern, rng, low, high)
            if check is None or check.is_valid(text):
                return text
    except NoMatch as error:
        raise Unsatisfiable(str(error)) from None
    raise Unsatisfiable(f"no string found for pattern {pattern!r}")


def _fitted(text: str, form: str, rng: Rng, low: int, high: int | None) -> str:
    """A formatted string cut or filled to a length, where the format allows it."""
    if len(text) >= low and (high is None or len(text) <= high):
        return text
    if form in ("email", "idn-email"):
        room = high if high is not None else low
        size = max(1, min(room, max(low, 12)) - len("@ex.co"))
        return rng.string("abcdefghijklmnop", size) + "@ex.co" if room >= 7 else "a@b"[:room]
    if form in ("uri", "iri", "url", "uri-reference", "iri-reference"):
        stem = "https://ex.co/" if high is None or high >= 14 else "ab:c"
        return stem + rng.string("abcdefghijklmnop", max(0, low - len(stem)))
    if form in ("hostname", "idn-hostname"):
        return rng.string("abcdefghijklmnop", max(1, min(low, 60)))
    if form in ("ipv6",):
        return "::1"
    if form == "date-time" and high is not None and high < 20:
        raise Unsatisfiable("a date-time has at least 20 characters")
    raise Unsatisfiable(f"no {form} of {low} to {high} characters")


def number(flat: dict[str, Any], hint: Hint, rng: Rng, values: Values, *, whole: bool) -> Json:
    """A number for a flat schema: one that fits the name where the bounds allow it.

    Raises:
        Unsatisfiable: None lies within the bounds, or no multiple does.
    """
    low: float = flat.get("minimum", -math.inf)
    high: float = flat.get("maximum", math.inf)
    step = flat.get("multipleOf")
    above, below = flat.get("exclusiveMinimum"), flat.get("exclusiveMaximum")
    if isinstance(above, bool) or isinstance(below, bool):
        above, below = (low if above is True else None), (high if below is True else None)
    if whole:
        if above is not None:
            low = max(low, math.floor(above) + 1)
        if below is not None:
            high = min(high, math.ceil(below) - 1)
        low = low if math.isinf(low) else math.ceil(low)
        high = high if math.isinf(high) else math.floor(high)
    else:
        if above is not None:
            low = max(low, math.nextafter(above, math.inf))
        if below is not None:
            high = min(high, math.nextafter(below, -math.inf))
    if low > high:
        raise Unsatisfiable(f"no number lies between {low} and {high} for {hint.name or 'the schema'}")
    if step:
        return _multiple(low, high, step, rng, whole=whole)
    value = values.number(hint, rng, whole=whole)
    if low <= value <= high:
        return value
    if math.isinf(low) and math.isinf(high):
        return value
    if math.isinf(high):
        return low + value if whole and abs(low) < 2**53 else low
    if math.isinf(low):
        return high - value if whole and abs(high) < 2**53 else high
    if whole:
        return int(low) + rng.below(min(int(high) - int(low) + 1, 1000))
    middle = low + (high - low) * rng.unit()
    rounded = round(middle, 2)
    return rounded if low <= rounded <= high else middle


def _multiple(low: float, high: float, step: float, rng: Rng, *, whole: bool) -> Json:
    """A multiple of `step` in [low, high]."""
    first = (
        math.ceil(low / step) if not math.isinf(low) else (math.floor(high / step) - 50 if not math.isinf(high) else 1)
    )
    last = math.floor(high / step) if not math.isinf(high) else first + 50
    for _ in range(24):
        if first > last:
            break
        count = first + rng.below(min(last - first + 1, 1000))
        value = count * step
        if isinstance(step, float) and not step.is_integer():
            places = len(f"{step:.12f}".rstrip("0").split(".")[1])
            value = round(value, places)
        if whole:
            if float(value).is_integer():
                return int(value)
            continue
        return value
    raise Unsatisfiable(f"no multiple of {step} lies between {low} and {high}")
