"""Things are made, read back, changed, listed and deleted, and what is not there is refused in the service's voice."""

from __future__ import annotations

import pytest

from tests.conftest import calling, real_spec, thing, tool

pytestmark = pytest.mark.anyio
PLACE = {"owner": "acme", "repo": "web"}


async def test_what_is_made_is_read_back_with_an_id_in_the_style_of_the_others() -> None:
    call = calling("source-hosting")
    highest = max(
        issue["number"] for issue in (await call("list_issues", **PLACE, state="all", per_page=100))["issues"]
    )
    made = await call("create_issue", **PLACE, title="Crash", labels=["bug"], assignees=["ana"])
    assert made["number"] == highest + 1
    assert (made["title"], made["labels"], made["assignees"], made["state"], made["comments"], made["closed_at"]) == (
        "Crash",
        ["bug"],
        ["ana"],
        "open",
        0,
        None,
    )
    assert await call("get_issue", **PLACE, issue_number=made["number"]) == made
    assert (await call("list_issues", **PLACE, per_page=1))["issues"] == [made]


@pytest.mark.parametrize(("spec", "make", "arguments", "pattern"), [
    ("payments", "create_customer", {"name": "Ana", "email": "ana@example.com"}, r"^cus_[A-Za-z0-9]{14}$"),
    ("chat", "create_channel", {"name": "news"}, r"^C[A-Z0-9]{8}$"),
    ("email", "create_label", {"name": "x"}, r"^l[0-9]{4}$"),
    ("issue-tracker", "create_ticket", {"project_key": "WEB", "title": "x"}, r"^WEB-[0-9]+$"),
])  # fmt: skip
async def test_ids_have_the_form_of_their_service(
    spec: str, make: str, arguments: dict[str, str], pattern: str
) -> None:
    import re

    made = await calling(spec)(make, **arguments)
    assert re.match(pattern, made.get("id", made.get("key")))


async def test_an_update_changes_what_it_says_and_nothing_else() -> None:
    call = calling("source-hosting")
    before = await call("get_issue", **PLACE, issue_number=2)
    after = await call("update_issue", **PLACE, issue_number=2, title="New title")
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {"title", "updated_at"}
    assert after["updated_at"] > before["updated_at"]


async def test_closing_and_reopening_move_state_and_time_together() -> None:
    call = calling("source-hosting")
    number = (await call("create_issue", **PLACE, title="x"))["number"]
    closed = await call("update_issue", **PLACE, issue_number=number, state="closed")
    assert closed["closed_at"] is not None
    reopened = await call("update_issue", **PLACE, issue_number=number, state="open")
    assert reopened["closed_at"] is None


async def test_a_deleted_thing_is_gone_from_reads_lists_and_counts() -> None:
    call = calling("crm")
    total = (await call("list_contacts"))["total_count"]
    assert await call("delete_contact", contact_id=3) == {"success": True, "id": 3}
    assert await call.refused("get_contact", contact_id=3) == "Contact not found: 3"
    assert await call.refused("update_contact", contact_id=3, phone="1") == "Contact not found: 3"
    assert await call.refused("delete_contact", contact_id=3) == "Contact not found: 3"
    after = await call("list_contacts", limit=100)
    assert after["total_count"] == total - 1
    assert 3 not in [contact["id"] for contact in after["contacts"]]


async def test_an_id_is_never_given_twice() -> None:
    call = calling("crm")
    first = await call("create_contact", first_name="A", last_name="B", email="a@example.com")
    await call("delete_contact", contact_id=first["id"])
    second = await call("create_contact", first_name="A", last_name="B", email="a@example.com")
    assert second["id"] != first["id"]


async def test_what_is_not_there_is_refused_in_each_sdks_voice() -> None:
    assert await calling("source-hosting").refused("get_issue", **PLACE, issue_number=9999) == "Issue not found: 9999"
    assert await calling("crm").refused("get_deal", deal_id=9999) == "Deal not found: 9999"
    assert (
        await calling("email").refused("get_message", message_id="m0000000000")
        == "Error executing tool get_message: Message not found: m0000000000"
    )


async def test_what_is_there_already_is_refused() -> None:
    call = calling("kubernetes")
    await call("create_namespace", name="billing")
    assert await call.refused("create_namespace", name="billing") == "Namespace already exists: billing"


async def test_what_was_done_once_is_not_done_twice() -> None:
    call = calling("source-hosting")
    number = (await call("create_pull_request", **PLACE, title="x", head="a", base="main"))["number"]
    merged = await call("merge_pull_request", **PLACE, pull_number=number)
    assert merged["state"] == "merged" and merged["merged_at"] is not None
    assert (
        await call.refused("merge_pull_request", **PLACE, pull_number=number)
        == f"Pull request {number} is already merged"
    )


async def test_the_same_idempotency_key_makes_one_charge() -> None:
    call = calling("payments")
    customer = (await call("list_customers", limit=1))["customers"][0]["id"]
    charge = {"customer_id": customer, "amount": 500, "currency": "eur", "idempotency_key": "k1"}
    first, again = await call("create_charge", **charge), await call("create_charge", **charge)
    other = await call("create_charge", **{**charge, "idempotency_key": "k2"})
    assert first["id"] == again["id"] != other["id"]


async def test_a_name_nothing_speaks_against_is_there_and_stays_the_same() -> None:
    call = calling("source-hosting")
    assert await call("get_repository", owner="acme", repo="web") == await call(
        "get_repository", owner="acme", repo="web"
    )


async def test_a_name_that_a_full_list_does_not_hold_is_refused() -> None:
    call = calling("kubernetes")
    names = [n["name"] for n in (await call("list_namespaces"))["namespaces"]]
    assert (await call("list_pods", namespace=names[0]))["total_count"] >= 0
    assert await call.refused("list_pods", namespace="elsewhere") == "Namespace not found: elsewhere"


async def test_a_name_that_says_it_is_missing_is() -> None:
    assert "not found" in await calling("source-hosting").refused("get_repository", owner="acme", repo="no-such-repo")


async def test_what_belongs_to_a_deleted_thing_is_gone_with_it() -> None:
    call = calling("kubernetes")
    await call("create_deployment", namespace="prod", name="api", image="api:1")
    await call("delete_deployment", namespace="prod", deployment_name="api")
    assert "not found" in await call.refused("scale_deployment", namespace="prod", deployment_name="api", replicas=2)


async def test_comments_belong_to_their_issue_and_are_counted_there() -> None:
    call = calling("source-hosting")
    one = (await call("create_issue", **PLACE, title="one"))["number"]
    two = (await call("create_issue", **PLACE, title="two"))["number"]
    for text in ("a", "b"):
        await call("add_issue_comment", **PLACE, issue_number=one, body=text)
    assert (await call("get_issue", **PLACE, issue_number=one))["comments"] == 2
    assert (await call("get_issue", **PLACE, issue_number=two))["comments"] == 0
    assert [c["body"] for c in (await call("list_issue_comments", **PLACE, issue_number=one))["comments"]] == ["a", "b"]
    assert "not found" in await call.refused("add_issue_comment", **PLACE, issue_number=9999, body="x")


async def test_counts_of_found_things_agree_with_their_lists() -> None:
    call = calling("source-hosting")
    for issue in (await call("list_issues", **PLACE, state="all"))["issues"][:6]:
        assert (
            issue["comments"]
            == (await call("list_issue_comments", **PLACE, issue_number=issue["number"]))["total_count"]
        )


async def test_an_address_contains_what_it_points_to() -> None:
    issue = await calling("source-hosting")("get_issue", **PLACE, issue_number=2)
    assert issue["html_url"].endswith("/acme/web/issues/2")


async def test_an_invoice_adds_up_whoever_made_it() -> None:
    call = calling("payments")
    customer = (await call("list_customers", limit=1))["customers"][0]["id"]
    made = await call(
        "create_invoice", customer_id=customer, lines=[{"description": "a", "quantity": 3, "unit_price": 200}]
    )
    assert (made["subtotal"], made["total"]) == (600, 600)
    for invoice in (await call("list_invoices", limit=20))["invoices"]:
        assert invoice["subtotal"] == sum(line["quantity"] * line["unit_price"] for line in invoice["lines"])
        assert invoice["total"] == invoice["subtotal"] + invoice["tax"]


async def test_a_batch_works_item_by_item() -> None:
    call = calling("crm")
    people = [{"first_name": n, "last_name": "X", "email": f"{n}@example.com"} for n in ("a", "b", "c")]
    made = await call("create_contacts", contacts=people)
    assert made["count"] == 3
    assert [c["first_name"] for c in made["contacts"]] == ["a", "b", "c"]
    assert len({c["id"] for c in made["contacts"]}) == 3
    assert await call("get_contact", contact_id=made["contacts"][1]["id"]) == made["contacts"][1]


async def test_a_batch_that_is_refused_changes_nothing() -> None:
    call = calling([
        tool("delete_notes", {"ids": {"type": "array", "items": {"type": "integer"}}}),
        tool("list_notes", {}, thing(notes={"type": "array", "items": thing(id={"type": "integer"}, title={"type": "string"})})),
    ])  # fmt: skip
    before = await call("list_notes")
    assert "not found" in await call.refused("delete_notes", ids=[1, 2, 9999])
    assert await call("list_notes") == before


async def test_a_renamed_file_is_where_it_was_moved_and_a_copy_is_its_own() -> None:
    call = calling("files")
    await call("write_file", path="/a/one.txt", content="hello")
    await call("rename_file", path="/a/one.txt", new_path="/b/two.txt")
    assert "not found" in await call.refused("read_file", path="/a/one.txt")
    await call("copy_file", source_path="/b/two.txt", target_path="/b/three.txt")
    await call("write_file", path="/b/two.txt", content="changed")
    assert (await call("read_file", path="/b/three.txt"))["content"] == "hello"
    assert "/b/three.txt" in [f["path"] for f in (await call("list_files", folder="/b", limit=100))["files"]]


async def test_setting_a_part_of_a_thing_changes_the_thing() -> None:
    call = calling("chat")
    channel = (await call("list_channels", limit=1))["channels"][0]["id"]
    await call("set_channel_topic", channel_id=channel, topic="Lunch")
    assert (await call("get_channel", channel_id=channel))["topic"] == "Lunch"


async def test_a_function_gives_the_same_answer_for_the_same_arguments_and_echoes_them() -> None:
    call = calling("weather")
    oslo = await call("get_current_weather", location="Oslo")
    assert oslo["location"] == "Oslo"
    again = await call("get_current_weather", location="Oslo")
    assert {k: v for k, v in oslo.items() if k != "observed_at"} == {
        k: v for k, v in again.items() if k != "observed_at"
    }
    assert (await call("get_current_weather", location="Lima"))["temperature"] != oslo["temperature"]


async def test_a_function_gives_as_many_as_it_is_asked_for_and_in_order() -> None:
    days = (await calling("weather")("get_forecast", location="Oslo", days=4))["days"]
    assert len(days) == 4
    assert [d["date"] for d in days] == sorted(d["date"] for d in days)
    assert all(d["low"] <= d["high"] for d in days)


async def test_a_reported_error_with_structured_content_does_not_happen_on_any_path() -> None:
    from tests.conftest import case

    reported = case("error_with_structured_content")
    call = calling([reported["tool"]])
    await call.refused(reported["call"]["name"], **reported["call"]["arguments"])
    await call.refused("git_push", branch="no-such-branch", remote=5)
    pushed = await call("git_push", branch="main", remote="origin")
    assert pushed["success"] is True and pushed["remote"] == "origin"


async def test_a_tool_without_an_output_schema_speaks_json_of_what_it_reads_and_prose_of_what_it_deletes() -> None:
    import json

    call = calling(
        [
            tool("get_note", {"id": {"type": "integer"}}),
            tool("create_note", {"title": {"type": "string"}}),
            tool("delete_note", {"id": {"type": "integer"}}),
        ]
    )
    made = json.loads(await call("create_note", title="Milk"))
    assert made["title"] == "Milk"
    assert json.loads(await call("get_note", id=made["id"])) == made
    assert await call("delete_note", id=made["id"]) == f"Note {made['id']} deleted successfully"


async def test_a_recorded_github_does_the_errand_from_its_schemas_alone() -> None:
    import json

    from mcp_world import World, load_one
    from tests.conftest import Caller

    call = Caller(World(load_one(str(real_spec("github"))), seed=7))
    made = json.loads(await call("create_issue", owner="acme", repo="web", title="Crash", labels=["bug"]))
    assert (
        json.loads(await call("get_issue", owner="acme", repo="web", issue_number=made["number"]))["title"] == "Crash"
    )
    await call("update_issue", owner="acme", repo="web", issue_number=made["number"], state="closed")
    assert made["number"] in [
        i["number"]
        for i in json.loads(await call("list_issues", owner="acme", repo="web", state="closed", per_page=100))["issues"]
    ]
