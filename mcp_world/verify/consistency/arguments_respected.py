"""The arguments are respected: limit, sort, filters, the id that was asked for, the fields that were given."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Json, Violation
from mcp_world.spec.flatten import types_of
from mcp_world.spec.names import words
from mcp_world.spec.query import bound_of, matches, sort_field, sort_key, within
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account, stated_by
from mcp_world.verify.alike import alike, short
from mcp_world.verify.listing import limit_of
from mcp_world.verify.seen import Seen, spelled


def arguments_respected(seen: Seen, account: Account) -> Iterator[Violation]:
    """Each argument that asks for something gets it."""
    if seen.failed:
        return
    if seen.listing is not None:
        yield from _limit(seen)
        yield from _order(seen)
        yield from _filters(seen)
    else:
        yield from _asked(seen)
        yield from _given(seen)


def _limit(seen: Seen) -> Iterator[Violation]:
    limit = limit_of(seen) if seen.reading.limit in seen.arguments else None
    if limit is not None and len(seen.records) > limit:
        yield Violation(
            "arguments-respected/limit",
            seen.listing or "",
            f"{seen.reading.limit} is {limit}, and {len(seen.records)} are shown",
            evidence={"limit": limit, "shown": len(seen.records)},
        )


def _order(seen: Seen) -> Iterator[Violation]:
    reading = seen.reading
    wanted = seen.arguments.get(reading.sort) if reading.sort else None
    if not isinstance(wanted, str) or len(seen.records) < 2:
        return
    name, down = sort_field(wanted, seen.records[0].fields)
    order = seen.arguments.get(reading.order, reading.defaults.get(reading.order)) if reading.order else None
    if isinstance(order, str):
        down = order.casefold().startswith("desc")
    if name is None or down is None:
        return
    values = [record.fields.get(name) for record in seen.records]
    if any(not isinstance(value, str | int | float) or isinstance(value, bool) for value in values):
        return
    if len({isinstance(value, str) for value in values}) > 1 or _ranks(seen, name):
        return
    keys = [sort_key(value) for value in values]
    for index in range(1, len(keys)):
        first, second = (keys[index], keys[index - 1]) if down else (keys[index - 1], keys[index])
        if first > second:
            yield Violation(
                "arguments-respected/sort",
                seen.records[index].path + pointer_of([name]),
                f"sorted by {name} {'down' if down else 'up'}, {short(values[index])} does not come after {short(values[index - 1])}",
                evidence={"before": values[index - 1], "now": values[index]},
            )
            return


def _ranks(seen: Seen, name: str) -> bool:
    """Whether a field's values are words that have an order of their own, such as low and high."""
    values = [record.fields.get(name) for record in seen.records]
    return (
        all(isinstance(value, str) and value.isalpha() and len(value) < 12 for value in values) and len(set(values)) < 6
    )


def _filters(seen: Seen) -> Iterator[Violation]:
    reading = seen.reading
    for argument in (*reading.filters, *reading.scope):
        wanted = seen.arguments.get(argument)
        if wanted is None or isinstance(wanted, dict):
            continue
        schema = reading.properties.get(argument, {})
        for record in seen.records:
            name = next((field for field in record.fields if words(field) == words(argument)), None)
            if name is None:
                if argument not in reading.scope:
                    yield from _bound(seen, argument, wanted, record.path, record.fields)
                continue
            value = record.fields[name]
            if isinstance(value, dict) or value is None or matches(value, wanted) or alike(wanted, value):
                continue
            sure = "enum" in schema or "boolean" in types_of(schema) or argument in reading.scope
            yield Violation(
                "arguments-respected/filter",
                record.path + pointer_of([name]),
                f"{argument} is {short(wanted)}, and {name} is {short(value)}",
                severity="error" if sure else "warning",
                evidence={"asked": wanted, "shown": value},
            )


def _bound(seen: Seen, argument: str, wanted: Json, path: str, fields: object) -> Iterator[Violation]:
    """A limit on a field: `since`, `min_amount`, `created_before`."""
    if not isinstance(fields, dict):
        return
    found = bound_of(argument, fields)
    if found is None:
        return
    name, side = found
    value = fields[name]
    if type(value) is type(wanted) and not isinstance(value, bool) and not within(value, wanted, side):
        yield Violation(
            "arguments-respected/filter",
            path + pointer_of([name]),
            f"{argument} is {short(wanted)}, and {name} is {short(value)}",
            severity="warning",
            evidence={"asked": wanted, "shown": value},
        )


def _asked(seen: Seen) -> Iterator[Violation]:
    """The thing that was named is the thing that is shown."""
    asked = seen.asked_ids
    if len(asked) != 1 or seen.reading.verb not in ("get", "update", "act") or not seen.records:
        return
    record = seen.records[0]
    argument = seen.reading.id_arg
    own = next((n for n in record.fields if words(n) == words(argument)), record.id_field if record.id else "")
    shown = spelled(record.fields.get(own)) if own else ""
    renamed = seen.reading.writes and any(spelled(value) == shown for value in seen.arguments.values())
    if not shown or renamed or alike(asked[0], shown) or alike(shown, asked[0]):
        return
    if any(spelled(value).casefold() == asked[0].casefold() for value in record.fields.values()):
        return  # named by another of its fields: a login for an id
    yield Violation(
        "arguments-respected/id",
        record.path + pointer_of([own]),
        f"{argument} is {short(seen.arguments.get(argument))}, and {own} is {short(record.fields[own])}",
        evidence={"asked": asked[0], "shown": record.fields[own]},
    )


def _given(seen: Seen) -> Iterator[Violation]:
    """The fields that a call sets are the fields that its answer shows."""
    if not seen.writes:
        return
    for record in seen.records:
        for name, value in stated_by(seen, record.fields).items():
            shown = record.fields[name]
            if alike(value, shown) or isinstance(value, dict) or (isinstance(value, list) and isinstance(shown, list)):
                continue
            if type(value) is not type(shown) and not (
                isinstance(value, int | float) and isinstance(shown, int | float)
            ):
                continue  # shown in another form: a name as an object, a number as a text
            yield Violation(
                "arguments-respected/given",
                record.path + pointer_of([name]),
                f"{name} was given as {short(value)}, and is shown as {short(shown)}",
                evidence={"given": value, "shown": shown},
            )
