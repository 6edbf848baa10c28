"""Pages of one list neither overlap nor skip."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_world.core.types import Violation
from mcp_world.verify.account import Account, Page
from mcp_world.verify.listing import limit_of, place_of, series, total_of
from mcp_world.verify.seen import Seen


def pages_apart(seen: Seen, account: Account) -> Iterator[Violation]:
    """With nothing written between, no two pages of a list hold one thing, no full list is cut short, and the total stays."""
    if seen.failed or seen.writes or seen.listing is None:
        return
    here = place_of(seen)
    ids = tuple(record.id for record in seen.records)
    total = total_of(seen)
    pages = [page for page in account.pages.get(series(seen), ()) if page.step >= account.last_write]
    others = [page for page in pages if page.place != here and page.ids]
    for page in others:
        if page.total is not None and total is not None and page.total != total:
            yield Violation(
                "pages-apart",
                seen.listing,
                f"the total is {total}, and was {page.total} on the page of step {page.step}",
                evidence={"step": page.step, "before": page.total, "now": total},
            )
        if _may_overlap(seen, page, here, len(ids)):
            continue
        for index, id in enumerate(ids):
            if id and id in page.ids:
                yield Violation(
                    "pages-apart",
                    f"{seen.listing}/{index}",
                    f"{seen.kind} {id} stood on another page, in step {page.step}",
                    evidence={"step": page.step, "id": id},
                )
                break
    yield from _skipped(seen, others, here, ids)


def _may_overlap(seen: Seen, page: Page, here: object, count: int) -> bool:
    """Whether two stretches of a list, by offset, have places in common."""
    if not seen.reading.offset:
        return False
    start, other = _number(here), _number(page.place)
    return start < other + len(page.ids) and other < start + count


def _skipped(seen: Seen, others: list[Page], here: object, ids: tuple[str, ...]) -> Iterator[Violation]:
    """A page that holds fewer than the limit is the last; things behind it were skipped."""
    limit, page_arg = limit_of(seen), seen.reading.page
    if not page_arg or limit is None or not ids or not isinstance(here, int):
        return
    for page in others:
        if page.place == here - 1 and len(page.ids) < limit:
            yield Violation(
                "pages-apart",
                seen.listing or "",
                f"page {page.place} held {len(page.ids)} of {limit}, so that it was the last, and this one holds {len(ids)}",
                severity="warning",
                evidence={"step": page.step},
            )


def _number(place: object) -> int:
    return place if isinstance(place, int) else 0
