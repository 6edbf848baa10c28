"""What changed between two sessions of a server, or between a session and the server itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_world.core.encoding import encode
from mcp_world.core.types import Json
from mcp_world.spec.cassette import Call
from mcp_world.spec.schema import pointer_of

Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class Change:
    """One difference.

    Args:
        what: `tool`, `resource`, `resourceTemplate`, `prompt`, `server` or `answer`.
        name: Of what; for an answer the call.
        kind: Whether it is new, gone, or other than before.
        path: JSON pointer to the difference, in what changed.
        before: The old value; None for what was added.
        after: The new value; None for what was removed.
    """

    what: str
    name: str
    kind: Kind
    path: str = ""
    before: Json = None
    after: Json = None

    def to_json(self) -> dict[str, Json]:
        """The change as `diff --json` prints it."""
        return {
            "what": self.what,
            "name": self.name,
            "kind": self.kind,
            "path": self.path,
            "before": self.before,
            "after": self.after,
        }


_LISTS = (
    ("tools", "tool", "name"),
    ("resources", "resource", "uri"),
    ("resourceTemplates", "resourceTemplate", "uriTemplate"),
    ("prompts", "prompt", "name"),
)


def compare_specs(before: Mapping[str, Json], after: Mapping[str, Json]) -> list[Change]:
    """What changed in what a server lists: identity, capabilities, tools with their schemas, resources, prompts.

    Args:
        before: In the layout that `capture` writes.
        after: The same, later.
    """
    changes: list[Change] = []
    for key in ("serverInfo", "capabilities", "instructions"):
        changes += _changed("server", key, before.get(key), after.get(key), frozenset())
    for key, what, name in _LISTS:
        if before.get(key) is None or after.get(key) is None:
            continue  # one side did not ask
        old = {entry.get(name): entry for entry in before.get(key) or () if isinstance(entry, dict)}
        new = {entry.get(name): entry for entry in after.get(key) or () if isinstance(entry, dict)}
        changes += [Change(what, str(one), "removed", before=old[one]) for one in old if one not in new]
        changes += [Change(what, str(one), "added", after=new[one]) for one in new if one not in old]
        for one in old:
            if one in new:
                changes += _changed(what, str(one), old[one], new[one], frozenset())
    return changes


def compare_calls(before: Sequence[Call], after: Sequence[Call], ignore: Iterable[str] = ()) -> list[Change]:
    """What changed in the answers to the same requests; requests that only one side made are left out.

    Args:
        before: The requests of one session.
        after: Those of another.
        ignore: Names of members whose values are not compared, such as `updated_at`.
    """
    left_out = frozenset(ignore)
    later: dict[bytes, list[Call]] = {}
    for call in after:
        later.setdefault(call.key, []).append(call)
    changes: list[Change] = []
    for call in before:
        if call.method.endswith("/list") or call.method in ("initialize", "server/discover", "ping"):
            continue
        same = later.get(call.key)
        if same:
            changes += _changed("answer", name_of(call), _answer(call), _answer(same.pop(0)), left_out)
    return changes


def name_of(call: Call) -> str:
    """A call in one line."""
    if call.method == "tools/call":
        return f"{call.tool} {encode(call.arguments).decode()}"
    return f"{call.method} {encode(call.params).decode()}"


def _answer(call: Call) -> Json:
    return {"error": call.error} if call.error is not None else call.result


def _changed(what: str, name: str, before: Json, after: Json, left_out: frozenset[str], path: str = "") -> list[Change]:
    """The innermost differences of two values."""
    if isinstance(before, dict) and isinstance(after, dict):
        out: list[Change] = []
        for key in [*before, *(key for key in after if key not in before)]:
            if key in left_out:
                continue
            at = path + pointer_of([key])
            if key not in after:
                out.append(Change(what, name, "removed", at, before=before[key]))
            elif key not in before:
                out.append(Change(what, name, "added", at, after=after[key]))
            else:
                out += _changed(what, name, before[key], after[key], left_out, at)
        return out
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [c for index, (a, b) in pairs for c in _changed(what, name, a, b, left_out, f"{path}/{index}")]
    if type(before) is type(after) and before == after:
        return []
    return [Change(what, name, "changed", path, before, after)]
