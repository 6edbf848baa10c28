"""Rules of consistency: silent on real servers, and each is woken by an observation that breaks it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_world import Action, Observation, load_one, parse
from mcp_world.core.types import Json
from mcp_world.evaluate.fidelity import action_of, observation_of
from mcp_world.spec.cassette import read_cassette
from mcp_world.verify.verifier import Episode
from tests.conftest import SHARED, needs_shared, real_spec

SESSIONS = sorted((SHARED / "real" / "sessions").glob("*.jsonl"))


def tool(name: str, *arguments: str, **more: object) -> dict[str, Any]:
    properties = {
        argument: {"type": "integer" if argument in ("limit", "page") else "string"} for argument in arguments
    }
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}, **more}


TOOLS = [
    tool("create_ticket", "title", "status"),
    tool("get_ticket", "ticket_id"),
    tool("update_ticket", "ticket_id", "title", "status"),
    tool("delete_ticket", "ticket_id"),
    tool("list_tickets", "status", "limit", "page"),
]


def said(data: Json) -> Observation:
    return Observation({"content": [{"type": "text", "text": json.dumps(data)}]})


def rules_broken(*steps: tuple[str, dict[str, Json], Json]) -> set[str]:
    """The rules that the last of some steps breaks; those before it break none."""
    spec = parse({"tools": TOOLS}, name="tickets")
    episode = Episode(spec)
    broken: set[str] = set()
    for number, (name, arguments, data) in enumerate(steps, 1):
        assert not broken, broken
        verdict = episode.record(Action(name, arguments), said(data), number)
        broken = {violation.rule for violation in verdict.violations}
    return broken


MADE = ("create_ticket", {"title": "Leak"}, {"id": "t-1", "title": "Leak", "status": "open"})
OTHER = ("create_ticket", {"title": "Noise"}, {"id": "t-2", "title": "Noise", "status": "open"})
DELETED = ("delete_ticket", {"ticket_id": "t-1"}, {"deleted": True})


def test_an_episode_that_keeps_to_itself_breaks_no_rule() -> None:
    assert not rules_broken(
        MADE,
        OTHER,
        ("get_ticket", {"ticket_id": "t-1"}, {"id": "t-1", "title": "Leak", "status": "open"}),
        ("list_tickets", {}, {"tickets": [MADE[2], OTHER[2]], "total": 2}),
        ("update_ticket", {"ticket_id": "t-1", "status": "done"}, {"id": "t-1", "title": "Leak", "status": "done"}),
        ("list_tickets", {"status": "open"}, {"tickets": [OTHER[2]], "total": 1}),
        DELETED,
        ("list_tickets", {}, {"tickets": [OTHER[2]], "total": 1}),
    )


@pytest.mark.parametrize(
    ("rule", "steps"),
    [
        ("read-after-write", [MADE, ("get_ticket", {"ticket_id": "t-1"}, {**MADE[2], "title": "Flood"})]),
        ("gone-after-delete", [MADE, DELETED, ("get_ticket", {"ticket_id": "t-1"}, MADE[2])]),
        ("unique-ids", [MADE, ("create_ticket", {"title": "Noise"}, {**OTHER[2], "id": "t-1"})]),
        ("lists-complete", [MADE, OTHER, ("list_tickets", {}, {"tickets": [OTHER[2]], "total": 1})]),
        ("totals-agree", [MADE, ("list_tickets", {}, {"tickets": [MADE[2]], "total": 0})]),
        ("filter", [MADE, ("list_tickets", {"status": "done"}, {"tickets": [MADE[2]], "total": 1})]),
        ("pages-apart", [
            ("list_tickets", {"limit": 1, "page": 1}, {"tickets": [MADE[2]]}),
            ("list_tickets", {"limit": 1, "page": 2}, {"tickets": [MADE[2]]}),
        ]),
        ("same-answer", [
            ("list_tickets", {"status": "open"}, {"tickets": [MADE[2]]}),
            ("list_tickets", {"status": "open"}, {"tickets": [MADE[2], OTHER[2]]}),
        ]),
        ("time-forward", [
            ("get_ticket", {"ticket_id": "t-1"}, {"id": "t-1", "created_at": "2026-02-01", "updated_at": "2026-01-01"}),
        ]),
        ("immutable-fields", [
            ("get_ticket", {"ticket_id": "t-1"}, {"id": "t-1", "created_at": "2026-01-01"}),
            ("update_ticket", {"ticket_id": "t-1", "title": "Flood"}, {"id": "t-1", "created_at": "2026-01-02"}),
        ]),
    ],
)  # fmt: skip
def test_a_step_that_breaks_a_rule_is_told_by_its_name(
    rule: str, steps: list[tuple[str, dict[str, Json], Json]]
) -> None:
    assert rule in {name.rpartition("/")[2] for name in rules_broken(*steps)}


@needs_shared
@pytest.mark.parametrize("name", [path.stem for path in SESSIONS])
def test_real_servers_break_no_rule(name: str) -> None:
    calls = [call for call in read_cassette(SHARED / "real" / "sessions" / f"{name}.jsonl").calls if call.tool]
    episode = Episode(load_one(str(real_spec(name))))
    verdicts = [
        (call.tool, episode.record(action_of(call), observation_of(call), number))
        for number, call in enumerate(calls, 1)
    ]
    assert not [(tool, verdict.violations) for tool, verdict in verdicts if not verdict.ok]
    assert verdicts
