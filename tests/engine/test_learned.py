"""The procedural engine in the voice of a real server that it has examples of."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from typing import Any

import pytest

from mcp_world import Action, Observation, World, load_one, parse
from mcp_world.spec.cassette import Call
from tests.conftest import real_spec, thing, tool

pytestmark = pytest.mark.anyio
TEXT = {"type": "string"}


def example(
    name: str, text: str, arguments: dict[str, Any], structured: Any = None, error: bool = False, **more: Any
) -> Call:
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], **more}
    if structured is not None:
        result["structuredContent"] = structured
    if error:
        result["isError"] = True
    return Call("tools/call", {"name": name, "arguments": arguments}, [], result)


def world(tools: list[dict[str, Any]], *examples: Call, **options: Any) -> World:
    return World(replace(parse(tools, name="s"), examples=examples), **options)


async def ask(w: World, _tool: str, **arguments: Any) -> Observation:
    return await w.step(Action(_tool, arguments))


async def test_one_example_is_used_at_once() -> None:
    w = world([tool("greet", {"name": TEXT})], example("greet", "Hello, Berta! Welcome.", {"name": "Berta"}))
    assert (await ask(w, "greet", name="Ada")).text == "Hello, Ada! Welcome."


async def test_data_in_text_is_made_anew_in_the_same_form() -> None:
    rows = [{"id": 1, "name": "Ben", "age": None}, {"id": 2, "name": "Chi", "age": 30}]
    w = world([tool("list_users", {})], example("list_users", repr(rows), {}))
    made = ast.literal_eval((await ask(w, "list_users")).text)
    assert len(made) > 2 and all(row.keys() == {"id", "name", "age"} for row in made)


async def test_a_thing_read_twice_and_listed_is_the_same_thing_in_learned_json() -> None:
    tools = [tool("list_users", {}), tool("get_user", {"user_id": {"type": "integer"}})]
    user = {"id": 4, "name": "Ben", "email": "b@x.org"}
    w = world(
        tools,
        example("list_users", json.dumps({"users": [user]}), {}),
        example("get_user", json.dumps(user, indent=2), {"user_id": 4}),
    )
    listed = json.loads((await ask(w, "list_users")).text)["users"]
    got = (await ask(w, "get_user", user_id=listed[0]["id"])).text
    assert json.loads(got) == listed[0] and "\n" in got


async def test_refusals_take_the_words_of_the_server() -> None:
    tools = [tool("get_user", {"user_id": {"type": "integer"}}), tool("get_team", {"team_id": {"type": "integer"}})]
    w = world(tools, example("get_user", "E404: no such user 77", {"user_id": 77}, error=True, code=4))
    refused = await ask(w, "get_user", user_id=99_999)
    assert refused.text == "E404: no such user 99999" and refused.result is not None and refused.result["code"] == 4
    assert (await ask(w, "get_team", team_id=55_555)).text == "E404: no such user 55555"


async def test_a_failure_reported_as_success_stays_one() -> None:
    w = world(
        [tool("get_user", {"user_id": {"type": "integer"}})],
        example("get_user", "Error: user 77 not found", {"user_id": 77}, isError=False),
    )
    refused = await ask(w, "get_user", user_id=99_999)
    assert not refused.is_error and refused.text == "Error: user 99999 not found"


async def test_the_text_beside_structured_content_is_the_part_that_it_was() -> None:
    schema = thing(users={"type": "array", "items": thing(id={"type": "integer"}, name=TEXT)})
    seen = {"users": [{"id": 1, "name": "B"}]}
    w = world([tool("list_users", {}, schema)], example("list_users", json.dumps(seen["users"]), {}, seen))
    made = await ask(w, "list_users")
    assert json.loads(made.text) == made.structured["users"] and "\n" not in made.text


async def test_a_wrapped_text_is_wrapped_again() -> None:
    w = world(
        [tool("tell", {"name": TEXT}, thing(content=TEXT))],
        example("tell", "Told Berta.", {"name": "Berta"}, {"content": "Told Berta."}),
    )
    made = await ask(w, "tell", name="Ada")
    assert made.text == "Told Ada." and made.structured == {"content": "Told Ada."}


async def test_blocks_that_are_no_text_come_along_with_what_they_took_from_the_call() -> None:
    link = {"type": "resource_link", "name": "r", "uri": "x://items/lamp"}
    call = Call(
        "tools/call",
        {"name": "find", "arguments": {"item": "lamp"}},
        [],
        {"content": [{"type": "text", "text": "Here:"}, link]},
    )
    made = await ask(world([tool("find", {"item": TEXT})], call), "find", item="sofa")
    assert made.result is not None and made.result["content"][1]["uri"] == "x://items/sofa"


async def test_same_seed_and_examples_are_the_same_bytes() -> None:
    calls = [example("list_users", repr([{"id": 1, "name": "Ben"}]), {})]
    one, two = (world([tool("list_users", {})], *calls, seed=5) for _ in range(2))
    assert (await ask(one, "list_users")).text == (await ask(two, "list_users")).text


SQL = [tool("write_query", {"query": TEXT}), tool("read_query", {"query": TEXT}), tool("list_tables", {})]
SQL_EXAMPLES = (
    example("write_query", "[{'affected_rows': 3}]", {"query": "INSERT INTO x VALUES (1),(2),(3)"}, isError=False),
    example("write_query", "Database error: no such table: y", {"query": "DELETE FROM y"}, isError=False),
)


async def test_sql_is_run_and_answered_in_the_servers_form() -> None:
    w = world(SQL, *SQL_EXAMPLES)
    await ask(w, "write_query", query="CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
    assert (
        await ask(w, "write_query", query="INSERT INTO t (name) VALUES ('Ada'), ('Ben')")
    ).text == "[{'affected_rows': 2}]"
    assert (await ask(w, "read_query", query="SELECT * FROM t WHERE name > 'B'")).text == "[{'id': 2, 'name': 'Ben'}]"
    assert (await ask(w, "list_tables")).text == "[{'name': 't'}]"
    clash = await ask(w, "write_query", query="INSERT INTO t (name) VALUES ('Ada')")
    assert clash.text == "Database error: UNIQUE constraint failed: t.name" and not clash.is_error


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH DATABASE '/tmp/mcp-world-attack.db' AS a",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT randomblob(2000000000)",
        "SELECT 1; DROP TABLE t",
        "SELEC 1",
    ],
)
async def test_sql_reaches_no_file_and_ends(query: str, tmp_path: Any) -> None:
    w = world(
        [tool("query", {"sql": TEXT}, required=[])],
        example("query", "Database error: x", {"sql": "SELECT y"}, isError=False),
    )
    await ask(w, "query", sql="CREATE TABLE t (n)")
    assert (await ask(w, "query", sql=query)).text.startswith("Database error: ")
    assert (await ask(w, "query", sql="SELECT * FROM t")).text == "[]"


async def test_a_world_that_is_reset_has_an_empty_database() -> None:
    w = world(SQL, *SQL_EXAMPLES)
    await ask(w, "write_query", query="CREATE TABLE t (n)")
    await w.reset()
    assert "no such table" in (await ask(w, "read_query", query="SELECT * FROM t")).text


async def memory() -> World:
    w = World(load_one(str(real_spec("memory"))))
    people = [{"name": n, "entityType": "person", "observations": []} for n in ("Ada", "Ben", "Chi")]
    await ask(w, "create_entities", entities=people)
    await ask(
        w,
        "create_relations",
        relations=[
            {"from": "Ada", "to": "Ben", "relationType": "knows"},
            {"from": "Ben", "to": "Chi", "relationType": "knows"},
        ],
    )
    return w


def names(observation: Observation) -> list[str]:
    return [entity["name"] for entity in observation.structured["entities"]]


async def test_a_graph_shows_what_was_put_into_it() -> None:
    w = await memory()
    graph = await ask(w, "read_graph")
    assert {"Ada", "Ben", "Chi"} <= set(names(graph))
    assert {"from": "Ada", "to": "Ben", "relationType": "knows"} in graph.structured["relations"]


async def test_opened_nodes_are_those_asked_for_with_the_relations_that_touch_them() -> None:
    w = await memory()
    opened = await ask(w, "open_nodes", names=["Ada"])
    assert names(opened) == ["Ada"]
    assert opened.structured["relations"] == [{"from": "Ada", "to": "Ben", "relationType": "knows"}]


async def test_observations_are_added_once_and_taken_away_again() -> None:
    w = await memory()
    added = await ask(w, "add_observations", observations=[{"entityName": "Ada", "contents": ["likes tea", "is tall"]}])
    assert added.structured["results"] == [{"entityName": "Ada", "addedObservations": ["likes tea", "is tall"]}]
    again = await ask(w, "add_observations", observations=[{"entityName": "Ada", "contents": ["likes tea"]}])
    assert again.structured["results"] == [{"entityName": "Ada", "addedObservations": []}]
    await ask(w, "delete_observations", deletions=[{"entityName": "Ada", "observations": ["is tall", "unknown"]}])
    (ada,) = (await ask(w, "open_nodes", names=["Ada"])).structured["entities"]
    assert ada["observations"] == ["likes tea"]


async def test_a_relation_is_deleted_by_what_it_says() -> None:
    w = await memory()
    await ask(w, "delete_relations", relations=[{"from": "Ada", "to": "Ben", "relationType": "knows"}])
    assert (await ask(w, "open_nodes", names=["Ada"])).structured["relations"] == []
