"""Specs from files: a recorded server, a list of tools, function-calling JSON, OpenAPI, or a client's config."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcp_world.core.errors import BadInput
from mcp_world.core.types import LATEST_HANDSHAKE, Json
from mcp_world.spec import client_config, functions, openapi
from mcp_world.spec.cassette import is_cassette, read_cassette
from mcp_world.spec.dialect import Dialect, guess, learned
from mcp_world.spec.files import find, read_data
from mcp_world.spec.model import ServerSpec, tools_of
from mcp_world.spec.script import read_script

_WANTED = "Give a recorded tools/list, a list of tools, function-calling JSON, OpenAPI, or an MCP client's config."


def load(name: str) -> list[ServerSpec]:
    """The specs in one file; more than one only for a client's config.

    Args:
        name: A path, or the name of a spec in `./tool_specs` or among those that ship.

    Raises:
        BadInput: There is no such file, or it holds no tools in any layout that is known.
    """
    path = find("tool_specs", name)
    if is_cassette(path):
        return [_of_cassette(path)]
    data = read_data(path)
    if client_config.recognises(data):
        return [
            replace(spec, name=server)
            for server in client_config.servers(data, str(path))
            for spec in load(_captured(server, path))
        ]
    return [_with_sessions(parse(data, name=path.stem, where=str(path)), path)]


def load_one(name: str) -> ServerSpec:
    """The one spec in a file; see `load`.

    Raises:
        BadInput: The file holds several servers.
    """
    specs = load(name)
    if len(specs) != 1:
        raise BadInput(f"it names {len(specs)} servers", where=name, do="Use load() for all of them.")
    return specs[0]


def with_cassettes(spec: ServerSpec, paths: Iterable[Path]) -> ServerSpec:
    """A spec with what was recorded in cassettes as its examples, and in the dialect that they show.

    Raises:
        BadInput: A file is no cassette.
    """
    for path in paths:
        calls = tuple(read_cassette(path).calls)
        spec = replace(spec, examples=(*spec.examples, *calls), dialect=learned(calls) or spec.dialect)
    return spec


def _of_cassette(path: Path) -> ServerSpec:
    """The server that a cassette shows, with its recorded answers."""
    cassette = read_cassette(path)
    data = cassette.spec()
    if data is None:
        raise BadInput(
            "it holds calls, but no tools/list",
            where=str(path),
            do=f"Give the server's spec, and this with --cassette {path}.",
        )
    calls = tuple(cassette.calls)
    spec = parse(data, name=path.stem, where=str(path))
    script = replace(spec.script, greeting=cassette.greeting)
    return replace(spec, examples=calls, script=script, dialect=learned(calls) or spec.dialect)


def parse(data: Json, *, name: str, where: str = "") -> ServerSpec:
    """A spec from data already read.

    Args:
        data: The parsed JSON or YAML.
        name: What to call the spec.
        where: The file, for messages.

    Raises:
        BadInput: No layout that is known.
    """
    where = where or name
    if isinstance(data, dict) and ("openapi" in data or "swagger" in data):
        converted = openapi.to_spec(data, where)
        return _recorded(converted, name, where, "/paths")
    if isinstance(data, dict) and isinstance(data.get("result"), dict) and "tools" in data["result"]:
        return _recorded(data["result"], name, where, "/result/tools")
    for pointer, entries in _lists(data):
        if functions.recognises(entries):
            return _recorded({"tools": functions.to_tools(entries)}, name, where, pointer)
    if isinstance(data, dict) and isinstance(data.get("tools"), list):
        return _recorded(data, name, where, "/tools")
    if isinstance(data, list) and any(isinstance(entry, dict) and "name" in entry for entry in data):
        return _recorded({"tools": data}, name, where, "")
    raise BadInput("it holds no tools in any layout that is known", where=where, do=_WANTED)


def _lists(data: Json) -> list[tuple[str, list[Any]]]:
    if isinstance(data, list):
        return [("", data)]
    if isinstance(data, dict):
        return [(f"/{key}", data[key]) for key in ("tools", "functions") if isinstance(data.get(key), list)]
    return []


def _recorded(data: dict[str, Json], name: str, where: str, pointer: str) -> ServerSpec:
    entries = data["tools"]
    if not isinstance(entries, list):
        raise BadInput(f"tools is a list, not {type(entries).__name__}", where=f"{where}#{pointer}")
    tools, listed, problems = tools_of(entries, f"{where}#{pointer}")
    if not tools:
        raise BadInput(
            f"none of its {len(entries)} tools can be used" + (f": {problems[0].reason}" if problems else ""),
            where=f"{where}#{pointer}",
        )
    info = data.get("serverInfo")
    if not isinstance(info, dict) or not isinstance(info.get("name"), str):
        info = {"name": name, "version": "1.0.0"}
    stated = data.get("dialect")
    if stated is not None and stated not in [dialect.value for dialect in Dialect]:
        raise BadInput(
            f"there is no dialect {stated!r}",
            where=f"{where}#/dialect",
            do="Use typescript, python-v1 or python-v2.",
        )
    capabilities = data.get("capabilities")
    return ServerSpec(
        name=str(data.get("server") or name),
        info=info,
        tools=tools,
        listed=listed,
        dialect=guess(data, entries),
        protocol=str(data.get("protocolVersion") or LATEST_HANDSHAKE),
        capabilities=capabilities if isinstance(capabilities, dict) else {"tools": {}},
        instructions=data["instructions"] if isinstance(data.get("instructions"), str) else None,
        resources=_objects(data.get("resources")),
        templates=_objects(data.get("resourceTemplates")),
        prompts=_objects(data.get("prompts")),
        package=str(data.get("package") or ""),
        license=str(data.get("license") or ""),
        problems=problems,
        script=read_script(data.get("script"), f"{where}#/script"),
    )


def _objects(value: Json) -> tuple[dict[str, Json], ...]:
    """The objects of a recorded list; servers without the capability were recorded as null or as an error."""
    return tuple(entry for entry in value if isinstance(entry, dict)) if isinstance(value, list) else ()


def _with_sessions(spec: ServerSpec, path: Path) -> ServerSpec:
    """The spec in the dialect that a session recorded beside it shows."""
    for session in (path.with_suffix(".jsonl"), path.parent.parent / "sessions" / f"{path.stem}.jsonl"):
        if session.is_file():
            dialect = learned(read_cassette(session).calls)
            return spec if dialect is None else replace(spec, dialect=dialect)
    return spec


def _captured(server: str, config: Path) -> str:
    """The spec of a server that a client's config names."""
    beside = config.parent / "tool_specs" / f"{server}.json"
    if beside.is_file():
        return str(beside)
    try:
        return str(find("tool_specs", server if "/" not in server else server.rsplit("/", 1)[-1]))
    except BadInput:
        raise BadInput(
            f"it says how to start the server {server!r} but not what tools it has",
            where=str(config),
            do=f"Run `mcp-world capture --config {config}` to ask its servers.",
        ) from None
