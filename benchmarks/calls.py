"""Calls/s through the official client, against a bare SDK server that returns a constant: in memory, over stdio, over HTTP.

Ours has everything on: arguments, engine, verify, journal. The constant is the answer that ours gives to the same call, so
that both send, and the client checks, the same payload. Both are driven in turns within one run, so that what else the
machine does falls on both.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from rich.console import Console
from rich.table import Table

from benchmarks import bare
from benchmarks.process import ROOT
from benchmarks.process import bare as bare_http
from benchmarks.process import ours as our_http
from mcp_world import Journal, World
from mcp_world.serve.impersonation import Impersonation

ROUNDS = 7
CALLS = 300


async def rate(client: Client) -> float:
    begun = time.perf_counter()
    for _ in range(CALLS):
        await client.call_tool(bare.TOOL, bare.ARGUMENTS)
    return CALLS / (time.perf_counter() - begun)


async def compare(one: Client, two: Client) -> tuple[float, float]:
    """The best rates of both, taken in turns."""
    await rate(one)
    await rate(two)
    pairs = [(await rate(one), await rate(two)) for _ in range(ROUNDS)]
    return max(a for a, _ in pairs), max(b for _, b in pairs)


@asynccontextmanager
async def in_memory(mode: Any) -> AsyncIterator[tuple[Client, Client]]:
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "j.db")
        world = World("source-hosting", journal=journal)
        async with Client(Impersonation(world).server(), mode=mode) as one, Client(bare.server(), mode=mode) as two:
            yield one, two
        journal.close()


@asynccontextmanager
async def over_stdio(mode: Any) -> AsyncIterator[tuple[Client, Client]]:
    with tempfile.TemporaryDirectory() as folder:
        us = ["-m", "mcp_world", "serve", "source-hosting", "--journal", str(Path(folder) / "j.db")]
        commands = [
            StdioServerParameters(command=sys.executable, args=a, cwd=str(ROOT))
            for a in (us, ["-m", "benchmarks.bare", "stdio"])
        ]
        async with Client(commands[0], mode=mode) as one, Client(commands[1], mode=mode) as two:
            yield one, two


@asynccontextmanager
async def over_http(mode: Any) -> AsyncIterator[tuple[Client, Client]]:
    with our_http() as us, bare_http() as them:
        async with Client(us + "/mcp", mode=mode) as one, Client(them + "/mcp", mode=mode) as two:
            yield one, two


async def measure(table: Table) -> None:
    for name, transport in (("in memory", in_memory), ("stdio", over_stdio), ("HTTP", over_http)):
        for mode in ("legacy", "auto"):
            async with transport(mode) as (one, two):
                a, b = await compare(one, two)
            table.add_row(
                name, "2025-11-25" if mode == "legacy" else "2026-07-28", f"{a:,.0f}", f"{b:,.0f}", f"{a / b:.2f}"
            )


def run(console: Console) -> None:
    """Print the table; the bar is a ratio of 0.8."""
    table = Table(title="calls/s through the Python client, one at a time", title_justify="left")
    for column in ("transport", "protocol", "mcp-world", "bare SDK", "ratio"):
        table.add_column(column, justify="right" if column not in ("transport", "protocol") else "left")
    anyio.run(measure, table)
    console.print(table)
