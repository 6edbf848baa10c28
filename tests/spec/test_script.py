"""Scripts: read strictly, played as written, with templates that look up and do nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Observation
from mcp_world.spec.script import TASKS, Scene, fill, play, read_script

NAME = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
}
CAN_ASK = {"elicitation": {}}


def played(
    steps: list[dict[str, Any]], answers: dict[str, Any] | None = None, can: dict[str, Any] | None = None, **values: Any
) -> Observation:
    return play(steps, Scene({"answers": answers or {}, **values}, answers or {}, can or {}))


@pytest.mark.parametrize(
    ("script", "where"),
    [
        ({"tools": {"a": [{"say": "x"}]}}, "/tools/a/0"),
        ({"tools": {"a": []}}, "/tools/a"),
        ({"tools": {"a": [{"reply": 1}]}}, "/tools/a/0/reply"),
        ({"tools": {"a": [{"ask": {"q": {"method": "tools/list"}}}]}}, "/tools/a/0/ask/q/method"),
        ({"tool": {}}, ""),
        ({"pageSize": 0}, "/pageSize"),
        ({"resources": {"x://{": [{"reply": {}}]}}, "/resources"),
    ],
)
def test_a_step_that_is_none_is_named_by_file_and_pointer(script: dict[str, Any], where: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_script(script, "spec.yaml#/script")
    assert str(caught.value).startswith(f"spec.yaml#/script{where}: ")


def test_a_template_alone_is_the_value_itself_and_within_text_its_text() -> None:
    scope = {"arguments": {"n": 3, "list": [{"a": "x"}], "o": {"k": 1}}}
    assert fill("{{arguments.n}}", scope) == 3
    assert (
        fill("n={{arguments.n}} {{ arguments.list.0.a }} {{arguments.list.length}} {{arguments.o}}", scope)
        == 'n=3 x 1 {"k":1}'
    )
    assert fill({"a": ["{{arguments.missing}}", "-{{arguments.missing}}-"]}, scope) == {"a": [None, "--"]}


@pytest.mark.parametrize(
    "text", ["{{__class__}}", "{{arguments.__class__}}", "{{arguments.n.real}}", "{{ open('x') }}", "{{7*7}}"]
)
def test_a_template_reaches_data_and_nothing_else(text: str) -> None:
    assert fill(text, {"arguments": {"n": 3}}) in (None, text)


def test_a_question_waits_for_its_answer_and_says_what_came_before_once() -> None:
    steps = [
        {"log": {"data": "begun"}},
        {"ask": {"who": NAME}},
        {"log": {"data": "known"}},
        {"reply": "Hello {{answers.who.content.name}}"},
    ]
    asked = played(steps, can=CAN_ASK)
    assert asked.questions == {"who": NAME} and [e.params["data"] for e in asked.events] == ["begun"]
    done = played(steps, {"who": {"action": "accept", "content": {"name": "Ada"}}}, CAN_ASK)
    assert done.text == "Hello Ada" and [e.params["data"] for e in done.events] == ["known"]


@pytest.mark.parametrize(
    "answer",
    [12, {"action": "accept", "content": {}}, {"action": "accept", "content": {"name": 3}}, {"content": {"name": "x"}}],
)
def test_what_is_no_answer_to_the_question_is_asked_again(answer: Any) -> None:
    assert played([{"ask": {"who": NAME}}, {"reply": "ok"}], {"who": answer}, CAN_ASK).questions


def test_a_decline_is_an_answer() -> None:
    assert (
        played(
            [{"ask": {"who": NAME}}, {"reply": "{{answers.who.action}}"}], {"who": {"action": "decline"}}, CAN_ASK
        ).text
        == "decline"
    )


def test_a_client_is_asked_only_what_it_can_answer() -> None:
    both = {"ask": {"who": NAME, "model": {"method": "sampling/createMessage"}}}
    assert set(played([both, {"reply": "x"}], can=CAN_ASK).questions) == {"who"}
    assert played([both, {"reply": "x"}]).text == "x"


def test_two_questions_one_after_the_other_are_two_rounds() -> None:
    steps = [
        {"ask": {"a": NAME}},
        {"ask": {"b": NAME}},
        {"reply": "{{answers.a.content.name}}{{answers.b.content.name}}"},
    ]
    yes = {"action": "accept", "content": {"name": "x"}}
    assert set(played(steps, {"a": yes}, CAN_ASK).questions) == {"b"}
    assert played(steps, {"a": yes, "b": yes}, CAN_ASK).text == "xx"


def test_a_missing_capability_is_the_error_of_the_specification() -> None:
    error = played([{"require": {"sampling": {}}}, {"reply": "x"}]).error
    assert error is not None and error.code == -32021 and error.data == {"requiredCapabilities": {"sampling": {}}}
    task = played([{"task": {"required": True}}, {"reply": "x"}]).error
    assert task is not None and task.data == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


def test_errors_of_both_kinds() -> None:
    assert played([{"fail": "no {{arguments.x}}"}], arguments={"x": 1}).result == {
        "content": [{"type": "text", "text": "no 1"}],
        "isError": True,
    }
    error = played([{"error": {"code": -32000, "message": "down", "data": {"a": 1}}}]).error
    assert error is not None and error.to_json() == {"code": -32000, "message": "down", "data": {"a": 1}}


@pytest.mark.parametrize(
    ("wait", "seconds"), [(0.5, 0.5), ("{{arguments.s}}", 2.0), ("soon", 0.0), (-1, 0.0), (1e9, 3600.0)]
)
def test_a_pause_is_bounded(wait: Any, seconds: float) -> None:
    (event,) = played([{"wait": wait}, {"reply": "x"}], arguments={"s": 2}).events
    assert event.params["seconds"] == seconds


def test_a_resource_is_found_by_uri_before_template() -> None:
    script = read_script({"resources": {"x://{id}": [{"reply": {}}], "x://one": [{"fail": "f"}]}}, "s")
    assert script.resource("x://one") == ([{"fail": "f"}], {})
    assert script.resource("x://two") == ([{"reply": {}}], {"id": "two"})
    assert script.resource("y://two") is None
