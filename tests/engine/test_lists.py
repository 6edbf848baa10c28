"""Lists filter, sort, total and page consistently over repeated calls."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import calling

pytestmark = pytest.mark.anyio
PLACE = {"owner": "acme", "repo": "web"}


async def all_pages(call: Any, tool: str, items: str, step: str, **arguments: Any) -> list[Any]:
    """Everything, page by page, in the way of paging that the tool has."""
    out: list[Any] = []
    cursor, page = None, 1
    while True:
        where = (
            {"page": page}
            if step == "page"
            else {"offset": len(out)}
            if step == "offset"
            else {"cursor": cursor}
            if cursor
            else {}
        )
        answer = await call(tool, **arguments, **where)
        out += answer[items]
        cursor, page = answer.get("next_cursor"), page + 1
        if not answer[items] or (step == "cursor" and cursor is None):
            assert len(out) == answer["total_count"]
            return out


@pytest.mark.parametrize(
    ("spec", "tool", "items", "step", "size", "arguments"),
    [
        ("source-hosting", "list_issues", "issues", "page", {"per_page": 7}, {**PLACE, "state": "all"}),
        ("crm", "list_deals", "deals", "offset", {"limit": 7}, {}),
        ("chat", "list_channels", "channels", "cursor", {"limit": 7}, {}),
    ],
    ids=["page", "offset", "cursor"],
)
async def test_pages_neither_overlap_nor_skip_and_the_total_is_their_sum(
    spec: str, tool: str, items: str, step: str, size: dict[str, int], arguments: dict[str, Any]
) -> None:
    call = calling(spec)
    paged = await all_pages(call, tool, items, step, **size, **arguments)
    whole = (await call(tool, **arguments, **dict.fromkeys(size, 100)))[items]
    assert paged == whole
    assert len(whole) > 7


async def test_the_same_question_without_a_write_between_has_the_same_answer() -> None:
    call = calling("issue-tracker")
    first = await call("search_tickets", status="todo", limit=50)
    await call("list_projects")
    assert await call("search_tickets", status="todo", limit=50) == first


async def test_filters_admit_what_they_say_and_all_of_it() -> None:
    call = calling("source-hosting")
    everything = (await call("list_issues", **PLACE, state="all", per_page=100))["issues"]
    for state in ("open", "closed"):
        assert (await call("list_issues", **PLACE, state=state, per_page=100))["issues"] == [
            i for i in everything if i["state"] == state
        ]
    label = everything[0]["labels"][0]
    labelled = await call("list_issues", **PLACE, state="all", labels=[label], per_page=100)
    assert labelled["issues"] == [i for i in everything if label in i["labels"]]
    assert labelled["total_count"] == len(labelled["issues"])


async def test_a_default_of_the_schema_filters_too() -> None:
    call = calling("source-hosting")
    assert {i["state"] for i in (await call("list_issues", **PLACE, per_page=100))["issues"]} == {"open"}


@pytest.mark.parametrize(("argument", "field"), [("min_amount", "amount"), ("created_after", "created_at")])
async def test_bounds_bound_the_field_they_name(argument: str, field: str) -> None:
    call = calling("payments")
    everything = (await call("list_charges", limit=100))["charges"]
    middle = sorted(c[field] for c in everything)[len(everything) // 2]
    bounded = (await call("list_charges", limit=100, **{argument: middle}))["charges"]
    assert bounded == [c for c in everything if c[field] >= middle]
    assert 0 < len(bounded) < len(everything)


@pytest.mark.parametrize("order", ["asc", "desc"])
async def test_sorting_sorts(order: str) -> None:
    amounts = [
        d["amount"] for d in (await calling("crm")("list_deals", sort_by="amount", order=order, limit=100))["deals"]
    ]
    assert amounts == sorted(amounts, reverse=order == "desc")


async def test_a_list_is_newest_first_unless_it_says_otherwise() -> None:
    call = calling("source-hosting")
    times = [i["created_at"] for i in (await call("list_issues", **PLACE, state="all"))["issues"]]
    assert times == sorted(times, reverse=True)


async def test_a_search_finds_what_speaks_of_its_words_and_stays_the_same() -> None:
    call = calling("source-hosting")
    found = await call("search_repositories", query="billing")
    assert found["total_count"] == len(found["repositories"]) > 0
    assert all("billing" in repr(r).lower() for r in found["repositories"])
    assert await call("search_repositories", query="billing") == found


async def test_a_search_finds_what_was_made_and_its_qualifiers_hold() -> None:
    call = calling("source-hosting")
    number = (await call("create_issue", **PLACE, title="Zebra crossing broken"))["number"]
    assert number in [i["number"] for i in (await call("search_issues", **PLACE, query="zebra"))["issues"]]
    assert number not in [
        i["number"] for i in (await call("search_issues", **PLACE, query="zebra state:closed"))["issues"]
    ]


async def test_once_all_there_is_was_listed_a_search_invents_nothing() -> None:
    call = calling("crm")
    total = (await call("list_contacts"))["total_count"]
    await call("search_contacts", query="quetzalcoatl")
    assert (await call("list_contacts"))["total_count"] == total


async def test_an_invented_cursor_is_refused() -> None:
    assert await calling("chat").refused("list_channels", cursor="???") == "Invalid cursor: ???"


async def test_lists_agree_with_reads() -> None:
    call = calling("crm")
    for deal in (await call("list_deals", limit=10))["deals"]:
        assert await call("get_deal", deal_id=deal["id"]) == deal


async def test_things_refer_to_things_that_are_there() -> None:
    call = calling("crm")
    for deal in (await call("list_deals", limit=10))["deals"]:
        assert (await call("get_company", company_id=deal["company_id"]))["id"] == deal["company_id"]
        assert (await call("get_contact", contact_id=deal["contact_id"]))["id"] == deal["contact_id"]
