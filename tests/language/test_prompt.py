"""The words that go to a model."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcp_world import Action, World, parse
from mcp_world.core.errors import BadInput
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.prompt import Template, demonstration, demonstrations
from mcp_world.spec.cassette import Call
from tests.conftest import thing, tool
from tests.language.fakes import Fake

pytestmark = pytest.mark.anyio

WEATHER = tool("get_weather", {"city": {"type": "string"}}, thing(celsius={"type": "integer"}), description="Now.")

SYSTEM = """You are the server behind a set of tools. An agent calls them, and you answer exactly as the real server would.

# Answering
Each turn holds one tool call. Reply with `**Environment Observation:**`, then what the call gives, and nothing else.
- A tool with an outputSchema gives one JSON value that conforms to it, with no fence and no words around it.
- Any other tool gives what its demonstrations or its earlier turns look like. Where there are none: JSON for data, a sentence for something done, the bare text for the content of something.
- A call that fails gives {"isError": true, "message": "…"}, the message in the server's own words, never the form of a success.

# The world
- What was made, changed or deleted stays so. What was never there, or is gone, cannot be found.
- Arguments count: filters filter, limits limit, pages follow one another, what was given comes back as it was given.
- The same question, with nothing done since, has the same answer.
- Ids, names, times and amounts are believable and agree with each other and with earlier turns. No placeholders.

# Tools
{"name": "get_weather", "description": "Now.", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, "outputSchema": {"type": "object", "properties": {"celsius": {"type": "integer"}}, "required": ["celsius"], "additionalProperties": false}}

# Instructions for this world
It is winter.

# This world
It begins at 2025-01-06T09:00:00Z.
- city: {"name": "Oslo"}"""


def _turn(number: int, city: str) -> str:
    return f'### Turn {number}\n**Action:**\n```json\n{{"name": "get_weather", "arguments": {{"city": "{city}"}}}}\n```'


async def test_the_messages_of_a_three_turn_world() -> None:
    model = Fake(
        ['{"celsius": -4}', '<think>Cold.</think>{"isError": true, "message": "No such city: Olso"}', '{"celsius": 9}']
    )
    spec = parse({"tools": [WEATHER]}, name="weather")
    world = World(
        spec,
        engine=LanguageEngine(spec, model, "fake", instructions="It is winter."),
        facts={"city": [{"name": "Oslo"}]},
        start=datetime(2025, 1, 6, 9, tzinfo=UTC),
    )
    for city in ("Oslo", "Olso", "Rome"):
        await world.step(Action("get_weather", {"city": city}))
    assert [(message.role, message.content) for message in model.asked[2]] == [
        ("system", SYSTEM),
        ("user", _turn(1, "Oslo")),
        ("assistant", '**Environment Observation:**\n{"celsius": -4}'),
        ("user", _turn(2, "Olso")),
        ("assistant", '**Environment Observation:**\n{"isError": true, "message": "No such city: Olso"}'),
        ("user", _turn(3, "Rome")),
    ]


async def test_each_prompt_begins_with_the_one_before_it() -> None:
    model = Fake(['{"celsius": -4}'])
    spec = parse({"tools": [WEATHER]}, name="weather")
    world = World(spec, engine=LanguageEngine(spec, model, "fake"))
    for city in ("Oslo", "Rome", "Bonn"):
        await world.step(Action("get_weather", {"city": city}))
    for before, after in zip(model.asked, model.asked[1:], strict=False):
        assert after[: len(before)] == before


def test_a_folder_of_templates_in_the_published_layout_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "system_prompt.txt").write_text(
        "You are {a tool}.\n{tool_definitions}\n\nExamples:{demonstrations}\n"
    )
    text = Template(tmp_path).fill(tool_definitions="[T]", demonstrations="\nD\n", instructions="\nI\n", facts="\nF\n")
    assert text == "You are {a tool}.\n[T]\n\nExamples:\nD\n\nI\n\nF"


def test_what_stands_in_a_place_is_not_read_as_a_place() -> None:
    assert "{facts}" in Template().fill(tool_definitions="a tool about {facts}", facts="F")


def test_a_folder_without_the_template_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"mcp/system_prompt\.txt"):
        Template(tmp_path)
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "system_prompt.txt").write_text("Hello")
    with pytest.raises(BadInput, match=r"Put \{tool_definitions\}"):
        Template(tmp_path)


def test_recorded_calls_are_demonstrations_in_the_form_of_turns() -> None:
    call = Call(
        "tools/call",
        {"name": "get_weather", "arguments": {"city": "Oslo"}},
        result={"content": [{"type": "text", "text": "cold"}], "structuredContent": {"celsius": -4}},
    )
    shown = demonstrations([demonstration(call)])
    assert shown.endswith(_turn(1, "Oslo").partition("\n")[2] + '\n**Environment Observation:**\n{"celsius": -4}\n')


async def test_demonstrations_come_from_the_examples_of_a_spec() -> None:
    model = Fake(["cold"])
    spec = parse({"tools": [tool("say", {"word": {"type": "string"}})]}, name="s")
    object.__setattr__(
        spec,
        "examples",
        (
            Call(
                "tools/call",
                {"name": "say", "arguments": {"word": "hm"}},
                result={"content": [{"type": "text", "text": "HM!"}]},
            ),
        ),
    )
    await World(spec, engine=LanguageEngine(spec, model, "fake")).step(Action("say", {"word": "a"}))
    assert "# Demonstrations" in model.asked[0][0].content
    assert "HM!" in model.asked[0][0].content


def test_an_answer_is_shown_as_json_and_not_as_its_text() -> None:
    call = Call("tools/call", {"name": "a"}, error={"code": -32602, "message": "bad"})
    assert json.loads(demonstration(call).rpartition("\n")[2]) == {"isError": True, "message": "bad"}
