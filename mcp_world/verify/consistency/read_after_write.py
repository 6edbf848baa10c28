"""What was written is what is read; and what was read stays so until something is written."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Violation
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.alike import alike, moment, moves, short
from mcp_world.verify.seen import Seen


def read_after_write(seen: Seen, account: Account) -> Iterator[Violation]:
    """Fields of known things are as they were last set or shown, in reads and in lists."""
    if seen.writes:
        return
    for record in seen.records:
        thing = account.thing(seen.kind, record.id, seen.scope) if record.id else None
        if thing is None or thing.gone is not None:
            continue
        for name, value in record.fields.items():
            if name not in thing.fields or moves(name) or not account.holds(thing, name):
                continue
            known = thing.fields[name]
            if alike(known, value) or alike(value, known) or (_shorter(known, value) and seen.listing is not None):
                continue
            step = max(thing.said.get(name, 0), thing.stated.get(name, 0))
            how = "set" if thing.stated.get(name) == step else "shown"
            yield Violation(
                "read-after-write",
                record.path + pointer_of([name]),
                f"{thing.kind} {thing.id}: {name} was {how} as {short(known)} in step {step}",
                evidence={"step": step, "before": known, "now": value},
            )


def _shorter(known: object, value: object) -> bool:
    """Whether a list shows less of a value than a read does: part of a text, of an object, of a list."""
    if isinstance(known, str) and isinstance(value, str) and moment(known) is None:
        return len(known) > 60 and known.startswith(value[:40]) and bool(value)
    if isinstance(known, dict) or isinstance(value, dict):
        return True
    return isinstance(known, list) and isinstance(value, list)
