"""MCP by hand: what stands on the wire, before any SDK has looked at it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.sse import sse_client
from mcp.shared.message import SessionMessage

from tests.conftest import ROOT

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def hello(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


def from_body(response: httpx2.Response) -> dict[str, Any]:
    """The JSON-RPC message in a response, JSON or SSE."""
    if response.headers["content-type"].startswith("text/event-stream"):
        data = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: {")]
        return json.loads(data[-1])
    return json.loads(response.text)


class Http:
    """One client over streamable HTTP, of an old or the new protocol."""

    def __init__(self, url: str, version: str, headers: dict[str, str] | None = None) -> None:
        self.url = url
        self.version = version
        self.http = httpx2.AsyncClient(headers={**ACCEPT, **(headers or {})}, timeout=30)
        self.session: dict[str, str] = {}
        self.number = 0

    async def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.number += 1
        params = dict(params or {})
        headers = dict(self.session)
        if self.version == "2026-07-28":
            params["_meta"] = MODERN
            headers |= {"MCP-Protocol-Version": self.version, "Mcp-Method": method}
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        response = await self.http.post(self.url, json=body, headers=headers)
        if method == "initialize":
            self.session = {"Mcp-Session-Id": response.headers["mcp-session-id"], "MCP-Protocol-Version": self.version}
        self.last = response
        return from_body(response)

    async def __aenter__(self) -> Http:
        if self.version != "2026-07-28":
            self.hello = (await self.request("initialize", hello(self.version)))["result"]
            await self.http.post(
                self.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.session
            )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.http.aclose()


class Stdio:
    """One client over stdio; the server is a process of its own."""

    def __init__(self, process: subprocess.Popen[str], version: str) -> None:
        self.process = process
        self.version = version
        self.number = 0

    def send(self, method: str, params: dict[str, Any], *, answered: bool = True) -> None:
        assert self.process.stdin is not None
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if answered:
            self.number += 1
            message["id"] = self.number
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        params = dict(params or {})
        if self.version == "2026-07-28":
            params["_meta"] = MODERN
        self.send(method, params)
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@contextmanager
def stdio(version: str, *arguments: str) -> Iterator[Stdio]:
    command = [sys.executable, "-m", "mcp_world", "serve", *arguments]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT
    )
    try:
        client = Stdio(process, version)
        if version != "2026-07-28":
            client.hello = client.request("initialize", hello(version))["result"]  # type: ignore[attr-defined]
            client.send("notifications/initialized", {}, answered=False)
        yield client
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(30)


@asynccontextmanager
async def sse(url: str, version: str) -> AsyncIterator[Any]:
    """A function that sends one request over the legacy SSE transport and gives the raw answer."""
    async with sse_client(url) as (read, write):
        number = 0

        async def request(method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
            nonlocal number
            number += 1
            params = {**(params or {}), **({"_meta": MODERN} if version == "2026-07-28" else {})}
            await write.send(
                SessionMessage(types.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=params))
            )
            message = (await read.receive()).message
            return (
                {"result": message.result}
                if isinstance(message, types.JSONRPCResponse)
                else {"error": message.error.model_dump()}
            )

        if version != "2026-07-28":
            await request("initialize", hello(version))
            await write.send(
                SessionMessage(types.JSONRPCNotification(jsonrpc="2.0", method="notifications/initialized"))
            )
        yield request


def recorded(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())
