"""The same question gets the same answer, as long as nothing is written between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_world.core.types import Json, Violation
from mcp_world.spec.names import words
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.alike import alike, moment, moves, short
from mcp_world.verify.seen import Seen

_CHANCE = frozenset({"random", "shuffle", "sample", "now", "time", "clock", "date", "poll", "wait", "next", "more", "receive", "pop",
                     "tail", "stream", "latest", "generate", "uuid", "monitor", "watch", "live", "progress", "stats",
                     "metrics", "price", "quote", "screenshot", "snapshot"})  # fmt: skip
"""Words in the names of tools whose answers change by themselves."""


def same_answer(seen: Seen, account: Account) -> Iterator[Violation]:
    """A read asked twice answers twice the same, but for fields that move by themselves and the order of members."""
    if seen.failed or seen.writes or _CHANCE.intersection(words(seen.tool.own_name)):
        return
    before = account.answer(seen)
    if before is None:
        return
    if seen.data is None or before.data is None:
        if (seen.data is None) != (before.data is None) or seen.observation.text != before.text:
            yield _other(seen, before.step, "", before.text, seen.observation.text)
        return
    found = _difference(before.data, seen.data, "")
    if found is not None:
        path, old, new = found
        yield _other(seen, before.step, path, old, new)


def _other(seen: Seen, step: int, path: str, old: Json, new: Json) -> Violation:
    return Violation(
        "same-answer",
        path,
        f"the same call of {seen.tool.name} in step {step} showed {short(old)}, and nothing was written since",
        evidence={"step": step, "before": old, "now": new},
    )


def _difference(old: Json, new: Json, path: str) -> tuple[str, Json, Json] | None:
    """The first place at which two answers differ."""
    if isinstance(old, dict) and isinstance(new, dict):
        return _members(old, new, path)
    if isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            return path, old, new
        found = (_difference(a, b, f"{path}/{index}") for index, (a, b) in enumerate(zip(old, new, strict=True)))
        return next((difference for difference in found if difference is not None), None)
    if alike(old, new) or (moment(old) is not None and moment(new) is not None and not path):
        return None
    return path, old, new


def _members(old: Mapping[str, Json], new: Mapping[str, Json], path: str) -> tuple[str, Json, Json] | None:
    for name in dict.fromkeys((*old, *new)):
        if moves(name) or {"ms", "took", "request", "cached", "time"}.intersection(words(name)):
            continue
        found = _difference(old.get(name), new.get(name), path + pointer_of([name]))
        if found is not None:
            return found
    return None
