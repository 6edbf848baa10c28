"""`mcp-world capture`, `record` and `explore`: what live servers are and say."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import anyio
from cyclopts import Parameter

from mcp_world.cli.app import app, err, launch_of
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.client_config import Launch, servers
from mcp_world.spec.files import read_data

if TYPE_CHECKING:
    pass


@app.command
def capture(
    target: str = "",
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    header: list[str] | None = None,
    config: Path | None = None,
    name: str = "",
    output: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None,
) -> None:
    """Ask live servers what they are, and write their specs.

    `mcp-world capture -- npx -y @modelcontextprotocol/server-memory`, `mcp-world capture https://host/mcp`, or
    `mcp-world capture --config claude_desktop_config.json` for every server of a client's config.

    Parameters
    ----------
    target
        A URL, or the first word of a command.
    command
        The rest of the command.
    header
        A header for the URL, as "Name: value".
    config
        An MCP client's config file; all its servers are asked.
    name
        What to call the spec.
    output
        The file to write; `tool_specs/NAME.json` where none is given, `-` for stdout.
    """
    launches = (
        dict([launch_of("capture", target, command, header, name)])
        if config is None
        else servers(read_data(config), str(config))
    )
    if output is not None and len(launches) > 1:
        raise BadInput(
            f"{len(launches)} servers do not go into one file",
            where="--output",
            do="Leave it out; each gets a file in tool_specs/.",
        )
    failed = 0
    for server, launch in launches.items():
        try:
            _write_spec(_captured(server, launch), output or Path("tool_specs") / f"{server.replace('/', '-')}.json")
        except BadInput as error:
            failed += 1
            err.print(f"{server}: {error}" if len(launches) > 1 else str(error), markup=False, style="red")
    if failed:
        sys.exit(2)


def _captured(server: str, launch: Launch) -> dict[str, Json]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from mcp_world.spec.capture import capture as ask

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(server, total=1)

        def show(what: str, done: float) -> None:
            bar.update(task, completed=done, description=f"{server}: {what}")

        async def run() -> dict[str, Json]:
            return await ask(server, launch, show)

        return anyio.run(run)


def _write_spec(spec: dict[str, Json], path: Path) -> None:
    text = json.dumps(spec, indent=1, ensure_ascii=False) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise BadInput(error.strerror or str(error), where=str(path)) from None
    err.print(f"{path}: {len(spec['tools'])} tools", markup=False)


@app.command
def record(
    target: str = "",
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    output: Path | None = None,
    header: list[str] | None = None,
    port: int = 0,
    name: str = "",
    emails: bool = False,
    redact: list[str] | None = None,
) -> None:
    """Stand between a client and a real server, pass every byte, and write the session down as a cassette.

    `mcp-world record -- npx -y @modelcontextprotocol/server-memory` in the place of the command in a client's config,
    or `mcp-world record https://host/mcp`, which prints the URL to give the client.

    Parameters
    ----------
    target
        A URL, or the first word of a command.
    command
        The rest of the command.
    output
        The cassette; `cassettes/NAME.jsonl`, or the next free name, where none is given.
    header
        A header for the URL, as "Name: value"; it is added to every request and never written down.
    port
        Where clients of a URL connect, on loopback; 0 for a free port.
    name
        What to call the server.
    emails
        Scrub e-mail addresses as well.
    redact
        Scrub what matches this regular expression.
    """
    from mcp_world.serve.recorder import CassetteWriter, record_http, record_stdio
    from mcp_world.spec.scrub import Scrubber

    stem, launch = launch_of("record", target, command, header, name)
    scrubber = Scrubber(dict(os.environ), launch.headers, emails=emails, redact=redact or [])
    path = output or _free(Path("cassettes"), stem.replace("/", "-"))
    writer = CassetteWriter(path, stem, "http" if launch.url else "stdio", scrubber)
    code = 0
    try:
        if launch.url:
            anyio.run(record_http, launch.url, launch.headers, writer, port, lambda url: err.print(f"connect to {url}"))
        else:
            code = anyio.run(record_stdio, launch.command, dict(os.environ), writer)
    except BadInput:
        if not writer.messages:
            path.unlink(missing_ok=True)
        raise
    finally:
        writer.close()
    err.print(f"{path}: {writer.messages} messages", markup=False)
    for found in scrubber.report():
        err.print(f"scrubbed {found['count']} x {found['what']}, first at {found['first']}", markup=False)
    sys.exit(code)


@app.command
def explore(
    target: str = "",
    *command: Annotated[str, Parameter(allow_leading_hyphen=True)],
    output: Path | None = None,
    header: list[str] | None = None,
    tool: list[str] | None = None,
    calls: int = 3,
    seed: int = 0,
    name: str = "",
    emails: bool = False,
    redact: list[str] | None = None,
) -> None:
    """Call a live server's read-only tools with made-up arguments, and write the answers down as a cassette.

    Only tools with `readOnlyHint` are called, and those that are named.

    Parameters
    ----------
    target
        A URL, or the first word of a command.
    command
        The rest of the command.
    output
        The cassette; `cassettes/NAME.jsonl`, or the next free name, where none is given.
    header
        A header for the URL, as "Name: value".
    tool
        Call this tool too, whatever it does.
    calls
        How often each tool is called.
    seed
        Other arguments with another seed.
    name
        What to call the server.
    emails
        Scrub e-mail addresses as well.
    redact
        Scrub what matches this regular expression.
    """
    from rich.progress import BarColumn, Progress, TextColumn

    from mcp_world.engines.procedural.explore import explore as run
    from mcp_world.serve.recorder import CassetteWriter
    from mcp_world.spec.scrub import Scrubber

    stem, launch = launch_of("explore", target, command, header, name)
    scrubber = Scrubber({**os.environ, **launch.env}, launch.headers, emails=emails, redact=redact or [])
    path = output or _free(Path("cassettes"), stem.replace("/", "-"))
    writer = CassetteWriter(path, stem, "http" if launch.url else "stdio", scrubber)
    try:
        with Progress(BarColumn(), TextColumn("{task.description}"), console=err, transient=True) as bar:
            task = bar.add_task(stem, total=1)

            def show(what: str, done: float) -> None:
                bar.update(task, completed=done, description=what)

            called = anyio.run(run, launch, writer.write, frozenset(tool or ()), calls, seed, show)
    except BadInput:
        writer.close()
        path.unlink(missing_ok=True)
        raise
    writer.close()
    err.print(f"{path}: {sum(called.values())} calls of {len(called)} tools", markup=False)
    for found in scrubber.report():
        err.print(f"scrubbed {found['count']} x {found['what']}, first at {found['first']}", markup=False)


def _free(folder: Path, stem: str) -> Path:
    names = (folder / f"{stem}{suffix}.jsonl" for suffix in ("", *(f"-{n}" for n in range(2, 10_000))))
    return next(path for path in names if not path.exists())
