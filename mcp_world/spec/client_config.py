"""An MCP client's own config file: the servers it starts or connects to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json


@dataclass(frozen=True)
class Launch:
    """How to reach one server: a command, or a URL."""

    command: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    sse: bool = False


def recognises(data: Json) -> bool:
    """Whether this is a client's config: `mcpServers` (Claude, Cursor, Windsurf), or `servers` (VS Code)."""
    return _section(data) is not None


def servers(data: Json, where: str) -> dict[str, Launch]:
    """Every server of a config, by name.

    Raises:
        BadInput: An entry has neither a command nor a URL, or there is no entry.
    """
    section = _section(data) or {}
    out = {}
    for name, entry in section.items():
        place = f"{where}#/{'mcpServers' if 'mcpServers' in data else 'servers'}/{name}"
        if not isinstance(entry, dict):
            raise BadInput("a server is an object", where=place)
        url = entry.get("url") or entry.get("serverUrl")
        if isinstance(entry.get("command"), str):
            args = entry.get("args", [])
            if not isinstance(args, list):
                raise BadInput("args is a list of strings", where=f"{place}/args")
            out[name] = Launch([entry["command"], *map(str, args)], _strings(entry.get("env")))
        elif isinstance(url, str):
            out[name] = Launch(url=url, headers=_strings(entry.get("headers")), sse=entry.get("type") == "sse")
        else:
            raise BadInput("a server needs a command or a url", where=place)
    if not out:
        raise BadInput("it names no server", where=where)
    return out


def _section(data: Any) -> dict[str, Any] | None:
    if not isinstance(data, dict):
        return None
    if isinstance(data.get("mcp"), dict) and isinstance(data["mcp"].get("servers"), dict):
        return _section(data["mcp"])
    if "tools" in data or "openapi" in data or "swagger" in data:
        return None
    for key in ("mcpServers", "servers"):
        section = data.get(key)
        if isinstance(section, dict):
            return section
    return None


def _strings(value: Json) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}
