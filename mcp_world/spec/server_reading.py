"""The tools of a server, read together: what one of them calls a thing, another may belong to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcp_world.spec.model import Tool
from mcp_world.spec.names import kind_of, words
from mcp_world.spec.reading import ABBREVIATIONS, Reading, is_verb, read

_ASPECTS = (
    "profile", "status", "content", "info", "detail", "summary", "stat", "text", "history", "body", "metadata",
    "attribute",
)  # fmt: skip


def read_together(tools: Iterable[Tool]) -> Iterator[tuple[Tool, Reading]]:
    """Each tool with what it means, in the light of the other tools of its server.

    Args:
        tools: Of one server, or of several that are served as one (`Tool.group`); those of one server come together.
    """
    groups: dict[str, list[Tool]] = {}
    for tool in tools:
        groups.setdefault(tool.group, []).append(tool)
    for group in groups.values():
        prefix = _common_prefix(group)
        first = [read(tool, prefix) for tool in group]
        nouns = {r.kind for r in first if r.kind and r.verb != "call"}
        nouns |= {a for r in first for a in _parents_named(r)}
        for tool in group:
            reading = read(tool, prefix, frozenset(nouns))
            reading.kind = _base(reading, nouns)
            _set_a_field(reading, nouns)
            yield tool, reading


def _parents_named(reading: Reading) -> list[str]:
    return [parent for arg in reading.scope if (parent := parent_of(arg))]


def parent_of(arg: str) -> str:
    """The kind that an argument such as `channel_id`, `issue_number` or `repo` names, or ""."""
    parts = words(arg)
    if not parts:
        return ""
    if len(parts) > 1 and parts[-1] in (
        "id",
        "number",
        "key",
        "name",
        "slug",
        "ts",
        "sha",
        "uuid",
        "iid",
        "uid",
    ):
        stem = "_".join(parts[:-1])
    elif len(parts) == 1 and parts[0] not in (
        "id",
        "key",
        "path",
        "name",
        "url",
        "query",
        "owner",
        "org",
        "number",
        "sha",
        "ref",
    ):
        stem = parts[0]
    else:
        return ""
    return kind_of(ABBREVIATIONS.get(stem, stem))


def _base(reading: Reading, nouns: set[str]) -> str:
    """The kind without an aspect of it: the user of a `user_profile`, the file of a `text_file`."""
    parts = words(reading.kind)
    if len(parts) < 2 or reading.verb == "call":
        return reading.kind
    stem = "_".join(parts[:-1])
    if parts[-1] in _ASPECTS and stem in nouns and reading.id_arg:
        return stem
    if (
        reading.verb in ("get", "update", "delete")
        and parts[-1] in nouns
        and "_".join(parts[:-1]) not in nouns
        and reading.id_arg
        and parts[-1] == "file"
    ):
        return parts[-1]
    return reading.kind


def _set_a_field(reading: Reading, nouns: set[str]) -> None:
    """Setting a channel's topic is an update of the channel, not the making of a topic."""
    stem = "_".join(words(reading.kind)[:-1])
    if reading.verb not in ("update", "upsert") or stem not in nouns or reading.kind in nouns - {reading.kind}:
        return
    owner = next((arg for arg in reading.scope if parent_of(arg) == stem), "")
    if owner:
        moved = (reading.id_arg,) if reading.id_arg else ()
        reading.verb, reading.kind, reading.id_arg = "update", stem, owner
        reading.scope = tuple(arg for arg in reading.scope if arg != owner)
        reading.content = (*moved, *reading.content)


def _common_prefix(tools: list[Tool]) -> tuple[str, ...]:
    """Words that every tool's name begins with, before what it does."""
    if len(tools) < 2:
        return ()
    names = [words(tool.own_name) for tool in tools]
    prefix = names[0]
    for name in names[1:]:
        size = 0
        while size < min(len(prefix), len(name)) and prefix[size] == name[size]:
            size += 1
        prefix = prefix[:size]
    prefix = prefix[: next((at for at, word in enumerate(prefix) if is_verb(word)), len(prefix))]
    return prefix if all(len(name) > len(prefix) for name in names) else prefix[:-1]
