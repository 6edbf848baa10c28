"""`mcp-world log`, `fidelity` and `demo`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from cyclopts import Parameter
from rich.console import Console
from rich.table import Table

from mcp_world.cli.app import app, newest_journal, out, print_json, shorten

if TYPE_CHECKING:
    pass


@app.command
def log(
    journal: str = "", *, world: str | None = None, as_json: Annotated[bool, Parameter(name="--json")] = False
) -> None:
    """Read a journal: every step, what was committed and what was sent.

    Parameters
    ----------
    journal
        The file; the newest in the default place where none is given.
    world
        Only this world's steps.
    as_json
        Print JSON Lines.
    """
    from mcp_world.world.journal import read_journal

    path = Path(journal) if journal else newest_journal()
    rows = read_journal(path, world)
    if as_json:
        for row in rows:
            sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    table = Table(title=str(path), title_justify="left")
    for column in ("world", "step", "time", "tool", "arguments", "observation", "engine", "µs"):
        table.add_column(column, overflow="ellipsis", no_wrap=column not in ("arguments", "observation"))
    for row in rows:
        sent = row["sent"]
        failed = "error" in sent or sent["result"].get("isError")
        table.add_row(
            row["world"], str(row["step"]), row["time"], row["tool"], shorten(row["arguments"]), shorten(sent.get("result", sent)),
            row["engine"], str(row["micros"]), style="red" if failed else None,
        )  # fmt: skip
    out.print(table)


@app.command
def fidelity(
    spec: str,
    *,
    cassette: list[Path],
    engine: str = "procedural",
    first: float = 0.5,
    cold: bool = False,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Measure how near predicted answers come to a real server's, on a recorded session.

    Each call is predicted with the session's true history before it. Status: success, `isError` or JSON-RPC error.
    Format: types of blocks and kind of text. Recall: of the values in the true answer that stood in the call or an
    earlier answer, how many the prediction has.

    Parameters
    ----------
    spec
        The server's spec: a name or a path.
    cassette
        A recorded session; of several, each is measured by itself.
    engine
        What predicts.
    first
        The part of each session that is only history; 0.5 predicts the second half.
    cold
        Learn nothing from the calls before.
    as_json
        Print JSON.
    """
    from mcp_world.evaluate.fidelity import online
    from mcp_world.spec.cassette import read_cassette
    from mcp_world.spec.load import load_one

    server = load_one(spec)
    rows: dict[str, list[Any]] = {}
    for path in cassette:
        calls = [call for call in read_cassette(path).calls if call.tool]

        async def run(calls: list[Any] = calls) -> list[Any]:
            return await online(server, calls, int(len(calls) * first), engine=engine, taught=not cold)

        for score in anyio.run(run):
            rows.setdefault(score.tool, []).append(score)
            rows.setdefault("all", []).append(score)
    rows["all"] = rows.pop("all", [])
    if as_json:
        print_json({
            name: {
                "calls": len(scores), "status": sum(s.status for s in scores), "format": sum(s.format for s in scores),
                "entailed": sum(s.entailed for s in scores), "recalled": sum(s.recalled for s in scores),
                "missed": [list(s.missed) for s in scores],
            }
            for name, scores in rows.items()
        })  # fmt: skip
        return
    table = Table(title=f"{server.name}, {engine}, {'cold' if cold else 'online'}", title_justify="left")
    for column in ("tool", "calls", "status", "format", "recall of entailed values"):
        table.add_column(column, justify="left" if column == "tool" else "right")
    for name, scores in rows.items():
        entailed, recalled = sum(s.entailed for s in scores), sum(s.recalled for s in scores)
        table.add_row(
            name, str(len(scores)), f"{sum(s.status for s in scores)}/{len(scores)}", f"{sum(s.format for s in scores)}/{len(scores)}",
            f"{recalled / entailed:.3f} ({recalled}/{entailed})" if entailed else "-",
        )  # fmt: skip
    out.print(table)


@app.command
def demo(*, seed: int = 7) -> None:
    """Run an errand at a service that does not exist, and print the transcript.

    Parameters
    ----------
    seed
        Another seed is another world.
    """
    from mcp_world.demo import demo as run

    anyio.run(run, seed, Console(highlight=False, width=None if sys.stdout.isatty() else 160))
