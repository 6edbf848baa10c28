"""Mending small things in what a model wrote: a type, an extra key, a format, the spelling of an enum's value."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.schema import Schema, pointer_of

_ROUNDS = 20
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d(?:\.\d+)?)?\s*(Z|UTC|[+-]\d\d:?\d\d)?", re.I)
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})")


def repair(schema: Schema, value: Json) -> tuple[Json, list[str]] | None:
    """Make a value conform by small changes.

    Args:
        schema: What it should conform to.
        value: What it is; left as it was.

    Returns:
        The mended value and what was changed (`/age: type`), or None where small changes do not do.
    """
    out = copy.deepcopy(value)
    done: list[str] = []
    for _ in range(_ROUNDS):
        try:
            errors = schema.errors(out)
        except ValueError:
            return None
        if not errors:
            return out, done
        changed = False
        for error in errors:
            step = _mend(out, list(error.instance_path), error.kind)
            if step is not None:
                out = step
                done.append(f"{pointer_of(error.instance_path)}: {error.kind.name}")
                changed = True
                break
        if not changed:
            return None
    return None


def _mend(root: Json, path: list[Any], kind: Any) -> Json | None:
    """The root with one finding mended, or None where it cannot be."""
    holder, value = None, root
    for part in path:
        try:
            holder, value = value, value[part]
        except (KeyError, IndexError, TypeError):
            return None
    name, wanted = kind.name, kind.value
    if name in ("additionalProperties", "unevaluatedProperties") and isinstance(value, dict):
        for key in wanted:
            value.pop(key, None)
        return root
    if name == "type" and value is None and isinstance(holder, dict):
        del holder[path[-1]]
        return root
    if name in ("anyOf", "oneOf"):
        return _branch(root, kind)
    new: Json | None = None
    if name == "type":
        new = _typed(value, wanted)
    elif name == "format":
        new = _formatted(value, wanted)
    elif name == "enum":
        new = _spelled(value, wanted)
    elif name == "const":
        new = _spelled(value, [wanted])
    if new is None or (new == value and type(new) is type(value)):
        return None
    if holder is None:
        return new
    holder[path[-1]] = new
    return root


def _branch(root: Json, kind: Any) -> Json | None:
    """The root with the first branch mended of which only one thing is wrong, as in `integer or null`."""
    for errors in kind.context:
        if len(errors) == 1 and errors[0].kind.name in ("type", "format", "enum", "const", "additionalProperties"):
            mended = _mend(root, list(errors[0].instance_path), errors[0].kind)
            if mended is not None:
                return mended
    return None


def _typed(value: Json, types: list[str]) -> Json | None:
    """A value as the first of some types that it plainly stands for."""
    makers: dict[str, Callable[[], Json | None]] = {
        "integer": lambda: _number(value, whole=True),
        "number": lambda: _number(value, whole=False),
        "boolean": lambda: {"true": True, "false": False, "yes": True, "no": False}.get(str(value).lower()),
        "string": lambda: _string(value),
        "array": lambda: [value] if isinstance(value, str | int | float | dict) else None,
    }
    for name in types:
        made = makers[name]() if name in makers else None
        if made is not None:
            return made
    return None


def _string(value: Json) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else None


def _number(value: Json, *, whole: bool) -> Json | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip().lstrip("$€£").replace(",", "")
        if not re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text):
            return None
        value = float(text) if "." in text else int(text)
    if whole and isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int | float) else None


def _formatted(value: Json, format: str) -> Json | None:
    if not isinstance(value, str):
        return None
    text = value.strip()
    if format == "date-time":
        found = _DATE_TIME.fullmatch(text)
        if found is not None:
            day, minutes, seconds, zone = found.groups()
            offset = "Z" if zone is None or zone.upper() in ("Z", "UTC") else zone[:3] + ":" + zone[-2:]
            return f"{day}T{minutes}{seconds or ':00'}{offset}"
        return f"{text}T00:00:00Z" if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    if format == "date":
        found = _DATE.match(text)
        return None if found is None else f"{found[1]}-{int(found[2]):02d}-{int(found[3]):02d}"
    if format in ("uri", "url") and re.match(r"[\w-]+(\.[\w-]+)+(/|$)", text):
        return f"https://{text}"
    return text if text != value else None


def _spelled(value: Json, options: list[Json]) -> Json | None:
    plain = re.sub(r"[\s_-]+", "", str(value)).casefold()
    return next((o for o in options if re.sub(r"[\s_-]+", "", str(o)).casefold() == plain), None)
