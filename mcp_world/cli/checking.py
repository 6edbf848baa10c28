"""`mcp-world check`, `diff` and `specs`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
from cyclopts import Parameter
from rich.table import Table

from mcp_world.cli.app import app, err, launch_of, out, print_json, shorten
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.cassette import is_cassette
from mcp_world.spec.files import shipped
from mcp_world.spec.load import load, with_cassettes

if TYPE_CHECKING:
    from mcp_world.engines.procedural.model import Plan
    from mcp_world.spec.check import Report


@app.command
def check(
    *specs: str,
    cassette: list[Path] | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Say what specs hold: each tool's result shape, where that was learned, and what is wrong.

    Exit code 1 where something is wrong, 2 where a file cannot be used at all.

    Parameters
    ----------
    specs
        Names of shipped specs, or paths.
    cassette
        A recorded session with the real server, to learn shapes from.
    as_json
        Print JSON.
    """
    from mcp_world.engines.procedural.engine import ProceduralEngine
    from mcp_world.spec.check import check as findings

    if not specs:
        raise BadInput("no spec was given", where="check", do="Name a spec or give a path.")
    wrong = 0
    for name in specs:
        for read in load(name):
            spec = with_cassettes(read, cassette or [])
            reports = findings(spec)
            plans = ProceduralEngine(spec).model.plans
            problems = [str(p) for p in spec.problems] + [str(p) for r in reports for p in r.problems]
            problems += [
                f"{plan.tool.where}/outputSchema: {plan.problem}"
                for plan in plans.values()
                if plan.problem and not plan.tool.problems
            ]
            wrong += len(problems)
            if as_json:
                print_json({
                    "spec": spec.name, "dialect": spec.dialect.value, "problems": problems,
                    "tools": [_finding(report, plans[report.tool]) for report in reports],
                })  # fmt: skip
                continue
            table = Table(
                title=f"{spec.name}: {len(spec.listed)} tools, errors worded as by {spec.dialect.value}",
                title_justify="left",
            )
            for column in ("tool", "read as", "result shape", "learned from"):
                table.add_column(column, overflow="fold")
            for report in reports:
                plan = plans[report.tool]
                read_as = f"{plan.reading.verb} {plan.kind.noun}".strip()
                table.add_row(report.tool, read_as, _shape(report, plan), report.source)
            out.print(table)
            for line in problems:
                err.print(line, markup=False)
    if wrong:
        sys.exit(1)


def _shape(report: Report, plan: Plan) -> str:
    """The result shape; of a tool that has no outputSchema, the one that the engine infers."""
    from mcp_world.engines.procedural.model import schema_for
    from mcp_world.spec.check import shape_of

    if report.source != "inferred":
        return report.shape
    if plan.reading.verb in ("call", "delete"):
        return "a sentence"
    shape = shape_of(schema_for(plan.kind).checked)
    return f"[{shape}]" if plan.reading.verb in ("list", "search") else shape


def _finding(report: Report, plan: Plan) -> dict[str, Json]:
    return {
        "name": report.tool,
        "verb": plan.reading.verb,
        "kind": plan.kind.name,
        "shape": _shape(report, plan),
        "source": report.source,
    }


@app.command
def diff(
    before: Path,
    after: str = "",
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    header: list[str] | None = None,
    ignore: list[str] | None = None,
    as_json: Annotated[bool, Parameter(name="--json")] = False,
) -> None:
    """Say what changed between two cassettes, or between a cassette and the live server: tools, schemas, answers.

    Exit code 0 where nothing changed, 1 where something did, 2 where a file or a server cannot be used.

    Parameters
    ----------
    before
        A cassette.
    after
        Another cassette, a URL, or the first word of a command; a live server is asked the cassette's requests again.
    command
        The rest of the command.
    header
        A header for the URL, as "Name: value".
    ignore
        A member of answers that is not compared, such as updated_at.
    as_json
        Print JSON.
    """
    from mcp_world.spec.capture import repeat
    from mcp_world.spec.cassette import read_cassette
    from mcp_world.spec.diff import compare_calls, compare_specs

    old = read_cassette(before)
    if after and not command and is_cassette(Path(after)):
        new = read_cassette(Path(after))
    else:
        _, launch = launch_of("diff", after, command, header)
        new = anyio.run(repeat, launch, old)
    changes = compare_specs(old.spec() or {}, new.spec() or {}) if old.spec() and new.spec() else []
    changes += compare_calls(old.calls, new.calls, ignore or [])
    if as_json:
        print_json([change.to_json() for change in changes])
    else:
        table = Table()
        for column in ("what", "of", "change", "at", "before", "after"):
            table.add_column(column, overflow="fold")
        for change in changes:
            row = (change.what, change.name, change.kind, change.path, shorten(change.before), shorten(change.after))
            table.add_row(*("" if cell == "null" else cell for cell in row))
        if changes:
            out.print(table)
        err.print(f"{len(changes)} changes" if changes else "nothing changed")
    if changes:
        sys.exit(1)


@app.command
def specs() -> None:
    """List the specs that can be served by name."""
    table = Table()
    for column in ("name", "tools", "server", "file"):
        table.add_column(column)
    for name, path in shipped("tool_specs"):
        for spec in load(str(path)):
            table.add_row(name, str(len(spec.listed)), str(spec.info.get("name")), str(path))
    out.print(table)
