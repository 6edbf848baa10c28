"""Time does not run backwards: within a thing, from one answer to the next, from one thing made to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from mcp_world.core.types import Json, Violation
from mcp_world.spec.names import words
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.alike import moment
from mcp_world.verify.seen import Record, Seen

_MADE = frozenset({("created",), ("created", "at"), ("created", "on"), ("created", "time"), ("creation", "time"),
                   ("creation", "timestamp"), ("date", "created"), ("created", "date"), ("creation", "date")})  # fmt: skip
_CHANGED = frozenset({("updated",), ("updated", "at"), ("updated", "on"), ("modified",), ("modified", "at"), ("last", "modified"),
                      ("modified", "time"), ("updated", "time"), ("last", "updated"), ("date", "modified"), ("modified", "on"),
                      ("date", "updated")})  # fmt: skip
_LATER = _CHANGED | frozenset({("closed", "at"), ("merged", "at"), ("deleted", "at"), ("archived", "at"), ("completed", "at"),
                               ("resolved", "at"), ("cancelled", "at"), ("canceled", "at"), ("finished", "at"),
                               ("ended", "at")})  # fmt: skip


def time_forward(seen: Seen, account: Account) -> Iterator[Violation]:
    """Nothing was changed, closed or deleted before it was made, nor made or changed before what an earlier step did."""
    if seen.failed:
        return
    for record in seen.records:
        times = {name: found for name, value in record.fields.items() if (found := moment(value)) is not None}
        if not times:
            continue
        made = next((name for name in times if words(name) in _MADE), "")
        for name, time in times.items():
            if made and words(name) in _LATER and _before(record.fields, name, time, made, times[made]):
                yield _wrong(record, name, f"{name} is before {made}", record.fields[made])
        yield from _since(seen, account, record, times, made)


def _since(
    seen: Seen, account: Account, record: Record, times: Mapping[str, datetime], made: str
) -> Iterator[Violation]:
    """Against what earlier steps showed."""
    thing = account.thing(seen.kind, record.id, seen.scope) if record.id else None
    for name, time in times.items():
        known = moment(thing.fields.get(name)) if thing is not None and thing.gone is None else None
        if thing is None or known is None or words(name) not in _CHANGED:
            continue
        if _before(record.fields, name, time, name, known):
            yield _wrong(record, name, f"{name} was later in step {thing.said.get(name)}", thing.fields[name])
    if made and seen.reading.verb == "create" and thing is None:
        for other in account.of(seen.kind, seen.scope):
            earlier = moment(other.fields.get(made)) if other.made is not None else None
            if earlier is not None and _before(record.fields, made, times[made], made, earlier):
                said = f"{made} is before that of {other.kind} {other.id}, which was made before, in step {other.made}"
                yield _wrong(record, made, said, other.fields[made])
                return


def _before(fields: Mapping[str, Json], name: str, time: datetime, other_name: str, other: datetime) -> bool:
    """Whether a time is before another; where one is a mere day, by days."""
    lengths = [len(str(fields.get(n) or "")) for n in (name, other_name)]
    if min(lengths) <= 10:
        return time.date() < other.date()
    return time < other


def _wrong(record: Record, name: str, message: str, other: Json) -> Violation:
    return Violation(
        "time-forward",
        record.path + pointer_of([name]),
        message,
        evidence={"time": record.fields[name], "other": other},
    )
