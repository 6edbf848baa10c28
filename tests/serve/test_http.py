"""Over HTTP: worlds by URL, a token, Host and Origin, bad messages, and a short way that nobody can tell from the long one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp import Client

from mcp_world import load_one
from mcp_world.serve.run import Addresses, http_servers
from mcp_world.world.worlds import Worlds
from tests.serve.wire import ACCEPT, MODERN, Http, from_body

pytestmark = pytest.mark.anyio
ISSUE = {"owner": "acme", "repo": "web", "issue_number": 2}


@pytest.fixture
async def worlds() -> Worlds:
    return Worlds([load_one("source-hosting"), load_one("email")], seed=7)


@pytest.fixture
async def served(worlds: Worlds) -> AsyncIterator[Addresses]:
    async with http_servers(worlds, control_token="control") as at:
        yield at


async def test_each_world_has_its_own_address_and_its_own_things(served: Addresses, worlds: Worlds) -> None:
    worlds.create("one", seed=1)
    worlds.create("two", seed=1)
    async with Client(f"{served.agents}/worlds/one/mcp") as one, Client(f"{served.agents}/worlds/two/mcp") as two:
        made = await one.call_tool("create_issue", {"owner": "a", "repo": "b", "title": "only here"})
        number = made.structured_content["number"]
        other = await two.call_tool("get_issue", {"owner": "a", "repo": "b", "issue_number": number})
        assert other.is_error
    assert len(worlds.get("one").steps) == 1


async def test_two_specs_are_two_identities(served: Addresses, worlds: Worlds) -> None:
    worlds.create("mail", spec="email")
    async with Client(f"{served.agents}/worlds/mail/mcp") as client:
        assert client.server_info.name == "mailbox"


async def test_a_session_of_one_world_is_none_in_another(served: Addresses, worlds: Worlds) -> None:
    worlds.create("one")
    async with Http(served.agents + "/mcp", "2025-11-25") as client:
        client.url = f"{served.agents}/worlds/one/mcp"
        answer = await client.request("tools/call", {"name": "get_issue", "arguments": ISSUE})
        assert client.last.status_code == 404 and "error" in answer


@pytest.mark.parametrize("path", ["/", "/worlds/none/mcp", "/worlds/one/ledger", "/mcp/x", "/worlds"])
async def test_what_is_not_there_is_404(served: Addresses, path: str) -> None:
    async with httpx2.AsyncClient() as http:
        assert (await http.post(served.agents + path, json={})).status_code == 404


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
@pytest.mark.parametrize("path", ["/mcp", "/sse", "/messages"])
async def test_another_host_or_origin_is_refused(served: Addresses, header: dict[str, str], path: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    async with httpx2.AsyncClient(headers={**ACCEPT, **header}) as http:
        answer = await (
            http.get(served.agents + path) if path == "/sse" else http.post(served.agents + path, json=call)
        )
        assert answer.status_code in (403, 421)


async def test_the_short_way_checks_host_and_origin_too(served: Addresses) -> None:
    async with Http(served.agents + "/mcp", "2025-11-25") as client:
        client.http.headers["Origin"] = "http://evil.example"
        call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "get_issue", "arguments": ISSUE}}
        assert (await client.http.post(client.url, json=call, headers=client.session)).status_code == 403


async def test_agents_need_the_token_where_there_is_one(worlds: Worlds) -> None:
    async with http_servers(worlds, control_token="control", token="secret") as at:
        for path in ("/mcp", "/sse", "/messages"):
            for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer control"}):
                async with httpx2.AsyncClient(headers=given) as http:
                    answer = await (
                        http.get(at.agents + path) if path == "/sse" else http.post(at.agents + path, json={})
                    )
                    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        async with Http(at.agents + "/mcp", "2025-11-25", {"Authorization": "Bearer secret"}) as client:
            assert len((await client.request("tools/list"))["result"]["tools"]) == 20


LONG = {"progressToken": "p"}  # a call that wants progress goes the long way


@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(("name", "arguments"), [("get_issue", ISSUE), ("get_issue", {}), ("nope", {})])
async def test_the_short_way_gives_what_the_long_way_gives(
    worlds: Worlds, served: Addresses, version: str, name: str, arguments: dict[str, Any]
) -> None:
    answers = []
    for world, meta in (("short", {}), ("long", LONG)):
        worlds.create(world, seed=3)
        async with Http(f"{served.agents}/worlds/{world}/mcp", version) as client:
            params: dict[str, Any] = {"name": name, "arguments": arguments}
            if version != "2026-07-28":
                answers.append(await client.request("tools/call", {**params, "_meta": meta} if meta else params))
            else:
                body = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {**params, "_meta": {**MODERN, **meta}},
                }
                headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": name}
                answers.append(from_body(await client.http.post(client.url, json=body, headers=headers)))
    for answer in answers:
        answer.pop("id")
    assert answers[0] == answers[1]


async def test_a_json_rpc_error_is_the_same_both_ways(worlds: Worlds, served: Addresses) -> None:
    for version in ("2025-11-25", "2026-07-28"):
        statuses = []
        for meta in ({}, LONG):
            id = worlds.create(spec="email").id
            async with Http(f"{served.agents}/worlds/{id}/mcp", version) as client:
                body = {
                    "jsonrpc": "2.0",
                    "id": 1,
                    "method": "tools/call",
                    "params": {
                        "name": "nope",
                        "arguments": {},
                        "_meta": {**(MODERN if version > "2026" else {}), **meta},
                    },
                }
                headers = {
                    **client.session,
                    "MCP-Protocol-Version": version,
                    "Mcp-Method": "tools/call",
                    "Mcp-Name": "nope",
                }
                answer = await client.http.post(client.url, json=body, headers=headers)
                statuses.append((answer.status_code, from_body(answer)["error"]))
        assert statuses[0] == statuses[1]


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_issue", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', b'{"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {}}', b"\xff\xfe",
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_a_malformed_message_is_an_error_and_the_server_lives(
    served: Addresses, worlds: Worlds, version: str, body: bytes
) -> None:
    async with Http(served.agents + "/mcp", version) as client:
        headers = {
            **client.session,
            "Content-Type": "application/json",
            "MCP-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "get_issue",
        }
        answer = await client.http.post(client.url, content=body, headers=headers)
        assert answer.status_code >= 400 or "error" in from_body(answer), answer.text
        assert "Traceback" not in answer.text
        assert "result" in await client.request("tools/call", {"name": "get_issue", "arguments": ISSUE})
    assert len(worlds.get("default").steps) == 1


async def test_a_call_before_the_handshake_is_refused(served: Addresses, worlds: Worlds) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_issue", "arguments": ISSUE}}
    async with httpx2.AsyncClient(headers=ACCEPT) as http:
        answer = await http.post(served.agents + "/mcp", json=call)
        assert "error" in from_body(answer)
    assert worlds.get("default").steps == []


async def test_an_ended_session_is_gone_for_the_short_way_too(served: Addresses) -> None:
    async with Http(served.agents + "/mcp", "2025-11-25") as client:
        await client.request("tools/call", {"name": "get_issue", "arguments": ISSUE})
        assert (await client.http.delete(client.url, headers=client.session)).status_code == 200
        await client.request("tools/call", {"name": "get_issue", "arguments": ISSUE})
        assert client.last.status_code == 404


async def test_nothing_an_agent_sees_speaks_of_a_simulation(served: Addresses) -> None:
    for version in ("2025-11-25", "2026-07-28"):
        async with Http(served.agents + "/mcp", version) as client:
            seen = [json.dumps(client.hello) if version < "2026" else ""]
            for method, params in (
                ("tools/list", {}), ("tools/call", {"name": "get_issue", "arguments": ISSUE}), ("tools/call", {"name": "get_issue", "arguments": {}}),
                ("tools/call", {"name": "get_issue", "arguments": {**ISSUE, "issue_number": 9999}}), ("tools/call", {"name": "nope", "arguments": {}}), ("ping", {}),
            ):  # fmt: skip
                seen.append(json.dumps(await client.request(method, params)))
                seen.append(repr(client.last.headers))
        for text in seen:
            assert not [
                word
                for word in (
                    "mcp-world",
                    "mcp_world",
                    "mock",
                    "fake",
                    "simulat",
                    "fabricat",
                    "procedural",
                    "impersonat",
                )
                if word in text.lower()
            ], text


async def test_integers_beyond_64_bits_arrive(tmp_path: Any) -> None:
    big = 2**70
    spec = {
        "tools": [
            {
                "name": "get_big",
                "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object", "properties": {"n": {"const": big}}, "required": ["n"]},
            }
        ]
    }
    path = tmp_path / "s.json"
    path.write_text(json.dumps(spec))
    async with http_servers(Worlds([load_one(str(path))]), control_token="c") as at:
        for version in ("2025-11-25", "2026-07-28"):
            async with Http(at.agents + "/mcp", version) as client:
                assert (await client.request("tools/call", {"name": "get_big", "arguments": {}}))["result"][
                    "structuredContent"
                ] == {"n": big}
