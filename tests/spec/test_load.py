"""Every layout of a spec that people have, and every way a file can be wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mcp_world import Action, BadInput, World, load, load_one, parse
from mcp_world.spec.model import combine
from tests.conftest import REAL_SPECS, mcp_world, needs_shared, tool

MCP = [tool("get_user", {"id": {"type": "string"}}), tool("list_users", {})]


def names(data: object) -> list[str]:
    return [t.name for t in parse(data, name="x").tools]


@pytest.mark.parametrize(
    "data",
    [
        {"serverInfo": {"name": "s", "version": "1"}, "tools": MCP},
        MCP,
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": MCP}},
        [{"type": "function", "function": {"name": t["name"], "parameters": t["inputSchema"]}} for t in MCP],
        {"model": "m", "tools": [{"type": "function", "name": t["name"], "parameters": t["inputSchema"]} for t in MCP]},
        {"functions": [{"name": t["name"], "parameters": t["inputSchema"]} for t in MCP]},
        [{"name": t["name"], "description": "d", "input_schema": t["inputSchema"]} for t in MCP],
    ],
    ids=["recorded", "bare", "jsonrpc", "openai-chat", "openai-responses", "openai-functions", "anthropic"],
)
def test_every_layout_of_a_tool_list_gives_the_same_tools(data: object) -> None:
    assert names(data) == ["get_user", "list_users"]
    assert parse(data, name="x").tools[0].raw["inputSchema"] == MCP[0]["inputSchema"]


def test_an_openai_function_without_parameters_takes_none() -> None:
    (only,) = parse([{"type": "function", "function": {"name": "ping"}}], name="x").tools
    assert only.input is not None and only.input.is_valid({})


@needs_shared
@pytest.mark.parametrize("path", REAL_SPECS, ids=lambda p: p.stem)
def test_a_recorded_server_loads_with_every_tool_usable(path: Path) -> None:
    recorded = json.loads(path.read_text())
    spec = load_one(str(path))
    assert [t.raw for t in spec.tools] == recorded["tools"]
    assert all(t.input is not None for t in spec.tools)
    assert [t.name for t in spec.tools if t.output is None] == [
        t["name"] for t in recorded["tools"] if "outputSchema" not in t
    ]


def test_a_shipped_spec_is_found_by_name_and_the_users_own_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(load_one("payments").tools) == 14
    (tmp_path / "tool_specs").mkdir()
    (tmp_path / "tool_specs" / "payments.json").write_text(json.dumps(MCP))
    monkeypatch.chdir(tmp_path)
    assert [t.name for t in load_one("payments").tools] == ["get_user", "list_users"]


def test_a_clients_config_gives_every_server_it_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "tool_specs").mkdir(exist_ok=True)
        (tmp_path / "tool_specs" / f"{name}.json").write_text(json.dumps(MCP))
    for key in ("mcpServers", "servers"):
        config = tmp_path / f"{key}.json"
        config.write_text(json.dumps({key: {"one": {"command": "x"}, "two": {"url": "http://127.0.0.1/mcp"}}}))
        assert [spec.name for spec in load(str(config))] == ["one", "two"]


def test_a_config_whose_servers_were_never_asked_says_how_to_ask_them(tmp_path: Path) -> None:
    config = tmp_path / "c.json"
    config.write_text(json.dumps({"mcpServers": {"ghost": {"command": "no-such-command"}}}))
    with pytest.raises(BadInput, match=r"'ghost'.*capture --config"):
        load(str(config))


@pytest.mark.anyio
async def test_tools_of_one_server_made_of_several_answer_each_in_its_own_world_of_things() -> None:
    world = World(combine([load_one("chat"), load_one("email")]), seed=1)
    channel = (await world.step(Action("chat_list_channels", {"limit": 1}))).structured["channels"][0]["id"]
    posted = await world.step(Action("chat_post_message", {"channel_id": channel, "text": "hello"}))
    assert posted.structured["text"] == "hello"
    mails = (await world.step(Action("email_list_messages", {"limit": 100}))).structured["messages"]
    assert "hello" not in [mail["body"] for mail in mails]
    assert "tool chat_get_channel" in (await world.step(Action("chat_get_channel"))).text


def test_several_specs_are_one_server_with_prefixed_tools() -> None:
    whole = combine([load_one("weather"), load_one("chat")])
    assert whole.listed[0]["name"] == "weather_get_current_weather"
    assert len(whole.listed) == 7 + 13
    assert "chat_post_message" in whole.by_name


@pytest.mark.parametrize(
    ("entry", "pointer", "reason"),
    [
        ("text", "/tools/1", "a tool is an object"),
        ({"description": "no name"}, "/tools/1/name", "a tool needs a name"),
        (
            {"name": "broken", "inputSchema": {"type": "object", "$ref": "http://elsewhere/x"}},
            "/tools/1/inputSchema",
            "nothing is fetched",
        ),
        (
            {"name": "odd", "inputSchema": {"type": "object", "properties": {"a": {"type": "strin"}}}},
            "/tools/1/inputSchema/properties/a/type",
            "strin",
        ),
        ({"name": "none"}, "/tools/1/inputSchema", "needs an inputSchema"),
        ({"name": "get_user", "inputSchema": {"type": "object"}}, "/tools/1/name", "already"),
    ],
)
def test_a_bad_tool_is_named_with_its_pointer_and_does_not_sink_the_others(
    entry: object, pointer: str, reason: str
) -> None:
    spec = parse({"tools": [MCP[0], entry, MCP[1]]}, name="f.json")
    for t in spec.tools:
        _ = (t.input, t.output)
    problems = [*spec.problems, *(p for t in spec.tools for p in t.problems)]
    assert [p for p in problems if p.where.startswith(f"f.json#{pointer}") and reason in p.reason], problems
    assert {"get_user", "list_users"} <= {t.name for t in spec.tools}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.json", '{"tools": [}', "not valid JSON"),
        ("a.json", '{"a": NaN}', "NaN is no JSON number"),
        ("a.json", '{"hello": 1}', "no tools in any layout"),
        ("a.json", "[]", "no tools in any layout"),
        ("a.json", '{"tools": [1, 2]}', "none of its 2 tools can be used"),
        ("a.json", '{"tools": {"a": 1}}', "no tools in any layout"),
        ("a.json", '{"tools": [{"name": "a"}], "dialect": "cobol"}', "no dialect 'cobol'"),
        ("a.yaml", "a: [1, 2", "not valid YAML"),
        ("a.yaml", "a: &a [*a]", "aliased without end"),
        ("a.yaml", "1: x", "is not a string"),
        ("a.json", "[" * 5000 + "]" * 5000, "nested too deep"),
        ("a.json", '{"openapi": "9.0", "paths": {"/a": {}}}', "OpenAPI 9.0 is not known"),
    ],
)
def test_a_bad_file_ends_in_one_line_and_exit_code_2(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    for command in (("serve",), ("check",)):
        done = mcp_world(*command, str(path))
        assert done.returncode == 2
        assert says in done.stderr
        assert str(path) in done.stderr
        assert done.stderr.count("\n") == 1
        assert "Traceback" not in done.stderr


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        load(str(tmp_path / "none.json"))
    with pytest.raises(BadInput, match="source-hosting"):
        load("no-such-spec")


def test_bytes_that_are_no_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not UTF-8"):
        load(str(path))


def test_yaml_dates_stay_strings(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "tools:\n- name: a\n  inputSchema: {type: object, properties: {day: {type: string, default: 2025-03-01}}}\n"
    )
    assert load_one(str(path)).tools[0].raw["inputSchema"]["properties"]["day"]["default"] == "2025-03-01"
