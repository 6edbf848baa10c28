"""What never changes stays: ids, and when and by whom a thing was made."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Violation
from mcp_world.spec.names import words
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.alike import alike, short
from mcp_world.verify.seen import Seen

_IMMUTABLE = frozenset({
    ("id",), ("uuid",), ("guid",), ("node", "id"), ("created",), ("created", "at"), ("created", "on"), ("created", "by"),
    ("created", "time"), ("creation", "time"), ("creation", "timestamp"), ("creation", "date"), ("date", "created"),
    ("created", "date"), ("creator",),
})  # fmt: skip


def immutable_fields(seen: Seen, account: Account) -> Iterator[Violation]:
    """An id, a time of making and a maker are as they were first shown, whatever was written since."""
    if seen.failed or seen.reading.verb == "create":
        return
    for record in seen.records:
        thing = account.thing(seen.kind, record.id, seen.scope) if record.id else None
        if thing is None or thing.gone is not None or not (seen.writes or thing.fields):
            continue
        for name, value in record.fields.items():
            known = thing.fields.get(name)
            if words(name) not in _IMMUTABLE or known is None or value is None or isinstance(value, dict):
                continue
            if not alike(known, value):
                yield Violation(
                    "immutable-fields",
                    record.path + pointer_of([name]),
                    f"{thing.kind} {thing.id}: {name} was {short(known)} in step {thing.said[name]}, and never changes",
                    evidence={"step": thing.said[name], "before": known, "now": value},
                )
