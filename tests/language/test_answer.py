"""Reading replies: each form that models give them, and each that is refused."""

from __future__ import annotations

import pytest

from mcp_world.engines.language.answer import Unusable, read, without_thinking
from mcp_world.engines.language.looping import looping
from mcp_world.engines.language.model import Finish

VALUE = {"id": 7, "name": "a"}
BARE = '{"id": 7, "name": "a"}'

DATA = {
    "bare": BARE,
    "marked": f"**Environment Observation:**\n{BARE}",
    "marked on one line": f"**Environment Observation:** {BARE}",
    "words before the marker": f"Sure, here it is.\n\n**Environment Observation:**\n{BARE}",
    "fenced": f"```json\n{BARE}\n```",
    "fenced, marked": f"**Environment Observation:**\n```json\n{BARE}\n```",
    "in prose": f"The result is {BARE} as you see.",
    "in prose, fenced": f"Here you are:\n\n```\n{BARE}\n```\nAnything else?",
    "with words after it": f"{BARE}\n\nI hope this helps!",
    "encoded twice": '"{\\"id\\": 7, \\"name\\": \\"a\\"}"',
    "in its block": f"<predicted_observation>{BARE}</predicted_observation>",
    "the last of several blocks": f"<predicted_observation>{{}}</predicted_observation> no, <predicted_observation>{BARE}</predicted_observation>",
    "after thinking": f"<think>It has {{brackets}}.</think>\n{BARE}",
    "after thinking that began in the prompt": f"Let me see.</think>\n\n**Environment Observation:**\n{BARE}",
    "after nested thinking": f"<think>a<think>b</think>c</think>{BARE}",
    "after several thoughts": f"<think>a</think><think>b</think>{BARE}",
    "in its block after thinking without end": f"<think>hm <predicted_observation>{BARE}</predicted_observation>",
    "with the next turn made up": f"{BARE}\n\n### Turn 3\n**Action:**\n```json\n{{}}\n```",
    "as structured content": f'{{"content": [], "structuredContent": {BARE}}}',
}


@pytest.mark.parametrize("reply", DATA.values(), ids=DATA)
def test_data_is_found(reply: str) -> None:
    answer = read(reply, data=True)
    assert (answer.kind, answer.value) == ("data", VALUE)


REFUSED: dict[str, tuple[str, bool, Finish, str]] = {
    "nothing": ("", True, "stop", "empty"),
    "only the marker": ("**Environment Observation:**\n", False, "stop", "empty"),
    "only thinking": ("<think>Let me see", True, "stop", "unclosed-think"),
    "JSON cut at the limit": ('{"id": 7, "na', True, "length", "cut"),
    "JSON that just ends": ('{"id": 7, "na', True, "stop", "cut"),
    "JSON cut after a part that is whole": ('{"all": [{"id": 7}, {"id', True, "length", "cut"),
    "a fence that just ends": ('```json\n{"id": 7,', True, "stop", "cut"),
    "JSON cut where a text would do": ('{"id": 7, "na', False, "stop", "cut"),
    "a text cut at the limit": ("The weather in Oslo is", False, "length", "cut"),
    "words where JSON is due": ("It is done.", True, "stop", "no-json"),
    "not a number": ('{"id": NaN}', True, "stop", "no-json"),
    "half of a surrogate pair": ('{"id": "\\ud800"}', True, "stop", "no-json"),
    "no readable text": ("\x00\ufffd\x07a\x00", False, "stop", "noise"),
    "a loop": (BARE, True, "looping", "looping"),
}


@pytest.mark.parametrize("row", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_sent_is_refused_by_rule(row: tuple[str, bool, Finish, str]) -> None:
    reply, data, finish, rule = row
    with pytest.raises(Unusable) as refused:
        read(reply, data=data, finish=finish)
    assert refused.value.rule == rule


FAILURES = {
    "as asked for": ('{"isError": true, "message": "No such city"}', "No such city"),
    "as a tool result": ('{"content": [{"type": "text", "text": "No such city"}], "isError": true}', "No such city"),
    "as JSON-RPC": ('{"error": {"code": -32602, "message": "No such city"}}', "No such city"),
    "as a text": ("Error: No such city", "Error: No such city"),
    "as a status": ("404 Not Found", "404 Not Found"),
    "as the published prompts have it": ("status: error\nmessage: gone", "status: error\nmessage: gone"),
}


@pytest.mark.parametrize("row", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("data", [True, False], ids=["data", "text"])
def test_a_failed_call_is_an_error(row: tuple[str, str], data: bool) -> None:
    reply, message = row
    answer = read(reply, data=data)
    assert (answer.kind, answer.text) == ("error", message)


TEXTS = {
    "plain": ("It is done.", "It is done."),
    "marked": ("**Environment Observation:**\nIt is done.", "It is done."),
    "fenced": ("```\na\nb\n```", "a\nb"),
    "a fence within": ("# Title\n```\na\n```\nmore", "# Title\n```\na\n```\nmore"),
    "as a block": ('{"type": "text", "text": "It is done."}', "It is done."),
    "as a tool result": ('{"content": [{"type": "text", "text": "It is done."}]}', "It is done."),
    "JSON as it is written": ('{"id":7}', '{"id":7}'),
    "that begins as a number of a status": ("404 items were found", "404 items were found"),
    "that starts with a bracket": ("[a] first, [b] second", "[a] first, [b] second"),
}


@pytest.mark.parametrize("row", TEXTS.values(), ids=TEXTS)
def test_a_text_is_taken_as_it_is(row: tuple[str, str]) -> None:
    reply, text = row
    answer = read(reply, data=False)
    assert (answer.kind, answer.text) == ("text", text)


def test_thinking_is_kept_apart() -> None:
    assert without_thinking("<think>one</think>answer<think>two</think>") == ("answer", "one\ntwo")


@pytest.mark.parametrize("text", ['{"a": 1}' + " " * 120, '{"a": [' + '"x", ' * 120, "\n" * 200], ids=repr)
def test_endless_whitespace_and_repetition_are_loops(text: str) -> None:
    assert looping(text)


def test_a_table_of_alike_rows_is_no_loop() -> None:
    rows = [f'{{"id": {n}, "name": "item {n}"}}' for n in range(200)]
    assert not any(looping(", ".join(rows[:n])) for n in range(200))
