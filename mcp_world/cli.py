"""The command line."""

from __future__ import annotations

import json
import logging
import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import anyio
from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.table import Table

import mcp_world
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.cassette import is_cassette
from mcp_world.spec.client_config import Launch, servers
from mcp_world.spec.files import read_data, shipped
from mcp_world.spec.load import load, with_cassettes
from mcp_world.spec.model import ServerSpec, combine

if TYPE_CHECKING:
    from mcp_world.engines.procedural.model import Plan
    from mcp_world.spec.check import Report

app = App(
    name="mcp-world",
    help="An MCP server that impersonates any tool.",
    version=mcp_world.__version__,
    version_flags=["--version"],
)
_err = Console(stderr=True, highlight=False, soft_wrap=True)
_out = Console(highlight=False)


@app.command
def serve(
    *specs: str,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = 8000,
    control_port: int = 8001,
    token: Annotated[str, Parameter(env_var="MCP_WORLD_TOKEN")] = "",
    control_token: Annotated[str, Parameter(env_var="MCP_WORLD_CONTROL_TOKEN")] = "",
    allow_host: list[str] | None = None,
    separate: bool = False,
    engine: str = "",
    seed: int = 0,
    facts: Path | None = None,
    start: str | None = None,
    locale: str = "en_US",
    journal: str = "",
    cassette: list[Path] | None = None,
    match: str = "exact",
    ignore: list[str] | None = None,
    once: bool = False,
    on_miss: str = "refuse",
    speed: float | None = None,
) -> None:
    """Impersonate one or several servers, over stdio or (with --http) over HTTP and SSE.

    Parameters
    ----------
    specs
        Names of shipped specs, or paths. Several are served as one, their tools prefixed with the spec's name.
    http
        Serve streamable HTTP at /mcp and SSE at /sse; further worlds at /worlds/{id}/mcp, made through the control API.
    host
        The address to bind.
    port
        The agents' port; 0 for a free one.
    control_port
        The control API's port, on loopback; 0 for a free one.
    token
        A bearer token that agents need.
    control_token
        The control API's bearer token; one is made and printed where none is given.
    allow_host
        A further Host header to let in, such as a proxy's name.
    separate
        Several specs become one world each, at /worlds/{spec}/mcp, instead of one server.
    engine
        What answers the calls: `procedural`, or `replay`, which is taken where a cassette is served by itself.
    seed
        Same seed, spec, facts and calls: the same answers.
    facts
        A YAML or JSON file of records that the world starts with.
    start
        The world's time at the start, such as 2025-03-01T09:00:00Z.
    locale
        The language of names and addresses, such as de_DE.
    journal
        The SQLite file that every step is written to; `none` for no journal.
    cassette
        A recorded session with the real server: what `replay` answers from, and other engines learn from.
    match
        How replay finds the recorded call: exact, order or nearest.
    ignore
        An argument that replay does not compare, by name or dotted path.
    once
        Replay gives each recorded answer once.
    on_miss
        What answers where nothing is recorded: `refuse`, or the name of an engine.
    speed
        How much faster than scripted or recorded pauses take; 0 for no pauses. Scripts take their time, replay does not.
    """
    from mcp_world.core.clock import parse_time
    from mcp_world.world.facts import load_facts
    from mcp_world.world.journal import Journal
    from mcp_world.world.worlds import Worlds

    if not specs:
        raise BadInput(
            "no spec was given",
            where="serve",
            do=f"Name one: {', '.join(name for name, _ in shipped('tool_specs'))}.",
        )
    if separate and not http:
        raise BadInput("over stdio there is one world", where="--separate", do="Add --http.")
    loaded = [with_cassettes(spec, cassette or []) for name in specs for spec in load(name)]
    _warn(loaded)
    engine = engine or ("replay" if all(is_cassette(Path(name)) for name in specs) else "procedural")
    options: dict[str, Any] = {"locale": locale}
    if engine == "replay":
        options.update(match=match, ignore=tuple(ignore or ()), once=once, rest=on_miss)
    if speed is not None and speed < 0:
        raise BadInput("a speed is not negative", where="--speed", do="Use 1 for the recorded pauses, 0 for none.")
    faster = (0.0 if engine == "replay" else 1.0) if speed is None else speed
    served = loaded if separate else [combine(loaded)]
    path = _journal_path(journal, served[0].name)
    book = Journal(path) if path is not None else None
    try:
        worlds = Worlds(
            served,
            engine=engine,
            seed=seed,
            facts=load_facts(facts) if facts is not None else None,
            start=parse_time(start, where="--start") if start is not None else None,
            options=options,
            journal=book,
            pace=1 / faster if faster else 0.0,
        )
        for spec in served if separate else ():
            worlds.create(spec.name, spec=spec.name, seed=seed)
        if http:
            _loop(_serve_http, worlds, host, port, control_port, token, control_token, allow_host or [])
        else:
            _loop(_serve_stdio, worlds)
    finally:
        if book is not None:
            book.close()


async def _serve_stdio(worlds: Any) -> None:
    from mcp_world.serve.stdio import serve_stdio

    await serve_stdio(worlds.get("default"))


async def _serve_http(
    worlds: Any, host: str, port: int, control_port: int, token: str, control_token: str, allowed: list[str]
) -> None:
    from mcp_world.serve.run import http_servers, until_stopped

    made = control_token or secrets.token_urlsafe(18)
    async with http_servers(
        worlds,
        host=host,
        port=port,
        control_port=control_port,
        token=token,
        control_token=made,
        allowed_hosts=allowed,
    ) as at:
        for world in worlds:
            _err.print(
                f"{world.spec.name}: {len(world.spec.listed)} tools at {at.agents}"
                + ("/mcp" if world.id == "default" else f"/worlds/{world.id}/mcp")
            )
        _err.print(f"control API at {at.control}" + ("" if control_token else f", token {made}"))
        await until_stopped()
        _err.print("stopping: calls in flight finish first")


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
                _print_json({
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
            _out.print(table)
            for line in problems:
                _err.print(line, markup=False)
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
        dict([_launch("capture", target, command, header, name)])
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
            _err.print(f"{server}: {error}" if len(launches) > 1 else str(error), markup=False, style="red")
    if failed:
        sys.exit(2)


def _launch(
    asked: str, target: str, command: tuple[str, ...], header: list[str] | None, name: str = ""
) -> tuple[str, Launch]:
    """The server that a URL or a command reaches, and what to call it."""
    if target.startswith(("http://", "https://")):
        host = target.split("/")[2].split(":")[0].replace(".", "-")
        return name or host, Launch(url=target, headers=_headers(header or []))
    if not target:
        raise BadInput("nothing to ask", where=asked, do="Give a URL or a command behind --.")
    words = [word for word in reversed([target, *command]) if not word.startswith("-")]
    stem = next((Path(word).name.split("@")[0] or Path(word).name for word in words), "server")
    return name or stem, Launch([target, *command])


def _captured(server: str, launch: Launch) -> dict[str, Json]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from mcp_world.spec.capture import capture as ask

    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=_err, transient=True) as bar:
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
    _err.print(f"{path}: {len(spec['tools'])} tools", markup=False)


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

    stem, launch = _launch("record", target, command, header, name)
    scrubber = Scrubber(dict(os.environ), launch.headers, emails=emails, redact=redact or [])
    path = output or _free(Path("cassettes"), stem.replace("/", "-"))
    writer = CassetteWriter(path, stem, "http" if launch.url else "stdio", scrubber)
    code = 0
    try:
        if launch.url:
            anyio.run(
                record_http, launch.url, launch.headers, writer, port, lambda url: _err.print(f"connect to {url}")
            )
        else:
            code = anyio.run(record_stdio, launch.command, dict(os.environ), writer)
    except BadInput:
        if not writer.messages:
            path.unlink(missing_ok=True)
        raise
    finally:
        writer.close()
    _err.print(f"{path}: {writer.messages} messages", markup=False)
    for found in scrubber.report():
        _err.print(f"scrubbed {found['count']} x {found['what']}, first at {found['first']}", markup=False)
    sys.exit(code)


def _free(folder: Path, stem: str) -> Path:
    names = (folder / f"{stem}{suffix}.jsonl" for suffix in ("", *(f"-{n}" for n in range(2, 10_000))))
    return next(path for path in names if not path.exists())


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

    stem, launch = _launch("explore", target, command, header, name)
    scrubber = Scrubber({**os.environ, **launch.env}, launch.headers, emails=emails, redact=redact or [])
    path = output or _free(Path("cassettes"), stem.replace("/", "-"))
    writer = CassetteWriter(path, stem, "http" if launch.url else "stdio", scrubber)
    try:
        with Progress(BarColumn(), TextColumn("{task.description}"), console=_err, transient=True) as bar:
            task = bar.add_task(stem, total=1)

            def show(what: str, done: float) -> None:
                bar.update(task, completed=done, description=what)

            called = anyio.run(run, launch, writer.write, frozenset(tool or ()), calls, seed, show)
    except BadInput:
        writer.close()
        path.unlink(missing_ok=True)
        raise
    writer.close()
    _err.print(f"{path}: {sum(called.values())} calls of {len(called)} tools", markup=False)
    for found in scrubber.report():
        _err.print(f"scrubbed {found['count']} x {found['what']}, first at {found['first']}", markup=False)


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
        _, launch = _launch("diff", after, command, header)
        new = anyio.run(repeat, launch, old)
    changes = compare_specs(old.spec() or {}, new.spec() or {}) if old.spec() and new.spec() else []
    changes += compare_calls(old.calls, new.calls, ignore or [])
    if as_json:
        _print_json([change.to_json() for change in changes])
    else:
        table = Table()
        for column in ("what", "of", "change", "at", "before", "after"):
            table.add_column(column, overflow="fold")
        for change in changes:
            row = (change.what, change.name, change.kind, change.path, _short(change.before), _short(change.after))
            table.add_row(*("" if cell == "null" else cell for cell in row))
        if changes:
            _out.print(table)
        _err.print(f"{len(changes)} changes" if changes else "nothing changed")
    if changes:
        sys.exit(1)


def _headers(lines: Iterable[str]) -> dict[str, str]:
    out = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadInput("a header has a colon", where="--header", do='Write it like "Authorization: Bearer …".')
        out[name.strip()] = value.strip()
    return out


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
        _print_json({
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
    _out.print(table)


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

    path = Path(journal) if journal else _newest()
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
            row["world"], str(row["step"]), row["time"], row["tool"], _short(row["arguments"]), _short(sent.get("result", sent)),
            row["engine"], str(row["micros"]), style="red" if failed else None,
        )  # fmt: skip
    _out.print(table)


def _short(value: Json) -> str:
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        value = value.get("structuredContent") or " ".join(str(b.get("text", b.get("type"))) for b in value["content"])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:159] + "…"


@app.command
def specs() -> None:
    """List the specs that can be served by name."""
    table = Table()
    for column in ("name", "tools", "server", "file"):
        table.add_column(column)
    for name, path in shipped("tool_specs"):
        for spec in load(str(path)):
            table.add_row(name, str(len(spec.listed)), str(spec.info.get("name")), str(path))
    _out.print(table)


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


def _loop(function: Any, *arguments: Any) -> None:
    anyio.run(function, *arguments, backend_options={"use_uvloop": sys.platform != "win32"})


def _warn(loaded: list[ServerSpec]) -> None:
    """Name what is wrong in the specs, on stderr; nothing of it stops the other tools."""
    from mcp_world.engines import engine_for
    from mcp_world.engines.procedural.engine import ProceduralEngine

    for spec in loaded:
        for problem in spec.problems:
            _err.print(str(problem), markup=False, style="yellow")
        engine = engine_for(spec)
        plans = engine.model.plans if isinstance(engine, ProceduralEngine) else {}
        for tool in spec.tools:
            for problem in tool.problems:
                _err.print(str(problem), markup=False, style="yellow")
            plan = plans.get(tool.name)
            if plan is not None and plan.problem and not tool.problems:
                _err.print(f"{tool.where}/outputSchema: {plan.problem}", markup=False, style="yellow")


def _state_folder() -> Path:
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mcp-world"


def _journal_path(given: str, name: str) -> Path | None:
    if given == "none":
        return None
    return Path(given) if given else _state_folder() / f"{name.replace('/', '-')[:80]}-{os.getpid()}.db"


def _newest() -> Path:
    found = sorted(_state_folder().glob("*.db"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise BadInput(
            "there is no journal",
            where=str(_state_folder()),
            do="Give the file that `serve --journal` wrote.",
        )
    return found[-1]


def _print_json(value: Json) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command; bad input ends in one line on stderr and exit code 2."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mcp-world: %(message)s")
    logging.getLogger("mcp").setLevel(logging.CRITICAL)  # it logs tracebacks of what peers send
    try:
        app(arguments, exit_on_error=False, print_error=False)
    except (BadInput, CycloptsError) as error:
        _err.print(f"mcp-world: {' '.join(str(error).split())}", markup=False, style="red")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(1)
    sys.exit(0)
