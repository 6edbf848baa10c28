"""Shapes of answers, learned from examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_world.spec.cassette import Call
from mcp_world.spec.formats import format_of, parse_python
from mcp_world.spec.infer import infer
from mcp_world.spec.shapes import Style, learn_shapes, voice_of
from mcp_world.spec.template import Free, Slot, facts_of, learn


def call(tool: str, text: str, structured: Any = None, error: bool = False, **arguments: Any) -> Call:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if structured is not None:
        result["structuredContent"] = structured
    if error:
        result["isError"] = True
    return Call("tools/call", {"name": tool, "arguments": arguments}, [], result)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ('{"a": 1}', "json"),
        (" [1, 2]\n", "json"),
        ("[{'name': 'Ben', 'age': None}]", "python"),
        ("{'a': True}", "python"),
        ("# Title\ntext", "markdown"),
        ("```js\nx\n```", "markdown"),
        ("- one\n- two", "markdown"),
        ("id,name\n1,a\n2,b", "csv"),
        ('Found it:\n{"a": 1}', "prose with json"),
        ("Done.", "plain"),
        ("42", "plain"),
        ("one, two", "plain"),
        ("a - b", "plain"),
        ("{broken", "plain"),
    ],
)
def test_a_text_has_one_format(text: str, kind: str) -> None:
    assert format_of(text) == kind


@pytest.mark.parametrize(
    "text",
    ["[__import__('os')]", "[open('/etc/passwd')]", "{1, 2}", "[1e999]", "[b'x']", "[" * 2_000, "[{'a': lambda: 1}]"],
)
def test_python_that_is_no_data_is_not_read_and_nothing_of_it_is_run(text: str) -> None:
    assert parse_python(text) is None


def test_what_a_text_took_from_its_call_is_a_slot() -> None:
    facts = facts_of({"path": "/srv/a/notes.txt", "content": "x\ny\n", "n": 3}, 0)
    template = learn("Wrote notes.txt (3 lines) to /srv/a/notes.txt, 30 times", facts)
    slots = [part.names for part in template.parts if isinstance(part, Slot)]
    assert slots == [("file of path",), ("n", "lines of content"), ("path",)]
    other = facts_of({"path": "/b/c.md", "content": "z\n", "n": 2}, 0)
    assert template.fill(other) == "Wrote c.md (2 lines) to /b/c.md, 30 times"


def test_a_call_that_lacks_what_a_slot_asks_for_cannot_be_answered_with_it() -> None:
    assert learn("hello world", facts_of({"who": "world"}, 0)).fill(facts_of({"name": "x"}, 0)) is None


def test_sums_counts_and_the_number_of_calls_are_facts() -> None:
    facts = facts_of({"a": 2, "b": 40, "items": [1, 2, 3]}, 6)
    assert (facts["sum"], facts["most"], facts["count of items"], facts["calls"]) == ("42", "40", "3", "7")


def test_two_examples_tell_which_fact_a_slot_is_and_what_is_free() -> None:
    one = learn("2 plus 2 on Monday", facts_of({"a": 2, "b": 2}, 1))
    two = learn("2 plus 5 on Tuesday", facts_of({"a": 2, "b": 5}, 1))
    merged = one.merge(two)
    assert merged.fill(facts_of({"a": 7, "b": 8}, 1)) in ("7 plus 8 on Tuesday",)
    assert [part.samples for part in merged.parts if isinstance(part, Free)] == [("Monday", "Tuesday")]


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([], {}),
        ([1], {"type": "integer"}),
        ([1, 2.5], {"type": "number"}),
        ([None, 3], {"type": ["integer", "null"]}),
        ([[]], {"type": "array"}),
        (["2025-01-02T03:04:05Z", "2025-01-02T03:04:05.123+01:00"], {"type": "string", "format": "date-time"}),
        (["a@b.co"], {"type": "string", "format": "email"}),
        (["open", "closed", "open", "open"], {"type": "string", "enum": ["open", "closed"]}),
        (["a", "b", "c", "d"], {"type": "string"}),
        ([1, 5, 3, 2], {"type": "integer", "minimum": 1, "maximum": 5}),
        ([{"a": 1}, {"a": 2, "b": "x"}], {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}),
        (["x", 1], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),
    ],
)  # fmt: skip
def test_examples_make_a_schema(values: list[Any], schema: dict[str, Any]) -> None:
    assert infer(values) == schema


@pytest.mark.parametrize(
    "style",
    [
        Style("json", 2),
        Style("json", 4),
        Style("json", None),
        Style("json", None, True),
        Style("json", 2, escaped=True),
        Style("python", None),
    ],
)
def test_how_data_is_written_is_learned(style: Style) -> None:
    value = [{"name": "Zoë", "n": None}]
    (shape,) = learn_shapes([call("t", style.write(value))]).values()
    assert shape.successes[0].style == style and shape.schema is not None and voice_of([shape]) == style


@pytest.mark.parametrize(
    ("text", "structured", "path", "style"),
    [
        (json.dumps({"a": [1]}, indent=2), {"a": [1]}, (), Style("json", 2)),
        (json.dumps([1, 2]), {"a": [1, 2]}, ("a",), Style("json", None)),
        ("all done", {"ok": True, "message": "all done"}, ("message",), None),
        ("something else", {"a": 1}, None, None),
    ],
)
def test_what_stands_beside_structured_content_is_learned(text: str, structured: Any, path: Any, style: Any) -> None:
    shape = learn_shapes([call("t", text, structured)])["t"]
    assert (shape.beside, shape.style) == (path, style)


def test_contradictions_are_kept_as_variants_with_their_frequency() -> None:
    calls = [call("t", f"Saved {name} to the archive", name=name) for name in ("alpha", "beta")]
    shape = learn_shapes(
        [call("t", "Database error: disk I/O"), *calls, call("t", "no such thing: gamma", error=True, name="gamma")]
    )["t"]
    assert [variant.count for variant in shape.successes] == [2, 1]
    assert [variant.count for variant in shape.failures] == [1] and shape.examples == 4


def test_prose_around_json_is_kept() -> None:
    variant = learn_shapes([call("t", 'Result:\n{"a": 1}\nBye')])["t"].successes[0]
    assert (variant.before, variant.data, variant.after) == ("Result:\n", [{"a": 1}], "\nBye")
