"""A world without a transport: five lines, isolated, repeatable, with its own clock."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import anyio
import pytest

import mcp_world
from mcp_world import Action, BadInput, Observation, World, load_one
from mcp_world.core.types import Prediction
from mcp_world.engines import engine_for
from mcp_world.engines.contract import Engine, Request
from tests.conftest import ROOT, calling, thing, tool

PLACE = {"owner": "acme", "repo": "web"}

ERRAND = [
    ("search_repositories", {"query": "billing"}), ("list_issues", {**PLACE, "state": "all"}), ("create_issue", {**PLACE, "title": "x", "labels": ["bug"]}),
    ("update_issue", {**PLACE, "issue_number": 2, "state": "closed"}), ("list_issues", {**PLACE, "state": "closed"}), ("get_issue", {**PLACE, "issue_number": 4242}),
    ("write_file", {**PLACE, "path": "a", "content": "b", "message": "c"}), ("get_file", {**PLACE, "path": "a"}), ("nope", {}), ("get_issue", {}),
]  # fmt: skip

SCRIPT = """
import asyncio, hashlib, json, sys
from mcp_world import Action, World
async def main():
    world = World("source-hosting", seed=int(sys.argv[1]))
    for tool, arguments in json.loads(sys.argv[2]):
        await world.step(Action(tool, arguments))
    print(hashlib.sha256(json.dumps([s.committed.to_json() for s in world.steps]).encode()).hexdigest())
asyncio.run(main())
"""


def test_the_five_lines_of_the_docstring_work() -> None:
    code = mcp_world.__doc__.split("in five lines:")[1]
    lines = "\n".join(line.removeprefix("    ") for line in code.splitlines())
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, timeout=60, check=True)
    assert "billing" in done.stdout.lower()


@pytest.mark.anyio
async def test_same_seed_spec_and_calls_give_the_same_bytes_in_another_process() -> None:
    world = World("source-hosting", seed=5)
    for name, arguments in ERRAND:
        await world.step(Action(name, arguments))
    ours = hashlib.sha256(json.dumps([s.committed.to_json() for s in world.steps]).encode()).hexdigest()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, "5", json.dumps(ERRAND)],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed, "TZ": "Asia/Tokyo"},
            cwd=ROOT,
        )
        assert done.stdout.strip() == ours


@pytest.mark.anyio
async def test_another_seed_is_another_world() -> None:
    one, two = [await calling("source-hosting", seed=seed)("list_issues", **PLACE) for seed in (1, 2)]
    assert one != two


@pytest.mark.anyio
async def test_what_stands_in_a_golden_answer_is_not_moved_by_chance() -> None:
    """If this changes, recorded runs of users change too: say so in the CHANGELOG."""
    answer = await calling("source-hosting", seed=7, start=datetime(2025, 3, 1, tzinfo=UTC))(
        "get_issue", **PLACE, issue_number=3
    )
    assert {k: answer[k] for k in ("number", "state", "comments", "created_at")} == GOLDEN


GOLDEN = {"number": 3, "state": "open", "comments": 5, "created_at": "2024-10-31T15:56:44Z"}


@pytest.mark.anyio
async def test_worlds_do_not_see_each_other() -> None:
    one, two = calling("crm", seed=1), calling("crm", seed=1)
    await one("delete_contact", contact_id=1)
    assert (await two("get_contact", contact_id=1))["id"] == 1


@pytest.mark.anyio
async def test_a_reset_world_begins_again_and_can_take_another_seed() -> None:
    call = calling("crm", seed=1)
    first = await call("get_contact", contact_id=1)
    await call("update_contact", contact_id=1, phone="123")
    await call.world.reset()
    assert await call("get_contact", contact_id=1) == first
    assert call.world.steps[-1].number == 1
    await call.world.reset(seed=2)
    assert await call("get_contact", contact_id=1) != first


@pytest.mark.anyio
async def test_the_clock_starts_where_it_is_told_and_moves_with_each_step() -> None:
    start = datetime(2024, 2, 29, 12, 0, tzinfo=UTC)
    call = calling("crm", start=start)
    one = await call("create_contact", first_name="A", last_name="B", email="a@example.com")
    two = await call("create_contact", first_name="A", last_name="B", email="a@example.com")
    assert one["created_at"] == "2024-02-29T12:00:00Z" < two["created_at"]
    assert calling("crm", seed=1).world.clock.now != calling("crm", seed=2).world.clock.now


@pytest.mark.anyio
async def test_steps_taken_at_once_come_one_after_the_other() -> None:
    world = World("crm", seed=1)
    async with anyio.create_task_group() as tg:
        for n in range(20):
            tg.start_soon(
                world.step, Action("create_contact", {"first_name": str(n), "last_name": "x", "email": "a@example.com"})
            )
    ids = [step.committed.structured["id"] for step in world.steps]
    assert len(set(ids)) == 20
    assert [step.number for step in world.steps] == list(range(1, 21))


class Scripted(Engine):
    """An engine that answers as it is told, one answer an attempt."""

    name = "scripted"

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    async def predict(self, request: Request) -> Prediction:
        self.requests.append(request)
        answer = self.answers[min(request.attempt, len(self.answers) - 1)]
        request.ledger.add("note", request.attempt)
        if isinstance(answer, Exception):
            raise answer
        return Prediction(answer, self.name)


NOTE = [tool("get_note", {}, thing(id={"type": "integer"}))]


def scripted(*answers: Any) -> tuple[World, Scripted]:
    engine = Scripted(*answers)
    return World(mcp_world.parse({"tools": NOTE}, name="t"), engine=engine), engine


def result(**parts: Any) -> Observation:
    return Observation({"content": [{"type": "text", "text": "x"}], **parts})


BROKEN = {
    "structured content that does not conform": (result(structuredContent={"id": "one"}), "schema"),
    "no structured content": (result(), "structured"),
    "content that is no list": (Observation({"content": "x", "structuredContent": {"id": 1}}), "content"),
    "an error with structured content": (result(isError=True, structuredContent={"id": 1}), "error-structured"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_prediction_is_asked_for_again_with_what_was_wrong(name: str) -> None:
    broken, rule = BROKEN[name]
    world, engine = scripted(broken, result(structuredContent={"id": 1}))
    observation = await world.step(Action("get_note"))
    assert observation.structured == {"id": 1}
    assert engine.requests[1].violations[0].rule == rule
    assert world.steps[0].attempts == 2
    assert [entity.id for entity in world.ledger.of("note")] == [1]


@pytest.mark.anyio
async def test_an_engine_that_is_never_valid_ends_in_an_error_and_leaves_no_trace() -> None:
    world, engine = scripted(result(structuredContent={"id": "one"}))
    observation = await world.step(Action("get_note"))
    assert observation.is_error and observation.structured is None
    assert len(engine.requests) == 4
    assert world.ledger.of("note") == []


@pytest.mark.anyio
async def test_an_engine_that_crashes_leaves_no_half_step() -> None:
    world, _ = scripted(RuntimeError("boom"))
    with pytest.raises(RuntimeError):
        await world.step(Action("get_note"))
    assert world.steps == [] and world.ledger.of("note") == []


@pytest.mark.anyio
async def test_a_refused_step_changes_nothing_but_is_a_step() -> None:
    call = calling("crm")
    before = call.world.ledger.to_json()
    await call.refused("get_contact", contact_id=9999)
    assert call.world.ledger.to_json() == before
    assert len(call.world.steps) == 1


@pytest.mark.anyio
async def test_the_ledger_shows_what_the_steps_have_shown_and_no_more() -> None:
    call = calling("crm")
    await call("list_contacts", limit=3)
    await call("update_contact", contact_id=9, phone="1")
    kinds = {(e["kind"], e["changed_at_step"]) for e in call.world.ledger.to_json() if e["kind"] == "contact"}
    assert len([e for e in call.world.ledger.to_json() if e["kind"] == "contact"]) <= 4
    assert ("contact", 2) in kinds


def test_an_engine_that_does_not_exist_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no engine 'warp'"):
        engine_for(load_one("crm"), "warp")
