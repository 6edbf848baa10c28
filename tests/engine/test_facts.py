"""Stated facts hold: look-ups find them, lists and searches include them, filters and totals count them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_world import BadInput, World
from mcp_world.world.facts import load_facts
from tests.conftest import calling, case, mcp_world

ISSUES = {"issues": [{"owner": "acme", "repo": "web", "number": 41, "title": "Checkout is slow", "state": "open", "labels": ["bug"], "assignees": ["ana"]},
                     {"owner": "acme", "repo": "web", "number": 42, "title": "Old one", "state": "closed", "labels": []}]}  # fmt: skip
PLACE = {"owner": "acme", "repo": "web"}


@pytest.mark.anyio
async def test_the_reported_look_up_agrees_with_its_facts() -> None:
    reported = case("stated_facts")
    call = calling(reported["tools"], facts=reported["facts"])
    fact = reported["facts"]["transaction"][0]
    listed = json.loads(await call("list_transactions", account="acc_1"))
    assert listed == {"transactions": [fact], "total_count": 1}
    assert json.loads(await call("get_transaction", id="tx_9")) == fact
    assert json.loads(await call("list_transactions", account="acc_1", min_amount=450))["total_count"] == 1
    assert json.loads(await call("list_transactions", account="acc_1", min_amount=451))["total_count"] == 0
    assert json.loads(await call("list_transactions", account="acc_2"))["total_count"] == 0
    assert "not found" in await call.refused("get_transaction", id="tx_8")
    assert json.loads(await call("dispute_transaction", id="tx_9", reason="wrong"))["status"] == "disputed"
    assert json.loads(await call("get_transaction", id="tx_9"))["status"] == "disputed"


@pytest.mark.anyio
async def test_a_stated_record_is_filled_up_to_its_schema_and_keeps_what_was_stated() -> None:
    call = calling("source-hosting", facts=ISSUES)
    issue = await call("get_issue", **PLACE, issue_number=41)
    assert {k: issue[k] for k in ("title", "state", "labels", "assignees")} == {
        k: ISSUES["issues"][0][k] for k in ("title", "state", "labels", "assignees")
    }
    assert issue["html_url"].endswith("/acme/web/issues/41")


@pytest.mark.anyio
async def test_what_is_stated_of_a_kind_is_all_there_is_at_the_start() -> None:
    call = calling("source-hosting", facts=ISSUES)
    assert [i["number"] for i in (await call("list_issues", **PLACE, state="all"))["issues"]] == [42, 41] or (
        {i["number"] for i in (await call("list_issues", **PLACE, state="all"))["issues"]} == {41, 42}
    )
    assert (await call("list_issues", **PLACE))["total_count"] == 1
    assert (await call("list_issues", owner="other", repo="web"))["total_count"] == 0
    assert [i["number"] for i in (await call("search_issues", **PLACE, query="checkout"))["issues"]] == [41]
    assert (await call("create_issue", **PLACE, title="next"))["number"] == 43
    assert (await call("list_issues", **PLACE, state="all"))["total_count"] == 3


@pytest.mark.anyio
async def test_new_ids_go_on_from_stated_ones() -> None:
    call = calling(
        [
            *case("stated_facts")["tools"],
            {
                "name": "create_transaction",
                "inputSchema": {"type": "object", "properties": {"account": {"type": "string"}}},
            },
        ],
        facts=case("stated_facts")["facts"],
    )
    assert json.loads(await call("create_transaction", account="acc_1"))["id"] == "tx_10"


def test_a_fact_that_its_schema_does_not_allow_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"facts#/issues/0/state"):
        World("source-hosting", facts={"issues": [{"number": 1, "state": "frozen"}]})
    path = tmp_path / "f.yaml"
    path.write_text("issues: [{number: 1, state: frozen}]\n")
    done = mcp_world("serve", "source-hosting", "--facts", str(path))
    assert done.returncode == 2 and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"), [("- a", "a map of kinds"), ("issue: 5", "a list of records"), ("issue: [5]", "a map of fields")]
)
def test_facts_of_another_form_are_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=says):
        load_facts(path)


def test_facts_are_read_from_yaml_and_json(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("issue:\n- number: 1\n  opened: 2025-03-01\n")
    (tmp_path / "a.json").write_text('{"facts": {"issue": [{"number": 1, "opened": "2025-03-01"}]}}')
    assert (
        load_facts(tmp_path / "a.yaml")
        == load_facts(tmp_path / "a.json")
        == {"issue": [{"number": 1, "opened": "2025-03-01"}]}
    )
