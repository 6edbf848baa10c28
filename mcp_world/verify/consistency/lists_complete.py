"""What was made is listed: a list of all there is holds it."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Violation
from mcp_world.verify.account import Account, Thing
from mcp_world.verify.alike import alike
from mcp_world.verify.listing import whole
from mcp_world.verify.seen import Seen


def lists_complete(seen: Seen, account: Account) -> Iterator[Violation]:
    """A whole list without filters holds every thing that the agent has made within its scope."""
    if seen.failed or seen.writes or seen.reading.verb != "list" or seen.reading.filters_given(seen.arguments):
        return
    if not whole(seen) or not all(record.id for record in seen.records):
        return
    listed = {record.id for record in seen.records}
    for thing in account.of(seen.kind, seen.scope):
        if thing.made is None or thing.gone is not None or thing.moved is not None or thing.id in listed:
            continue
        if not _admitted(seen, thing):
            continue
        yield Violation(
            "lists-complete",
            seen.listing or "",
            f"{thing.kind} {thing.id} was made in step {thing.made}, and a list of all there is leaves it out",
            evidence={"step": thing.made, "listed": len(listed)},
        )


def _admitted(seen: Seen, thing: Thing) -> bool:
    """Whether the filters that hold by default let the thing through."""
    for name in seen.reading.filters:
        default = seen.reading.defaults.get(name)
        if default in (None, "", "all", "any") or default == []:
            continue
        if name not in thing.fields or not alike(default, thing.fields[name]):
            return False
    return True
