"""No id is given twice."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Json, Violation
from mcp_world.spec.names import words
from mcp_world.spec.reading import is_natural
from mcp_world.spec.schema import pointer_of
from mcp_world.verify.account import Account
from mcp_world.verify.seen import Record, Seen

_PLACES = frozenset({"url", "uri", "link", "href", "repository", "repo", "project", "owner", "parent", "path", "namespace", "org",
                     "organization", "workspace", "account", "channel", "list", "board", "database", "schema", "table", "team",
                     "folder", "calendar", "version"})  # fmt: skip
"""Words of fields that say where a thing lies: the same number in another repository is another thing."""


def unique_ids(seen: Seen, account: Account) -> Iterator[Violation]:
    """What is made gets an id that nothing had, gone things included; a list names nothing twice."""
    if seen.reading.verb == "create" and seen.writes and not seen.failed:
        for record in seen.records:
            if not record.id or is_natural(record.id_field):
                continue  # people make such names up, and may write a thing of the same name again
            if spelled_by_caller(seen, record):
                continue
            thing = account.thing(seen.kind, record.id, seen.scope)
            if thing is not None:
                yield Violation(
                    "unique-ids",
                    record.path + pointer_of([record.id_field]),
                    f"{seen.kind} {record.id} exists already, and this call was to make a new one",
                    evidence={"id": record.id, "made": thing.made, "gone": thing.gone},
                )
    if seen.listing is None:
        return
    found: dict[tuple[str, tuple[str, ...]], Record] = {}
    for record in seen.records:
        if not record.id:
            continue
        key = (record.id, tuple(repr(v) for n, v in record.fields.items() if n != record.id_field and _places(n, v)))
        first = found.setdefault(key, record)
        if first is not record and (not is_natural(record.id_field) or first.fields == record.fields):
            yield Violation(
                "unique-ids",
                record.path,
                f"{seen.kind} {record.id} stands in the list twice",
                evidence={"first": first.path},
            )


def spelled_by_caller(seen: Seen, record: Record) -> bool:
    """Whether the call itself gave the id, as calls that make or replace do."""
    return any(str(value) == record.id for value in seen.arguments.values() if isinstance(value, str | int))


def _places(name: str, value: Json) -> bool:
    return value is not None and bool(_PLACES.intersection(words(name)))
