"""Totals agree with lists: there are never fewer in all than are shown, and a whole list is as long as it says."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Violation
from mcp_world.spec.names import kind_of, words
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.listing import envelope, limit_of, more_of, place_of, total_of
from mcp_world.verify.seen import Seen

_COUNTS = frozenset({("count",), ("returned",), ("num", "results"), ("result", "count"), ("results", "count")})


def totals_agree(seen: Seen, account: Account) -> Iterator[Violation]:
    """`total`, `count` and `has_more` beside a list agree with the list, and `labels_count` with the `labels` beside it."""
    yield from _counts(seen)
    if seen.failed or seen.listing is None or not seen.data:
        return
    listed = seen.listed
    around = envelope(seen)
    total, more = total_of(seen), more_of(seen)
    first = place_of(seen) in (None, 1)
    for name, (path, value) in around.items():
        if words(name) in _COUNTS and isinstance(value, int) and not isinstance(value, bool) and value < listed:
            yield _wrong(path, f"{name} is {value}, and {listed} are shown", value, listed)
    if total is None:
        return
    path = next(path for path, value in around.values() if value is total or value == total)
    if total < listed:
        yield _wrong(path, f"the total is {total}, and {listed} are shown", total, listed)
    elif first and more is False and total != listed:
        yield _wrong(path, f"the total is {total}, {listed} are shown, and there is no more", total, listed)
    elif first and more is None and total > listed:
        limit = limit_of(seen)
        paged = seen.reading.page or seen.reading.offset or seen.reading.cursor
        if paged and limit is not None and listed < limit:
            yield _wrong(path, f"the total is {total}, and a page of {limit} shows {listed}", total, listed)


def _counts(seen: Seen) -> Iterator[Violation]:
    """A field that counts what a list beside it holds is never below the list's length."""
    for record in seen.records:
        lists = {kind_of(name): (name, value) for name, value in record.fields.items() if isinstance(value, list)}
        for name, value in record.fields.items():
            parts = words(name)
            if parts[-1:] != ("count",) or not isinstance(value, int) or isinstance(value, bool):
                continue
            beside = lists.get(kind_of("_".join(parts[:-1])))
            if beside is not None and value < len(beside[1]):
                yield _wrong(
                    record.path + pointer_of([name]),
                    f"{name} is {value}, and {beside[0]} holds {len(beside[1])}",
                    value,
                    len(beside[1]),
                )


def _wrong(path: str, message: str, said: int, listed: int) -> Violation:
    return Violation("totals-agree", path, message, evidence={"said": said, "listed": listed})
