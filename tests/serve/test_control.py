"""The control API: makes, lists, resets and closes worlds, and reads them; and an agent cannot reach it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import anyio
import httpx2
import jsonschema
import pytest
from mcp import Client

from mcp_world import load_one
from mcp_world.serve.openapi import DOCUMENT
from mcp_world.serve.run import Addresses, http_servers
from mcp_world.world.worlds import Worlds

pytestmark = pytest.mark.anyio
ISSUE = {"owner": "acme", "repo": "web", "issue_number": 2}


@pytest.fixture
async def served() -> AsyncIterator[Addresses]:
    async with http_servers(
        Worlds([load_one("source-hosting"), load_one("email")], seed=7), control_token="control", token="agent"
    ) as at:
        yield at


@pytest.fixture
async def control(served: Addresses) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=served.control, headers={"Authorization": "Bearer control"}) as http:
        yield http


def agent(served: Addresses, path: str) -> Client:
    from mcp.client.streamable_http import streamable_http_client

    return Client(
        streamable_http_client(
            served.agents + path, http_client=httpx2.AsyncClient(headers={"Authorization": "Bearer agent"})
        )
    )


async def test_a_world_lives_from_its_making_to_its_closing(served: Addresses, control: httpx2.AsyncClient) -> None:
    made = (await control.post("/worlds", json={"id": "w", "seed": 3, "start": "2025-02-01T00:00:00Z"})).json()
    jsonschema.validate(made, DOCUMENT["components"]["schemas"]["World"])
    assert (made["seed"], made["time"], made["mcp"]) == (3, "2025-02-01T00:00:00Z", "/worlds/w/mcp")
    async with agent(served, made["mcp"]) as client:
        issue = (await client.call_tool("get_issue", ISSUE)).structured_content
        await client.call_tool("get_issue", {})
    steps = (await control.get("/worlds/w/steps")).json()["steps"]
    assert [s["tool"] for s in steps] == ["get_issue", "get_issue"]
    assert steps[0]["committed"]["result"]["structuredContent"] == issue
    assert (await control.get("/worlds/w/steps?after=1")).json()["steps"] == steps[1:]
    shown = [e for e in (await control.get("/worlds/w/ledger")).json()["entities"] if e["kind"] == "issue"]
    assert [e["id"] for e in shown] == [2]
    assert [w["id"] for w in (await control.get("/worlds")).json()["worlds"]] == ["default", "w"]
    assert (await control.post("/worlds/w/reset", json={"seed": 4})).json()["steps"] == 0
    async with agent(served, made["mcp"]) as client:
        assert (await client.call_tool("get_issue", ISSUE)).structured_content != issue
    assert (await control.delete("/worlds/w")).status_code == 204
    assert (await control.get("/worlds/w")).status_code == 404
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer agent"}) as http:
        assert (await http.post(served.agents + made["mcp"], json={})).status_code == 404


async def test_closing_a_world_ends_its_sse_connections(served: Addresses, control: httpx2.AsyncClient) -> None:
    await control.post("/worlds", json={"id": "w"})
    given = {"Authorization": "Bearer agent"}
    async with (
        httpx2.AsyncClient(headers=given, timeout=10) as http,
        http.stream("GET", f"{served.agents}/worlds/w/sse") as stream,
    ):
        lines = stream.aiter_lines()
        assert await anext(lines) == "event: endpoint"
        await control.delete("/worlds/w")
        with anyio.fail_after(5), contextlib.suppress(httpx2.RemoteProtocolError):
            async for _ in lines:
                pass


async def test_facts_and_spec_can_be_given(served: Addresses, control: httpx2.AsyncClient) -> None:
    facts = {"label": [{"id": "l0001", "name": "Taxes", "unread": 3}]}
    made = (await control.post("/worlds", json={"spec": "email", "facts": facts})).json()
    async with agent(served, made["mcp"]) as client:
        assert (await client.call_tool("list_labels", {})).structured_content["labels"] == facts["label"]


async def test_worlds_made_without_a_name_get_names_and_seeds_in_order(control: httpx2.AsyncClient) -> None:
    made = [(await control.post("/worlds")).json() for _ in range(3)]
    assert [(w["id"], w["seed"]) for w in made] == [("w1", 8), ("w2", 9), ("w3", 10)]


async def test_an_agent_cannot_reach_it(served: Addresses) -> None:
    async with httpx2.AsyncClient() as http:
        for given in ({}, {"Authorization": "Bearer agent"}):
            for method, path in (
                ("GET", "/worlds"),
                ("POST", "/worlds"),
                ("DELETE", "/worlds/default"),
                ("GET", "/worlds/default/ledger"),
            ):
                assert (await http.request(method, served.control + path, headers=given)).status_code == 401
        assert (
            await http.get(served.agents + "/worlds", headers={"Authorization": "Bearer control"})
        ).status_code == 404
        assert (
            await http.get(served.agents + "/worlds/default/ledger", headers={"Authorization": "Bearer agent"})
        ).status_code == 404
        bad_host = await http.get(
            served.control + "/worlds", headers={"Authorization": "Bearer control", "Host": "evil.example"}
        )
        assert bad_host.status_code == 421


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"id": "default"}, 409, "already"),
        ({"id": "no good"}, 400, "no name for a world"),
        ({"spec": "nope"}, 400, "no spec 'nope'"),
        ({"seed": "x"}, 400, "a int is wanted"),
        ({"colour": 1}, 400, "no field 'colour'"),
        ({"start": "soon"}, 400, "not a date"),
        ({"facts": {"issue": 5}}, 400, "a list of records"),
        ({"facts": {"issue": [{"number": 1, "state": "frozen"}]}}, 400, "facts#/issue/0/state"),
        ([], 400, "the body is an object"),
    ],
)
async def test_bad_input_is_one_line(control: httpx2.AsyncClient, body: object, status: int, says: str) -> None:
    answer = await control.post("/worlds", json=body)
    assert answer.status_code == status
    assert says in answer.json()["error"]
    assert len((await control.get("/worlds")).json()["worlds"]) == 1


async def test_the_page_and_the_document_describe_every_route(control: httpx2.AsyncClient, served: Addresses) -> None:
    async with httpx2.AsyncClient() as anyone:
        page = (await anyone.get(served.control + "/")).text
        document = (await anyone.get(served.control + "/openapi.json")).json()
    assert document["openapi"] == "3.1.0"
    for path, item in document["paths"].items():
        assert path in page
        for method in set(item) - {"parameters"}:
            answer = await control.request(method.upper(), path.replace("{id}", "nobody"))
            assert answer.status_code not in (405, 500), (method, path)
            assert str(answer.status_code) in item[method]["responses"]
    assert "http://" not in page and "https://" not in page
