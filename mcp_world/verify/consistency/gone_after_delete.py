"""What was deleted is gone: it is neither read nor listed again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_world.core.types import Json, Violation
from mcp_world.spec.names import words
from mcp_world.verify.account import Account
from mcp_world.verify.seen import Seen

_SIGNS = frozenset({"deleted", "removed", "trashed", "archived", "destroyed", "purged", "tombstone", "cancelled", "canceled",
                    "inactive", "closed", "terminated", "terminating"})  # fmt: skip


def gone_after_delete(seen: Seen, account: Account) -> Iterator[Violation]:
    """No answer shows a deleted thing, unless it says that it is deleted, or a call has made it again."""
    if seen.failed or seen.reading.verb in ("create", "upsert", "call", "delete"):
        return
    if seen.reading.word in ("restore", "undelete", "recover", "reopen"):
        return
    for record in seen.records:
        thing = account.thing(seen.kind, record.id, seen.scope) if record.id else None
        if thing is None or thing.gone is None or _says_so(record.fields):
            continue
        yield Violation(
            "gone-after-delete",
            record.path,
            f"{thing.kind} {thing.id} was deleted in step {thing.gone}",
            evidence={"step": thing.gone},
        )


def _says_so(fields: Mapping[str, Json]) -> bool:
    """Whether a record says of itself that it is deleted: a flag, a time of deletion, a state."""
    for name, value in fields.items():
        if value and _SIGNS.intersection(words(name)):
            return True
        if (
            isinstance(value, str)
            and words(name)[-1:] in (("status",), ("state",))
            and _SIGNS.intersection(words(value))
        ):
            return True
    return False
