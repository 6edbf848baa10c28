"""Replay: recorded answers, found by what was asked; what is not recorded is refused, or goes to another engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest

from mcp_world import Action, World, parse
from mcp_world.core.errors import BadInput
from mcp_world.engines import engine_for
from mcp_world.spec.cassette import Call
from tests.conftest import thing, tool

pytestmark = pytest.mark.anyio


def said(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def call(name: str, text: str, events: list[dict[str, Any]] | None = None, **arguments: Any) -> Call:
    return Call("tools/call", {"name": name, "arguments": arguments}, events or [], said(text))


def world(*calls: Call, **options: Any) -> World:
    text = {"type": "string"}
    entries = [
        tool("get_item", {"id": text, "at": text}, required=[]),
        tool("add_item", {"id": text}),
        tool("echo", {"message": text}),
    ]
    spec = replace(parse(entries, name="shop"), examples=calls)
    return World(spec, engine=engine_for(spec, "replay", **options))


async def ask(w: World, name: str, **arguments: Any) -> str:
    return (await w.step(Action(name, arguments))).text


async def test_the_same_question_twice_gets_its_answers_in_order_and_then_the_last_for_ever() -> None:
    w = world(call("get_item", "one", id="a"), call("add_item", "made", id="b"), call("get_item", "two", id="a"))
    assert [await ask(w, "get_item", id="a") for _ in range(4)] == ["one", "two", "two", "two"]


async def test_the_order_of_arguments_does_not_matter() -> None:
    w = world(call("get_item", "x", id="a", at="now"))
    assert await ask(w, "get_item", at="now", id="a") == "x"


async def test_once_means_once() -> None:
    w = world(call("get_item", "one", id="a"), once=True)
    assert await ask(w, "get_item", id="a") == "one"
    assert "given already" in await ask(w, "get_item", id="a")


async def test_worlds_do_not_use_up_each_others_answers() -> None:
    one = world(call("get_item", "first", id="a"), call("get_item", "second", id="a"))
    other = World(one.spec, engine=one.engine)
    assert [await ask(one, "get_item", id="a"), await ask(other, "get_item", id="a")] == ["first", "first"]


async def test_a_miss_says_what_was_asked_and_what_is_nearest() -> None:
    w = world(call("get_item", "x", id="a", at="t1"), call("get_item", "y", id="b", at="t2"))
    assert await ask(w, "get_item", id="b", at="t9") == (
        'Not recorded: get_item {"id":"b","at":"t9"}; the nearest is get_item {"id":"b","at":"t2"}'
    )
    assert "only of: get_item" in await ask(w, "add_item", id="z")


async def test_arguments_that_are_ignored_are_not_compared() -> None:
    w = world(call("get_item", "x", id="a", at="t1"), ignore=("at",))
    assert await ask(w, "get_item", id="a", at="t9") == "x"


async def test_the_nearest_answers_where_that_is_wanted() -> None:
    w = world(call("get_item", "x", id="a", at="t1"), call("get_item", "y", id="b", at="t2"), match="nearest")
    assert await ask(w, "get_item", id="b", at="t9") == "y"


async def test_in_order_only_the_next_call_is_answered() -> None:
    w = world(call("add_item", "made", id="a"), call("get_item", "x", id="a"), match="order")
    assert await ask(w, "add_item", id="a") == "made"
    wrong = await ask(w, "add_item", id="a")
    assert wrong == 'Recorded as call 2 is get_item {"id":"a"}; asked was add_item {"id":"a"}'
    assert await ask(w, "get_item", id="a") == 'Nothing is recorded after call 2; asked was get_item {"id":"a"}'


async def test_a_miss_goes_to_another_engine_that_has_learned_from_the_cassette() -> None:
    w = world(call("echo", "Echo: lamp", message="lamp"), rest="procedural")
    assert await ask(w, "echo", message="lamp") == "Echo: lamp"
    assert await ask(w, "echo", message="zebra") == "Echo: zebra"


async def test_a_recorded_refusal_goes_before_our_check_of_arguments() -> None:
    refused = Call(
        "tools/call", {"name": "get_item", "arguments": {"id": 7}}, [], {**said("id must be text!"), "isError": True}
    )
    w = world(refused)
    assert await ask(w, "get_item", id=7) == "id must be text!"
    assert "Invalid arguments" in await ask(w, "get_item", id=8)


async def test_recorded_results_are_sent_as_they_were_even_where_they_break_the_schema() -> None:
    spec = parse([tool("get_item", {"id": {"type": "string"}}, thing(n={"type": "integer"}))], name="s")
    odd = Call(
        "tools/call",
        {"name": "get_item", "arguments": {"id": "a"}},
        [],
        {"content": [], "structuredContent": {"n": "x"}, "odd": 1},
    )
    spec = replace(spec, examples=(odd,))
    observation = await World(spec, engine=engine_for(spec, "replay")).step(Action("get_item", {"id": "a"}))
    assert observation.result == odd.result


async def test_templates_in_recorded_text_stay_text() -> None:
    assert await ask(world(call("get_item", "{{arguments.id}}", id="a")), "get_item", id="a") == "{{arguments.id}}"


async def test_json_rpc_errors_come_back_with_their_data() -> None:
    broken = Call(
        "tools/call", {"name": "get_item", "arguments": {}}, [], None, {"code": -32050, "message": "down", "data": [1]}
    )
    observation = await world(broken).step(Action("get_item", {}))
    assert observation.error is not None and observation.error.to_json() == broken.error


@pytest.mark.parametrize(("pace", "least", "most"), [(0.0, 0.0, 0.25), (1.0, 0.3, 2.0)])
async def test_recorded_pauses_are_played_at_the_pace_of_the_world(pace: float, least: float, most: float) -> None:
    from mcp import Client

    from mcp_world.serve.impersonation import Impersonation

    w = world(call("get_item", "x", [{"wait": 0.3}], id="a"))
    w.pace = pace
    async with Client(Impersonation(w).server()) as client:
        begun = anyio.current_time()
        await client.call_tool("get_item", {"id": "a"})
        assert least <= anyio.current_time() - begun < most


@pytest.mark.parametrize(
    ("options", "says"), [({"match": "fuzzy"}, "no match 'fuzzy'"), ({"rest": "warp"}, "no engine 'warp'")]
)
def test_options_that_there_are_none_of_are_bad_input(options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        world(call("get_item", "x"), **options)


def test_nothing_recorded_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nothing was recorded"):
        world()
