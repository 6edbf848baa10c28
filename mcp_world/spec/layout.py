"""Where in a tool's result the thing stands, or the things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from mcp_world.spec.flatten import Flattener, types_of
from mcp_world.spec.names import singular, words
from mcp_world.spec.reading import Reading

LISTS = (
    "items",
    "results",
    "data",
    "entries",
    "records",
    "values",
    "nodes",
    "rows",
    "result",
    "matches",
    "hits",
    "list",
)
WRAPPERS = ("data", "result", "item", "record", "resource", "object", "response", "payload", "output")
_SIGNS = frozenset({"success", "ok", "deleted", "acknowledged", "removed", "done"})
ACKS = frozenset(
    {
        "success",
        "ok",
        "message",
        "status",
        "deleted",
        "id",
        "error",
        "updated",
        "acknowledged",
        "removed",
        "done",
    }
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in a result.

    Args:
        shape: One thing, a list of things, or neither.
        path: Property names from the root to it.
        node: The schema of the thing, or of one item.
    """

    shape: Literal["entity", "items", "none"]
    path: tuple[str, ...] = ()
    node: Any = None


def layout_of(flattener: Flattener, root: Any, reading: Reading) -> Layout:
    """Read the layout of an output schema."""
    flat = flattener.flat(root)
    many = reading.verb in ("list", "search", "count") or bool(reading.id_list or reading.items_arg)
    if many:
        found = _items(flattener, root, reading, 0)
        if found is not None:
            return found
        if reading.verb in ("list", "search", "count"):
            return Layout("none")
    if "array" in types_of(flat) or reading.verb in ("call",):
        return Layout("none")
    return _entity(flattener, root, reading, 0)


def _items(flattener: Flattener, node: Any, reading: Reading, depth: int) -> Layout | None:
    flat = _whole(flattener, node)
    if "array" in types_of(flat):
        item = flat.get("items", True)
        return Layout("items", (), item) if isinstance(item, dict) else None
    properties = flat.get("properties")
    if not isinstance(properties, dict):
        return None
    last = words(reading.kind)[-1:] or ("",)
    best: tuple[int, str] | None = None
    for name, sub in properties.items():
        inner = _whole(flattener, sub)
        if "array" not in types_of(inner) or not isinstance(inner.get("items"), dict):
            continue
        item = _whole(flattener, inner["items"])
        stem = words(name)
        score = 4 if stem and singular(stem[-1]) == last[0] else 3 if name.lower() in LISTS else 0
        score += 2 if "properties" in item else 0
        if score and (best is None or score > best[0]):
            best = (score, name)
    if best is None:
        arrays = [
            n
            for n, s in properties.items()
            if "properties" in _whole(flattener, _whole(flattener, s).get("items", True))
        ]
        if len(arrays) == 1:
            best = (1, arrays[0])
    if best is not None:
        return Layout("items", (best[1],), _whole(flattener, properties[best[1]]).get("items", True))
    if depth < 2:
        for name, sub in properties.items():
            if name.lower() in WRAPPERS:
                inner_layout = _items(flattener, sub, reading, depth + 1)
                if inner_layout is not None:
                    return Layout("items", (name, *inner_layout.path), inner_layout.node)
    return None


def _entity(flattener: Flattener, node: Any, reading: Reading, depth: int) -> Layout:
    flat = _whole(flattener, node)
    properties = flat.get("properties")
    if not isinstance(properties, dict) or not properties:
        return Layout("none")
    last = words(reading.kind)[-1:] or ("",)
    for name, sub in properties.items():
        inner = _whole(flattener, sub)
        stem = words(name)
        if "properties" in inner and (
            stem == words(reading.kind) or stem[-1:] == last or (name.lower() in WRAPPERS and len(properties) <= 4)
        ):
            if depth < 2 and name.lower() in WRAPPERS:
                deeper = _entity(flattener, sub, reading, depth + 1)
                if deeper.shape == "entity":
                    return Layout("entity", (name, *deeper.path), deeper.node)
            return Layout("entity", (name,), sub)
    if reading.writes and len(properties) <= 4 and {n.lower() for n in properties} & _SIGNS:
        return Layout("none")
    if {n.lower() for n in properties} <= ACKS - {"id"}:
        return Layout("none")
    return Layout("entity", (), node)


def _whole(flattener: Flattener, node: Any) -> dict[str, Any]:
    """A flat schema; of `X or null`, the X."""
    flat = flattener.flat(node)
    if "properties" in flat or "items" in flat:
        return flat
    solid = [branch for branch in flattener.branches(flat) if branch.get("type") != "null"]
    return solid[0] if len(solid) == 1 else flat
