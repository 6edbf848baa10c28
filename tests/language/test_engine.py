"""The language engine, whatever its model says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_world import Action, World, load_one, parse
from mcp_world.core.types import Observation
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.model import ModelError, Reply
from mcp_world.verify.schema import conforms
from tests.conftest import REAL_SPECS, case, needs_shared, thing, tool
from tests.language.fakes import Fake, Saying

pytestmark = pytest.mark.anyio

ISSUE = thing(number={"type": "integer"}, title={"type": "string"}, state={"enum": ["open", "closed"]})
TRACKER = [
    tool("create_issue", {"title": {"type": "string"}}, ISSUE),
    tool("get_issue", {"number": {"type": "integer"}}, ISSUE),
    tool("echo", {"text": {"type": "string"}}),
]


def world(tools: list[dict[str, Any]], *says: Saying, **options: Any) -> tuple[World, Fake]:
    """A world of some tools whose model says this."""
    model = Fake(says)
    spec = parse({"tools": tools}, name="test")
    return World(spec, engine=LanguageEngine(spec, model, "fake", **options), seed=7), model


def notes(world: World) -> list[dict[str, Any]]:
    """What the last step tells of its predictions."""
    return list(world.steps[-1].notes)


def issue(**members: Any) -> str:
    return json.dumps({"number": 41, "title": "Rain", "state": "open", **members})


async def test_a_valid_answer_is_sent_as_the_model_gave_it() -> None:
    here, _ = world(TRACKER, issue())
    seen = await here.step(Action("create_issue", {"title": "Rain"}))
    assert seen.structured == {"number": 41, "title": "Rain", "state": "open"}
    assert here.steps[-1].engine == "fake"
    assert notes(here)[0]["outcome"] == "valid"


async def test_what_a_model_made_up_is_known_to_the_ledger() -> None:
    here, _ = world(TRACKER, issue(), "nothing", "nothing", "nothing")
    await here.step(Action("create_issue", {"title": "Rain"}))
    seen = await here.step(Action("get_issue", {"number": 41}))
    assert seen.structured == {"number": 41, "title": "Rain", "state": "open"}
    assert here.steps[-1].engine == "procedural"


async def test_small_things_are_mended_and_the_journal_says_which() -> None:
    here, model = world(TRACKER, issue(number="41", extra=1))
    seen = await here.step(Action("create_issue", {"title": "Rain"}))
    assert seen.structured == {"number": 41, "title": "Rain", "state": "open"}
    assert len(model.asked) == 1
    assert notes(here)[0]["outcome"] == "repaired"
    assert sorted(notes(here)[0]["changes"]) == ["/number: type", ": additionalProperties"]


async def test_a_model_is_asked_again_with_what_was_wrong() -> None:
    here, model = world(TRACKER, issue(state="lost"), issue())
    await here.step(Action("create_issue", {"title": "Rain"}))
    assert [message.role for message in model.asked[1]] == ["system", "user", "assistant", "user"]
    assert model.asked[1][2].content == issue(state="lost")
    assert "/state" in model.asked[1][3].content
    assert [note["outcome"] for note in notes(here)] == ["refused", "valid"]
    assert here.steps[-1].attempts == 2


async def test_another_try_is_another_draw() -> None:
    here, model = world(TRACKER, "nothing", issue())
    await here.step(Action("create_issue", {"title": "Rain"}))
    first, second = model.samplings
    assert first.seed != second.seed


async def test_after_the_last_try_the_procedural_engine_answers_with_what_was_right() -> None:
    here, model = world(TRACKER, issue(number="none", state="closed"), tries=2)
    seen = await here.step(Action("create_issue", {"title": "Rain"}))
    assert len(model.asked) == 2
    assert seen.structured["state"] == "closed"
    assert seen.structured["title"] == "Rain"
    assert isinstance(seen.structured["number"], int)
    assert notes(here)[-1] == {
        "engine": "procedural", "outcome": "fallback", "why": "every try was refused", "taken": ["state"],
    }  # fmt: skip


async def test_what_was_taken_from_a_refused_answer_is_kept_to() -> None:
    here, _ = world(TRACKER, issue(number="none", state="closed"), tries=1)
    made = (await here.step(Action("create_issue", {"title": "Rain"}))).structured
    again = await here.step(Action("get_issue", {"number": made["number"]}))
    assert again.structured == made


async def test_a_model_that_fails_is_not_asked_again() -> None:
    here, model = world(TRACKER, ModelError("the server is away"))
    seen = await here.step(Action("create_issue", {"title": "Rain"}))
    assert not seen.is_error
    assert len(model.asked) == 1
    assert notes(here)[0]["why"] == "the server is away"


async def test_an_error_is_an_error_result_and_changes_nothing() -> None:
    here, _ = world(TRACKER, '{"isError": true, "message": "Quota used up"}')
    seen = await here.step(Action("create_issue", {"title": "Rain"}))
    assert seen.is_error
    assert seen.text == "Quota used up"
    assert seen.structured is None
    assert here.ledger.to_json() == []


async def test_a_tool_without_a_schema_answers_in_the_form_that_the_model_chose() -> None:
    here, model = world(TRACKER, "**Environment Observation:**\nyou said: *hi*")
    seen = await here.step(Action("echo", {"text": "hi"}))
    assert seen.text == "you said: *hi*"
    assert model.grammars == [None]


async def test_a_text_is_wrapped_where_the_schema_is_a_wrapper() -> None:
    tools = [tool("echo", {"text": {"type": "string"}}, thing(result={"type": "string"}))]
    here, _ = world(tools, "you said hi")
    seen = await here.step(Action("echo", {"text": "hi"}))
    assert seen.structured == {"result": "you said hi"}
    assert seen.text == "you said hi"


async def test_an_answer_that_a_decoder_vouched_for_is_checked_in_full() -> None:
    schema = case("length_beside_pattern")["schema"]
    here, _ = world([tool("get_part", {}, schema)], '{"sku": "A-1", "code": "aa:bb:cc:dd", "mail": "a@example.org"}')
    seen = await here.step(Action("get_part", {}))
    assert conforms(here.spec.tools[0], seen) == []
    assert not seen.is_error


async def test_thinking_is_kept_only_where_it_is_asked_for() -> None:
    said = Reply(f"<think>is there any?</think>{issue()}")
    without, _ = world(TRACKER, said)
    kept, _ = world(TRACKER, said, keep_thinking=True)
    for here in (without, kept):
        seen = await here.step(Action("create_issue", {"title": "Rain"}))
        assert "is there any?" not in json.dumps(seen.to_json())
    assert "is there any?" not in json.dumps(notes(without))
    assert notes(kept)[0]["thinking"] == "is there any?"


async def test_thinking_of_earlier_turns_is_never_sent_back() -> None:
    here, model = world(TRACKER, f"<think>is there any?</think>{issue()}")
    for _ in range(2):
        await here.step(Action("create_issue", {"title": "Rain"}))
    assert "is there any?" not in str(model.asked[1])


BROKEN: dict[str, list[Saying]] = {
    "nothing": [""],
    "noise": ["\x00\ufffd\x07\x1b\x00\x02"],
    "words": ["I am a language model and cannot do that."],
    "half JSON": ['**Environment Observation:**\n{"id": 1, "name": "a'],
    "another thing": ['{"foo": [1, 2, {"bar": null}]}'],
    "a list": ["[[[[]]]]"],
    "not a number": ['{"id": NaN, "value": 1e999}'],
    "a lone surrogate": ['{"text": "\\ud800"}'],
    "thinking without end": ["<think>Let me see. " * 50],
    "a loop": [Reply(" " * 200, finish="looping")],
    "a failure": [ModelError("no reply")],
}


@needs_shared
@pytest.mark.parametrize("path", REAL_SPECS, ids=lambda path: path.stem)
async def test_what_reaches_the_agent_is_valid_with_a_broken_model(path: Any) -> None:
    spec = load_one(str(path))
    plain = World(spec, seed=3)
    for says in BROKEN.values():
        here = World(spec, engine=LanguageEngine(spec, Fake(says), "fake", tries=1), seed=3)
        for used in spec.tools:
            arguments = _arguments(used.raw.get("inputSchema") or {})
            seen = await here.step(Action(used.name, arguments))
            assert conforms(used, seen) == []
            json.dumps(seen.to_json(), allow_nan=False).encode()
            _as_good(seen, await plain.step(Action(used.name, arguments)))
        plain = World(spec, seed=3)


def _as_good(seen: Observation, without: Observation) -> None:
    """Nobody is told of the model's trouble: an internal error comes only where the procedural engine has one too."""
    if "Internal error" in seen.text:
        assert "Internal error" in without.text


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the right types, for the properties that are required."""
    samples = {"string": "a", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    properties = schema.get("properties") or {}
    return {
        name: (properties.get(name, {}).get("enum") or [samples.get(str(properties.get(name, {}).get("type")), "a")])[0]
        for name in schema.get("required") or []
    }
