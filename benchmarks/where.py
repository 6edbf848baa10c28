"""Where the time of a call goes: each part of a step on its own, as a share of the whole step."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from benchmarks.bare import ARGUMENTS, TOOL
from mcp_world import Action, Journal, World
from mcp_world.core.encoding import encode
from mcp_world.verify.schema import conforms
from mcp_world.world import arguments

TIMES = 3_000
PLACE = {"owner": "acme", "repo": "web"}


async def timed(what: Callable[[], Awaitable[object] | object], times: int = TIMES) -> float:
    """Microseconds of one call, the median of five rounds."""
    rounds = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(times):
            result = what()
            if isinstance(result, Awaitable):
                await result
        rounds.append((time.perf_counter() - begun) / times * 1e6)
    return sorted(rounds)[2]


async def measure(table: Table, others: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "j.db")
        world = World("source-hosting", journal=journal)
        action = Action(TOOL, ARGUMENTS)
        tool = world.spec.by_name[TOOL]
        observation = await world.step(action)
        request = world._request(tool, action, [], 0)
        without = World("source-hosting")
        parts = {
            "the whole step": await timed(lambda: world.step(action)),
            "the step without a journal": await timed(lambda: without.step(action)),
            "arguments": await timed(lambda: arguments.check(tool, ARGUMENTS, world.spec.dialect)),
            "engine": await timed(lambda: world.engine.predict(request)),
            "verify": await timed(lambda: conforms(tool, observation)),
            "encoding the answer": await timed(lambda: encode(observation.to_json())),
        }
        kinds = {
            "a read": lambda: without.step(action),
            "a list of 30": lambda: without.step(Action("list_issues", {**PLACE, "state": "all"})),
            "a comment made": lambda: without.step(
                Action("add_issue_comment", {**PLACE, "issue_number": 2, "body": "x"})
            ),
            "a refusal": lambda: without.step(Action(TOOL, {})),
        }
        for name, what in kinds.items():
            others.add_row(name, f"{await timed(what, 300):,.0f}")
        journal.close()
    parts["journal"] = parts["the whole step"] - parts["the step without a journal"]
    for name, micros in parts.items():
        table.add_row(name, f"{micros:,.1f}", f"{micros / parts['the whole step']:.2f}")


def run(console: Console) -> None:
    """Print the shares."""
    table = Table(title=f"one call of {TOOL}, in microseconds", title_justify="left")
    for column in ("part", "µs", "of the step"):
        table.add_column(column, justify="left" if column == "part" else "right")
    others = Table(title="steps of other kinds, without a journal, in microseconds", title_justify="left")
    for column in ("step", "µs"):
        others.add_column(column, justify="left" if column == "step" else "right")
    anyio.run(measure, table, others)
    console.print(table)
    console.print(others)
