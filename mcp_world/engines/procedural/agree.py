"""Values of one object that speak of each other are made to agree: times in order, totals that add up, counts that count."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.names import singular, words

_FIRST = ("created", "start", "starts", "started", "opened", "begin", "begins", "from", "birth", "registered")
_LATER = ("updated", "modified", "closed", "merged", "completed", "end", "ends", "ended", "finished", "resolved", "pushed", "deleted",
          "published", "delivered", "to", "edited", "due", "expires")  # fmt: skip
_PINNED: dict[str, Json] = {"const": None}
_EXTRAS = ("tax", "shipping", "fee")
_AMOUNTS = ("price", "amount", "cost", "total", "subtotal", "unit_price", "line_total")


def agree(record: dict[str, Json], properties: dict[str, Any], known: frozenset[str] = frozenset()) -> dict[str, Json]:
    """The record with its later times after its first, its totals summed and its counts counted.

    Args:
        record: The object.
        properties: The schemas of its properties; what they pin (const, enum, pattern) is not touched.
        known: Properties whose values were given rather than fabricated; they are not touched either.

    Only values of the same type are put in place of others, so that what was valid by type stays so; bounds are left
    to the caller's check. The record is changed in place and returned.
    """
    if len(record) < 2:
        return record
    if known:
        properties = {**properties, **dict.fromkeys(known, _PINNED)}
    _times(record, properties)
    _counts(record, properties)
    _totals(record, properties)
    _bands(record, properties)
    _mail(record, properties)
    content = record.get("content")
    if isinstance(content, str) and type(record.get("size")) is int and _free("size", properties):
        record["size"] = len(content.encode("utf-8", "replace"))
    return record


def _free(name: str, properties: dict[str, Any]) -> bool:
    """Whether the schema leaves the value open (no const, no enum)."""
    node = properties.get(name)
    return not isinstance(node, dict) or not ({"const", "enum", "pattern", "$ref"} & node.keys())


def _times(record: dict[str, Json], properties: dict[str, Any]) -> None:
    first = None
    for name, value in record.items():
        parts = words(name)
        if not parts or not isinstance(value, str | int) or isinstance(value, bool):
            continue
        if parts[0] in _FIRST and _timelike(name, value):
            first = (name, value)
    if first is None:
        return
    for name, value in record.items():
        parts = words(name)
        later = bool(parts) and parts[0] in _LATER and _timelike(name, value) and _free(name, properties)
        if later and _before(value, first[1]):
            record[name] = first[1]


def in_order(items: list[Json], now: datetime) -> list[Json]:
    """A list of readings by day or by hour as a run of days or hours from now; any other list unchanged."""
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            return items
        day, hour = item.get("date"), item.get("time", item.get("hour"))
        if isinstance(day, str) and len(day) == 10:
            item["date"] = (now + timedelta(days=index)).strftime("%Y-%m-%d")
        elif isinstance(hour, str) and len(hour) == 20:
            when = now.replace(minute=0, second=0) + timedelta(hours=index + 1)
            item["time" if "time" in item else "hour"] = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    return items


def _before(a: Json, b: Json) -> bool:
    """Whether a time is before another of the same form."""
    return type(a) is type(b) and _length(a) == _length(b) and a < b


def _timelike(name: str, value: Json) -> bool:
    if isinstance(value, str):
        return len(value) >= 10 and value[:4].isdigit() and value[4] == "-"
    return isinstance(value, int) and value > 1_000_000_000


def _length(value: Json) -> int:
    return len(value) if isinstance(value, str) else 0


def _counts(record: dict[str, Json], properties: dict[str, Any]) -> None:
    lists = [name for name, value in record.items() if isinstance(value, list)]
    for name, value in record.items():
        if isinstance(value, bool) or not isinstance(value, int) or not _free(name, properties):
            continue
        parts = words(name)
        for target in lists:
            stem = words(target)
            one = (*stem[:-1], singular(stem[-1])) if stem else ()
            named = {
                (*stem, "count"),
                (*one, "count"),
                ("total", *stem),
                ("num", *stem),
                ("number", "of", *stem),
                (*stem, "total"),
            }
            if parts in named or (len(lists) == 1 and parts in (("count",), ("total", "count"))):
                record[name] = len(record[target])


def _totals(record: dict[str, Json], properties: dict[str, Any]) -> None:
    for lines in record.values():
        if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
            continue
        key = next(
            (k for k in _AMOUNTS if isinstance(lines[0].get(k), int | float) and not isinstance(lines[0].get(k), bool)),
            None,
        )
        if key is None:
            return
        total = 0.0
        for line in lines:
            if not isinstance(line.get(key), int | float):
                return
            many = next((line[k] for k in ("quantity", "qty", "count") if isinstance(line.get(k), int)), 1)
            total += line[key] * (many if key in ("price", "unit_price", "cost") else 1)
        for name in ("subtotal", "total", "total_amount", "amount", "amount_total"):
            value = record.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and _free(name, properties):
                whole = isinstance(value, int) and float(total).is_integer()
                final = name in ("total", "total_amount", "amount_total")
                extras = sum(record[k] for k in _EXTRAS if type(record.get(k)) in (int, float)) if final else 0
                record[name] = int(total + extras) if whole else round(total + extras, 2)
        return


def _bands(record: dict[str, Json], properties: dict[str, Any]) -> None:
    """Low below high, a part no larger than its whole, and what it feels like near what it is."""
    for low, high in (("low", "high"), ("min", "max"), ("temp_min", "temp_max"), ("minimum", "maximum")):
        a, b = record.get(low), record.get(high)
        free = _free(low, properties) and _free(high, properties)
        if free and isinstance(a, int | float) and isinstance(b, int | float) and a > b:
            record[low], record[high] = b, a
    for part, whole in (("amount_refunded", "amount"), ("ready_replicas", "replicas"), ("amount_paid", "amount_due")):
        a, b = record.get(part), record.get(whole)
        if _free(part, properties) and isinstance(a, int | float) and isinstance(b, int | float) and a > b:
            record[part] = b
    warm, felt = record.get("temperature"), record.get("feels_like")
    if isinstance(warm, int | float) and isinstance(felt, int | float) and _free("feels_like", properties):
        record["feels_like"] = type(felt)(round(warm - 1.5, 1))


def _mail(record: dict[str, Json], properties: dict[str, Any]) -> None:
    name = record.get("name") or record.get("full_name") or record.get("display_name")
    if "email" in record and isinstance(name, str) and isinstance(record["email"], str) and _free("email", properties):
        parts = [part for part in "".join(c if c.isalpha() else " " for c in name.lower()).split() if part.isascii()]
        node = properties.get("email")
        if len(parts) >= 2 and isinstance(node, dict) and "maxLength" not in node:
            record["email"] = f"{parts[0]}.{parts[-1]}@example.com"
