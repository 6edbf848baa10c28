"""Files that people hand us: found by name or path, read as data, never as code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json

MAX_BYTES = 64 * 1024 * 1024
_MAX_NODES = 5_000_000
_MAX_DEPTH = 400
_SUFFIXES = (".json", ".yaml", ".yml")


class _Loader(yaml.SafeLoader):
    """Safe YAML in which dates stay the strings they are."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_data(path: Path) -> Json:
    """Read a JSON or YAML file.

    Raises:
        BadInput: It is not there, is larger than 64 MiB, is not valid JSON or YAML, or is nested or aliased without end.
    """
    text = read_text(path)
    try:
        data = yaml.load(text, Loader=_Loader) if path.suffix in (".yaml", ".yml") else _json(text, path)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise BadInput(f"not valid YAML: {getattr(error, 'problem', None) or error}", where=where) from None
    except RecursionError:
        raise BadInput("nested too deep to read", where=str(path)) from None
    except ValueError as error:
        raise BadInput(f"not valid YAML: {error}", where=str(path)) from None
    _bound(data, path)
    return data


def read_text(path: Path) -> str:
    """Read a UTF-8 file of at most 64 MiB.

    Raises:
        BadInput: It cannot be read.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadInput("larger than 64 MiB", where=str(path), do="Split it.")
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise BadInput("there is no such file", where=str(path)) from None
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 at byte {error.start}", where=str(path), do="Save it as UTF-8.") from None
    except OSError as error:
        raise BadInput(error.strerror or str(error), where=str(path)) from None


def _json(text: str, path: Path) -> Json:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise BadInput(f"not valid JSON: {error.msg}", where=f"{path}:{error.lineno}:{error.colno}") from None
    except ValueError as error:
        raise BadInput(f"not valid JSON: {error}", where=str(path)) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _bound(data: Json, path: Path) -> None:
    count = 0
    stack: list[tuple[Json, int]] = [(data, 0)]
    while stack:
        node, depth = stack.pop()
        count += 1
        if count > _MAX_NODES or depth > _MAX_DEPTH:
            raise BadInput("too large, nested too deep or aliased without end", where=str(path))
        if isinstance(node, dict):
            for key, value in node.items():
                if not isinstance(key, str):
                    raise BadInput(f"the key {key!r} is not a string", where=str(path), do="Put it in quotes.")
                stack.append((value, depth + 1))
        elif isinstance(node, list):
            stack.extend((value, depth + 1) for value in node)
        elif node is not None and not isinstance(node, str | int | float | bool):
            raise BadInput(
                f"a value is a {type(node).__name__}, which JSON does not have",
                where=str(path),
                do="Put it in quotes.",
            )


def content_folders(kind: str) -> list[Path]:
    """Where content of a kind (`tool_specs`) is looked for: the user's folder first, then what ships."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "content" / kind
    return [Path.cwd() / kind, shipped if shipped.is_dir() else package.parent / kind]


def find(kind: str, name: str) -> Path:
    """The file of a name or path.

    Raises:
        BadInput: There is none; the message lists the names there are.
    """
    path = Path(name).expanduser()
    if path.is_file() or path.suffix in _SUFFIXES or len(path.parts) > 1:
        return path
    for folder in content_folders(kind):
        for suffix in _SUFFIXES:
            if (folder / f"{name}{suffix}").is_file():
                return folder / f"{name}{suffix}"
    names = ", ".join(sorted(dict(shipped(kind)))) or "none"
    raise BadInput(
        f"there is no file, and nothing that ships, of this name ({names})",
        where=name,
        do="Give a path or one of these names.",
    )


def shipped(kind: str) -> Iterator[tuple[str, Path]]:
    """Names and files of a kind, the user's before ours, each name once."""
    seen: set[str] = set()
    for folder in content_folders(kind):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.suffix in _SUFFIXES and path.stem not in seen:
                    seen.add(path.stem)
                    yield path.stem, path
