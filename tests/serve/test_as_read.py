"""Served as read: what a client receives deep-equals what was recorded, over each transport, to an old client and a new one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcp_world import load_one
from mcp_world.serve.run import Addresses, http_servers
from mcp_world.world.worlds import Worlds
from tests.conftest import REAL_SPECS, needs_shared
from tests.serve.wire import Http, recorded, sse, stdio

pytestmark = [needs_shared, pytest.mark.anyio]
VERSIONS = ["2024-11-05", "2025-11-25", "2026-07-28"]
ERAS = ["2025-06-18", "2026-07-28"]
by_spec = pytest.mark.parametrize("path", REAL_SPECS, ids=lambda p: p.stem)


@pytest.fixture(scope="module")
async def served() -> AsyncIterator[Addresses]:
    specs = [load_one(str(path)) for path in REAL_SPECS]
    worlds = Worlds(specs)
    for path, spec in zip(REAL_SPECS, specs, strict=True):
        worlds.create(path.stem, spec=spec.name)
    async with http_servers(worlds, control_token="t") as at:
        yield at


def same(got: Any, wanted: Any) -> None:
    """Equal, to the order of keys."""
    assert json.dumps(got) == json.dumps(wanted)


def check_lists(path: Path, tools: dict[str, Any], version: str) -> None:
    assert "error" not in tools, tools
    result = tools["result"]
    same(result["tools"], recorded(path)["tools"])
    if version == "2026-07-28":
        assert (result["resultType"], result["cacheScope"], result["ttlMs"]) == ("complete", "private", 0)
    else:
        assert set(result) == {"tools"}


@by_spec
@pytest.mark.parametrize("version", VERSIONS)
async def test_over_http(served: Addresses, path: Path, version: str) -> None:
    wanted = recorded(path)
    async with Http(f"{served.agents}/worlds/{path.stem}/mcp", version) as client:
        check_lists(path, await client.request("tools/list"), version)
        for method, key in (
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ):
            if isinstance(wanted.get(key), list) and wanted[key]:
                same((await client.request(method))["result"][key], wanted[key])
        if version == "2026-07-28":
            found = (await client.request("server/discover"))["result"]
            same(found["_meta"]["io.modelcontextprotocol/serverInfo"], wanted["serverInfo"])
            assert found["capabilities"].keys() == wanted["capabilities"].keys()
        else:
            same(client.hello["serverInfo"], wanted["serverInfo"])
            same(client.hello["capabilities"], wanted["capabilities"])
            assert client.hello["protocolVersion"] == version
            found = client.hello
        assert found.get("instructions") == wanted.get("instructions")


@by_spec
@pytest.mark.parametrize("version", ERAS)
async def test_over_sse(served: Addresses, path: Path, version: str) -> None:
    async with sse(f"{served.agents}/worlds/{path.stem}/sse", version) as request:
        check_lists(path, await request("tools/list"), version)


@by_spec
@pytest.mark.parametrize("version", ERAS)
async def test_over_stdio(path: Path, version: str) -> None:
    with stdio(version, str(path), "--journal", "none") as client:
        check_lists(path, client.request("tools/list"), version)
