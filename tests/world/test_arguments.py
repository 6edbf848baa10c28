"""Arguments are refused as the impersonated server's SDK would: in its words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcp_world import Action, World, load_one, parse
from tests.conftest import SHARED, needs_shared, tool

pytestmark = pytest.mark.anyio
SCHEMA = {
    "query": {"type": "string", "minLength": 2},
    "limit": {"type": "integer", "maximum": 10},
    "mode": {"enum": ["fast", "slow"]},
}


async def said(dialect: str, arguments: dict[str, Any], name: str = "find_it", **schema: Any) -> Any:
    entry = tool("find_it", SCHEMA, required=["query"])
    entry["inputSchema"] |= schema
    return await World(parse({"dialect": dialect, "tools": [entry]}, name="t")).step(Action(name, arguments))


TYPESCRIPT = [
    ({}, "Invalid input: expected string, received undefined at query"),
    ({"query": 1}, "Invalid input: expected string, received number at query"),
    ({"query": "ab", "limit": 99}, "Too big: expected number to be <=10 at limit"),
    ({"query": "a"}, "Too small: expected string to have >=2 characters at query"),
    ({"query": "ab", "mode": "x"}, 'Invalid option: expected one of "fast"|"slow" at mode'),
    ({"query": "ab", "limit": 1.5}, "Invalid input: expected int, received number at limit"),
    ({"query": "ab", "extra": 1}, 'Unrecognized key: "extra"'),
    (
        {"limit": "x"},
        "Invalid input: expected number, received string at limit\nInvalid input: expected string, received undefined at query",
    ),
]


@pytest.mark.parametrize(("arguments", "words"), TYPESCRIPT)
async def test_the_typescript_sdk_speaks_zod(arguments: dict[str, Any], words: str) -> None:
    observation = await said("typescript", arguments, additionalProperties=False)
    lines = observation.text.removeprefix(
        "MCP error -32602: Input validation error: Invalid arguments for tool find_it: "
    )
    assert sorted(lines.split("\n")) == sorted(words.split("\n"))
    assert observation.result == {"content": [{"type": "text", "text": observation.text}], "isError": True}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "'query' is a required property"),
        ({"query": 1}, "1 is not of type 'string'"),
        ({"query": "ab", "limit": 99}, "99 is greater than the maximum of 10"),
        ({"query": "ab", "mode": "x"}, "'x' is not one of ['fast', 'slow']"),
        ({"query": "ab", "extra": 1}, "Additional properties are not allowed ('extra' was unexpected)"),
    ],
)
async def test_the_low_level_python_server_speaks_jsonschema(arguments: dict[str, Any], words: str) -> None:
    assert (await said("python-v1", arguments, additionalProperties=False)).text == f"Input validation error: {words}"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ({}, "query\n  Field required [type=missing, input_value={}, input_type=dict]"),
        ({"query": 1}, "query\n  Input should be a valid string [type=string_type, input_value=1, input_type=int]"),
        (
            {"query": "ab", "limit": 99},
            "limit\n  Input should be less than or equal to 10 [type=less_than_equal, input_value=99, input_type=int]",
        ),
        (
            {"query": "ab", "mode": "x"},
            "mode\n  Input should be 'fast' or 'slow' [type=literal_error, input_value='x', input_type=str]",
        ),
        (
            {"query": "ab", "limit": "x"},
            "limit\n  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, input_value='x', input_type=str]",
        ),
    ],
)
async def test_fastmcp_and_python_2_speak_pydantic(arguments: dict[str, Any], line: str) -> None:
    text = (await said("python-v2", arguments)).text
    assert text.startswith("Error executing tool find_it: 1 validation error for find_itArguments\n" + line)
    assert "https://errors.pydantic.dev/" in text


async def test_an_unknown_tool_is_a_tool_error_or_a_json_rpc_error_as_the_sdk_has_it() -> None:
    assert (await said("typescript", {}, "nope")).text == "MCP error -32602: Tool nope not found"
    assert (await said("python-v1", {}, "nope")).text == "Unknown tool: nope"
    modern = await said("python-v2", {}, "nope")
    assert modern.result is None and (modern.error.code, modern.error.message) == (-32602, "Unknown tool: nope")


@needs_shared
@pytest.mark.parametrize("server", ["everything", "fetch", "filesystem", "memory", "sqlite"])
async def test_argument_errors_of_recorded_sessions_are_said_word_for_word(server: str) -> None:
    spec = load_one(str(SHARED / "real" / "specs" / f"{server}.json"))
    world = World(spec)
    seen = 0
    for line in (SHARED / "real" / "sessions" / f"{server}.jsonl").read_text().splitlines():
        call = json.loads(line)
        text = "".join(block.get("text", "") for block in call["result"]["content"]) if "result" in call else ""
        recorded = any(
            mark in text for mark in ("Input validation error", "validation error for", "MCP error -32602: Tool")
        )
        if not call.get("result", {}).get("isError") or not recorded or "url_parsing" in text:
            continue  # `url_parsing`: the type of the code behind it, which its inputSchema does not tell
        observation = await world.step(Action(call["request"]["name"], call["request"].get("arguments", {})))
        assert sorted(observation.text.split("\n")) == sorted(text.split("\n"))
        seen += 1
    assert seen >= 1
