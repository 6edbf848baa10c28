"""10 000 worlds in one process: memory a world, time to create one, and calls/s as worlds grow."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import anyio
import httpx2
import orjson
from rich.console import Console
from rich.table import Table

from benchmarks.bare import ARGUMENTS, TOOL
from benchmarks.process import free_port, listening
from mcp_world import Action, World, load_one
from mcp_world.core.types import Json
from mcp_world.world.worlds import Worlds

CALLS = 5_000
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "wrk", "version": "1"},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": TOOL, "arguments": ARGUMENTS, "_meta": META},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": TOOL,
}
STAGES = (10, 100, 1_000, 10_000)


def resident() -> float:
    """Resident memory now, in KiB."""
    with open("/proc/self/statm") as statm:  # noqa: PTH123
        return int(statm.read().split()[1]) * resource.getpagesize() / 1024


async def rate(crowd: list[World], action: Action, in_turn: int) -> float:
    """Calls/s over many worlds, some calls to each in turn; the best of three rounds."""
    best = 0.0
    for _ in range(3):
        begun = time.perf_counter()
        for n in range(CALLS):
            await crowd[n // in_turn * 7919 % len(crowd)].step(action)
        best = max(best, CALLS / (time.perf_counter() - begun))
    return best


def encoding(answer: Json, stage: int) -> float:
    """Encodings/s of so many copies of one answer in turn: what this machine's caches cost code that does nothing else."""
    copies = [orjson.loads(orjson.dumps(answer)) for _ in range(stage)]
    best = 0.0
    for _ in range(3):
        begun = time.perf_counter()
        for n in range(CALLS):
            orjson.dumps(copies[n * 7919 % stage])
        best = max(best, CALLS / (time.perf_counter() - begun))
    return best


async def measure(table: Table) -> None:
    worlds = Worlds([load_one("source-hosting")], seed=1)
    action = Action(TOOL, ARGUMENTS)
    answer = await worlds.get("default").step(action)  # type: ignore[union-attr]
    made = 1
    first = first_encoding = 0.0
    for stage in STAGES:
        base, begun = resident(), time.perf_counter()
        fresh = [worlds.create() for _ in range(stage - made)]
        create = (time.perf_counter() - begun) / len(fresh)
        made = stage
        idle = (resident() - base) / len(fresh)
        for world in fresh:
            await world.step(action)  # the first call of a world finds its things
        used = (resident() - base) / len(fresh)
        crowd = list(worlds)
        calls = await rate(crowd, action, in_turn=1)
        runs = await rate(crowd, action, in_turn=10)
        encodings = encoding(answer.structured, made)
        first, first_encoding = first or calls, first_encoding or encodings
        table.add_row(
            f"{made:,}",
            f"{create * 1e6:,.0f} µs",
            f"{idle:,.1f} KiB",
            f"{used:,.1f} KiB",
            f"{calls:,.0f}",
            f"{calls / first:.2f}",
            f"{runs / first:.2f}",
            f"{encodings / first_encoding:.2f}",
        )


def serve(made: int) -> float:
    """Requests/s under `wrk` of a server with so many worlds, each request to another one."""
    rotate = f"""
local body = [==[{json.dumps(CALL)}]==]
local headers = {{ {", ".join(f'["{k}"] = "{v}"' for k, v in HEADERS.items())} }}
local n = 0
request = function()
  n = n + 1
  return wrk.format("POST", "/worlds/w" .. (n * 7919 % {made} + 1) .. "/mcp", headers, body)
end
"""
    port, control = free_port(), free_port()
    command = [
        sys.executable,
        "-m",
        "mcp_world",
        "serve",
        "source-hosting",
        "--http",
        "--port",
        str(port),
        "--journal",
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        listening(
            port, *command, f"{folder}/journal.sqlite", "--control-port", str(control), "--control-token", "t"
        ) as origin,
        httpx2.Client(base_url=f"http://127.0.0.1:{control}", headers={"Authorization": "Bearer t"}) as http,
        tempfile.NamedTemporaryFile("w", suffix=".lua") as script,
    ):
        with httpx2.Client(base_url=origin, headers=HEADERS) as agent:
            for n in range(1, made + 1):
                http.post("/worlds").raise_for_status()
                first = agent.post(f"/worlds/w{n}/mcp", json=CALL)  # which finds the world's things
                assert first.json()["result"]["structuredContent"], first.text
        script.write(rotate)
        script.flush()
        best = 0.0
        for _ in range(3):
            done = subprocess.run(
                ["wrk", "-t1", "-c8", "-d5s", "-s", script.name, origin], capture_output=True, text=True, check=True
            )
            assert "Non-2xx" not in done.stdout, done.stdout
            best = max(best, float(done.stdout.split("Requests/sec:")[1].split()[0]))
    return best


def run(console: Console) -> None:
    """Print the table: each call to another world, cold in the processor's cache; ten to each in turn; and what the
    machine's caches alone do to a C library that encodes as many copies of the answer in turn."""
    table = Table(title="worlds in one process, no journal", title_justify="left")
    for column in (
        "worlds",
        "to create one",
        "a world, made",
        "a world, after its first call",
        "calls/s",
        "to the first row",
        "ten in turn",
        "orjson alone",
    ):
        table.add_column(column, justify="right")
    anyio.run(measure, table)
    console.print(table)
    if shutil.which("wrk") is None:
        console.print("worlds, served: left out, for `wrk` is not there (apt-get install wrk)")
        return
    served = Table(
        title="the same, served over HTTP with a journal, each request to another world", title_justify="left"
    )
    for column in ("worlds", "requests/s", "to the first row"):
        served.add_column(column, justify="right")
    first = 0.0
    for made in (10, 10_000):
        rate = serve(made)
        first = first or rate
        served.add_row(f"{made:,}", f"{rate:,.0f}", f"{rate / first:.2f}")
    console.print(served)
