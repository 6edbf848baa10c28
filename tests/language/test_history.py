"""A world's past in a model's context."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from mcp_world import Action, World, parse
from mcp_world.core.errors import BadInput
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.history import window
from mcp_world.engines.language.model import Message
from tests.conftest import thing, tool
from tests.language.fakes import Fake

pytestmark = pytest.mark.anyio

NOTE = thing(id={"type": "string"}, title={"type": "string"}, body={"type": "string"})
NOTES = [
    tool("create_note", {"title": {"type": "string"}, "body": {"type": "string"}}, NOTE),
    tool("get_note", {"id": {"type": "string"}}, NOTE),
]


def scribe(messages: Sequence[Message]) -> str:
    """Makes notes as they are asked for, with ids that count the turns."""
    action = messages[-1].content
    call = json.loads(action.partition("```json\n")[2].partition("\n```")[0])
    number = action.partition("### Turn ")[2].split()[0]
    return json.dumps({"id": f"note-{number}", "title": "?", "body": "?", **call["arguments"]})


def world(model: Fake, tools: list[dict[str, Any]] = NOTES, **options: Any) -> World:
    spec = parse({"tools": tools}, name="notes")
    return World(spec, engine=LanguageEngine(spec, model, "fake"), **options)


async def test_two_hundred_steps_in_2048_tokens_and_the_first_note_is_still_known() -> None:
    model = Fake(scribe, context=2_048)
    here = world(model)
    await here.step(Action("create_note", {"title": "The very first", "body": "Buy milk."}))
    for n in range(198):
        await here.step(
            Action("create_note", {"title": f"Note {n}", "body": "Lorem ipsum dolor sit amet. " * (n % 20)})
        )
    await here.step(Action("get_note", {"id": "note-1"}))
    assert len(model.asked) == 200  # each of which the model held against its context
    assert (
        'note note-1: {"title": "The very first", "body": "Buy milk.", "id": "note-1"}' in model.asked[-1][-1].content
    )


async def test_of_a_long_world_the_newest_turns_are_whole_and_the_older_in_a_line() -> None:
    model = Fake(scribe, context=2_048)
    here = world(model)
    for n in range(60):
        await here.step(Action("create_note", {"title": f"Note {n}", "body": "Lorem ipsum dolor sit amet."}))
    system, *turns = model.asked[-1]
    assert turns[-3].content.startswith("### Turn 59\n**Action:**")
    assert "note-59" in turns[-2].content
    dropped = int(turns[0].content.split()[2]) - 1
    assert f"- Turn {dropped}: create_note" in system.content


async def test_most_prompts_of_a_long_world_begin_with_the_one_before() -> None:
    model = Fake(scribe, context=2_048)
    here = world(model)
    for n in range(60):
        await here.step(Action("get_note", {"id": f"n{n}"}))
    pairs = list(zip(model.asked, model.asked[1:], strict=False))
    kept = sum(after[: len(before) - 1] == before[:-1] for before, after in pairs)
    assert kept > 0.8 * len(pairs)


async def test_an_argument_that_is_longer_than_the_context_loses_its_middle() -> None:
    model = Fake(['{"id": "n", "title": "a", "body": "b"}'], context=2_048)
    body = "Begin. " + "word " * 20_000 + "The end."
    await world(model).step(Action("create_note", {"title": "Long", "body": body}))
    asked = model.asked[0][-1].content
    assert "characters left out" in asked
    assert "Begin." in asked
    assert "The end." in asked


async def test_a_refused_reply_of_any_length_leaves_room_to_ask_again() -> None:
    model = Fake(['{"id": 1, "text": "' + "long " * 5_000 + '"}'], context=2_048)
    await world(model).step(Action("create_note", {"title": "a", "body": "b" * 4_000}))
    assert len(model.asked) == 3


async def test_many_tools_are_named_in_a_line_each_and_the_one_called_is_defined() -> None:
    tools = [tool(f"get_note_{n}", {"id": {"type": "string", "description": "The id. " * 20}}, NOTE) for n in range(30)]
    model = Fake(['{"id": "a", "title": "b", "body": "c"}'], context=4_096)
    await world(model, tools).step(Action("get_note_7", {"id": "a"}))
    system, turn = model.asked[0]
    assert "- get_note_29:" in system.content
    assert "inputSchema" not in system.content
    assert '"name": "get_note_7"' in turn.content
    assert '"outputSchema"' in turn.content


async def test_more_facts_than_fit_are_looked_up_when_a_call_names_them() -> None:
    facts = {"note": [{"id": f"n{n}", "title": f"Title {n}", "body": "text " * 20} for n in range(100)]}
    model = Fake(scribe, context=2_048)
    await world(model, facts=facts).step(Action("get_note", {"id": "n50"}))
    assert "Title 50" in model.asked[0][-1].content


async def test_a_model_whose_context_the_prompt_fills_is_refused_when_it_is_opened() -> None:
    model = Fake(scribe, context=512)
    with pytest.raises(BadInput, match="longer context"):
        await world(model).engine.open(lambda _: None)


def test_the_window_moves_in_leaps() -> None:
    costs = [10] * 100
    firsts = [window(costs[:n], 100) for n in range(101)]
    assert firsts == sorted(firsts)
    assert len(set(firsts)) == 1 + 15  # six turns go at a time
    assert all(sum(costs[first:n]) <= 100 for n, first in enumerate(firsts))


def test_a_turn_that_alone_exceeds_the_budget_goes_too() -> None:
    assert window([10, 500], 100) == 2
