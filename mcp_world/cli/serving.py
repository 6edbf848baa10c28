"""`mcp-world serve`."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mcp_world.cli.app import app, err, journal_path, loop
from mcp_world.cli.engine import ModelFlags, opened, told
from mcp_world.core.errors import BadInput
from mcp_world.spec.cassette import is_cassette
from mcp_world.spec.files import shipped
from mcp_world.spec.load import load, with_cassettes
from mcp_world.spec.model import ServerSpec, combine


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
    flags: ModelFlags | None = None,
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
        What answers the calls: `procedural`; `replay`, which is taken where a cassette is served by itself; a language
        model by `vllm`, `openai` or `transformers`; or `auto`, the best that this machine has.
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
    engine, given = told(engine, flags.given() if flags is not None else {})
    options: dict[str, Any] = {"locale": locale, **given}
    if engine == "replay":
        options.update(match=match, ignore=tuple(ignore or ()), once=once, rest=on_miss)
    if speed is not None and speed < 0:
        raise BadInput("a speed is not negative", where="--speed", do="Use 1 for the recorded pauses, 0 for none.")
    faster = (0.0 if engine == "replay" else 1.0) if speed is None else speed
    served = loaded if separate else [combine(loaded)]
    path = journal_path(journal, served[0].name)
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
            loop(_serve_http, worlds, host, port, control_port, token, control_token, allow_host or [])
        else:
            loop(_serve_stdio, worlds)
    finally:
        if book is not None:
            book.close()


async def _serve_stdio(worlds: Any) -> None:
    from mcp_world.serve.stdio import serve_stdio

    async with opened(worlds):
        await serve_stdio(worlds.get("default"))


async def _serve_http(
    worlds: Any, host: str, port: int, control_port: int, token: str, control_token: str, allowed: list[str]
) -> None:
    from mcp_world.serve.run import http_servers, until_stopped

    made = control_token or secrets.token_urlsafe(18)
    async with (
        opened(worlds),
        http_servers(
            worlds,
            host=host,
            port=port,
            control_port=control_port,
            token=token,
            control_token=made,
            allowed_hosts=allowed,
        ) as at,
    ):
        for world in worlds:
            err.print(
                f"{world.spec.name}: {len(world.spec.listed)} tools at {at.agents}"
                + ("/mcp" if world.id == "default" else f"/worlds/{world.id}/mcp")
            )
        err.print(f"control API at {at.control}" + ("" if control_token else f", token {made}"))
        await until_stopped()
        err.print("stopping: calls in flight finish first")


def _warn(loaded: list[ServerSpec]) -> None:
    """Name what is wrong in the specs, on stderr; nothing of it stops the other tools."""
    from mcp_world.engines import engine_for
    from mcp_world.engines.procedural.engine import ProceduralEngine

    for spec in loaded:
        for problem in spec.problems:
            err.print(str(problem), markup=False, style="yellow")
        engine = engine_for(spec)
        plans = engine.model.plans if isinstance(engine, ProceduralEngine) else {}
        for tool in spec.tools:
            for problem in tool.problems:
                err.print(str(problem), markup=False, style="yellow")
            plan = plans.get(tool.name)
            if plan is not None and plan.problem and not tool.problems:
                err.print(f"{tool.where}/outputSchema: {plan.problem}", markup=False, style="yellow")
