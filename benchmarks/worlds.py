"""10 000 worlds in one process: memory a world, time to create one, and calls/s as worlds grow."""

from __future__ import annotations

import resource
import time

import anyio
from rich.console import Console
from rich.table import Table

from benchmarks.bare import ARGUMENTS, TOOL
from mcp_world import Action, World, load_one
from mcp_world.world.worlds import Worlds

CALLS = 5_000
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


async def measure(table: Table) -> None:
    worlds = Worlds([load_one("source-hosting")], seed=1)
    action = Action(TOOL, ARGUMENTS)
    await worlds.get("default").step(action)  # type: ignore[union-attr]
    made = 1
    first = 0.0
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
        first = first or calls
        table.add_row(
            f"{made:,}",
            f"{create * 1e6:,.0f} µs",
            f"{idle:,.1f} KiB",
            f"{used:,.1f} KiB",
            f"{calls:,.0f}",
            f"{calls / first:.2f}",
            f"{runs / first:.2f}",
        )


def run(console: Console) -> None:
    """Print the table: each call to another world, cold in the processor's cache; and ten to each in turn."""
    table = Table(title="worlds in one process, no journal", title_justify="left")
    for column in (
        "worlds",
        "to create one",
        "a world, made",
        "a world, after its first call",
        "calls/s",
        "to the first row",
        "ten in turn",
    ):
        table.add_column(column, justify="right")
    anyio.run(measure, table)
    console.print(table)
