"""The command line: what its commands share."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
from cyclopts import App
from rich.console import Console

import mcp_world
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.client_config import Launch

app = App(
    name="mcp-world",
    help="An MCP server that impersonates any tool.",
    version=mcp_world.__version__,
    version_flags=["--version"],
)
err = Console(stderr=True, highlight=False, soft_wrap=True)
out = Console(highlight=False)


def loop(function: Any, *arguments: Any) -> None:
    """Run an async function to its end, on uvloop where there is one."""
    anyio.run(function, *arguments, backend_options={"use_uvloop": sys.platform != "win32"})


def state_folder() -> Path:
    """Where journals go that no file was named for (XDG Base Directory, state)."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mcp-world"


def journal_path(given: str, name: str) -> Path | None:
    """The journal of a server of this name: the file that was given, none for `none`, else one in the state folder."""
    if given == "none":
        return None
    return Path(given) if given else state_folder() / f"{name.replace('/', '-')[:80]}-{os.getpid()}.db"


def newest_journal() -> Path:
    """The newest journal in the state folder.

    Raises:
        BadInput: There is none.
    """
    found = sorted(state_folder().glob("*.db"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise BadInput(
            "there is no journal",
            where=str(state_folder()),
            do="Give the file that `serve --journal` wrote.",
        )
    return found[-1]


def print_json(value: Json) -> None:
    """Write a value to stdout, indented."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def headers(lines: Iterable[str]) -> dict[str, str]:
    """Headers given as "Name: value".

    Raises:
        BadInput: One has no colon.
    """
    out = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise BadInput("a header has a colon", where="--header", do='Write it like "Authorization: Bearer …".')
        out[name.strip()] = value.strip()
    return out


def launch_of(
    asked: str, target: str, command: tuple[str, ...], header: list[str] | None, name: str = ""
) -> tuple[str, Launch]:
    """The server that a URL or a command reaches, and what to call it."""
    if target.startswith(("http://", "https://")):
        host = target.split("/")[2].split(":")[0].replace(".", "-")
        return name or host, Launch(url=target, headers=headers(header or []))
    if not target:
        raise BadInput("nothing to ask", where=asked, do="Give a URL or a command behind --.")
    words = [word for word in reversed([target, *command]) if not word.startswith("-")]
    stem = next((Path(word).name.split("@")[0] or Path(word).name for word in words), "server")
    return name or stem, Launch([target, *command])


def shorten(value: Json) -> str:
    """A value, or what a result shows, on at most 160 characters."""
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        value = value.get("structuredContent") or " ".join(str(b.get("text", b.get("type"))) for b in value["content"])
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else text[:159] + "…"
