"""How deep the values of a schema must be, so that recursion ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.flatten import Flattener, types_of
from mcp_world.spec.schema import subschemas

_MAX_NODES = 50_000


class Unsatisfiable(Exception):
    """No value was found that the schema admits."""


class Heights:
    """The least height of a value of each subschema, by fixed point; infinite where a required part contains itself.

    Args:
        flattener: Flattens the document's subschemas.
        root: The document.
    """

    def __init__(self, flattener: Flattener, root: Json) -> None:
        self.flattener = flattener
        self._endless: dict[int, bool] = {}
        self._heights = self._measure(root)

    def of(self, node: Json) -> float:
        """The least height of a value; 1 for a scalar or an empty container."""
        return self._heights.get(id(self.flattener.flat(node)), 1.0)

    def endless(self, node: Json) -> bool:
        """Whether a schema is one of its own descendants: a tree that may go on."""
        flat = self.flattener.flat(node)
        known = self._endless.get(id(flat))
        if known is None:
            known = self._endless[id(flat)] = self._recursive(flat)
        return known

    def _recursive(self, start: dict[str, Any]) -> bool:
        seen: set[int] = set()
        stack = [self.flattener.flat(child) for child in subschemas(start)] + self.flattener.branches(start)
        while stack:
            flat = stack.pop()
            if id(flat) in seen:
                if flat is start:
                    return True
                continue
            seen.add(id(flat))
            if flat is start or (id(flat) in seen and len(seen) > 5_000):
                return True
            stack.extend(self.flattener.flat(child) for child in subschemas(flat))
            stack.extend(self.flattener.branches(flat))
        return False

    def _measure(self, root: Json) -> dict[int, float]:
        nodes: dict[int, dict[str, Any]] = {}
        stack = [self.flattener.flat(root)]
        while stack:
            flat = stack.pop()
            if id(flat) in nodes or len(nodes) > _MAX_NODES:
                continue
            nodes[id(flat)] = flat
            stack.extend(self.flattener.flat(child) for child in subschemas(flat))
            stack.extend(self.flattener.branches(flat))
        heights = dict.fromkeys(nodes, math.inf)

        def of(node: Json) -> float:
            return heights.get(id(self.flattener.flat(node)), 1.0)

        changed = True
        while changed:
            changed = False
            for key, flat in nodes.items():
                height = self._least(flat, of)
                if height < heights[key]:
                    heights[key] = height
                    changed = True
        return heights

    def _least(self, flat: dict[str, Any], of: Callable[[Json], float]) -> float:
        branches = self.flattener.branches(flat)
        if branches:
            return min(of(branch) for branch in branches)
        types = types_of(flat)
        if "const" in flat or "enum" in flat or "null" in types or not types or set(types) - {"object", "array"}:
            return 1.0
        height = 1.0
        if "object" in types:
            properties = flat.get("properties")
            required = flat.get("required")
            if isinstance(properties, dict) and isinstance(required, list):
                height = 1.0 + max((of(properties[key]) for key in required if key in properties), default=0.0)
        if (
            "array" in types
            and "object" not in types
            and flat.get("minItems", 0)
            and isinstance(flat.get("items"), dict)
        ):
            height = 1.0 + of(flat["items"])
        return height
