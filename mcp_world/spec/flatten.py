"""Schemas as one layer: references followed, `allOf` merged, older drafts in the words of 2020-12.

What comes out is for reading and fabricating; what is checked is always the schema itself.
"""

from __future__ import annotations

from typing import Any

from mcp_world.core.types import Json
from mcp_world.spec.schema import SchemaError, resolve

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}
)
_HIGHEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"})
_LOWEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"})
_MAX_REFS = 64
_ANYTHING: dict[str, Any] = {}
_NOTHING: dict[str, Any] = {"not": {}}


class Flattener:
    """Flattens the subschemas of one document, each once.

    Args:
        root: The document that local references point into.
    """

    def __init__(self, root: Json) -> None:
        self.root = root
        self._flat: dict[int, dict[str, Any]] = {}
        self._keep: list[Json] = []

    def __len__(self) -> int:
        """How many subschemas are remembered."""
        return len(self._flat)

    def flat(self, node: Json) -> dict[str, Any]:
        """The schema as one layer; `{"not": {}}` stands for the schema that nothing satisfies.

        Raises:
            SchemaError: A reference points outside, to nothing, or in a circle.
        """
        if node is False:
            return _NOTHING
        if not isinstance(node, dict):
            return _ANYTHING
        known = self._flat.get(id(node))
        if known is None:
            known = self._flatten(node, 0)
            self._flat[id(node)] = known
            self._keep.append(node)
        return known

    def _flatten(self, node: Json, depth: int) -> dict[str, Any]:
        if not isinstance(node, dict):
            return _NOTHING if node is False else _ANYTHING
        if depth > _MAX_REFS:
            raise SchemaError("its references go round in a circle")
        if "$ref" not in node and "allOf" not in node and "$dynamicRef" not in node and not _is_old(node):
            return node
        out = _modern(
            {k: v for k, v in node.items() if k not in ("$ref", "allOf", "$dynamicRef", "$defs", "definitions")}
        )
        ref = node.get("$ref", node.get("$dynamicRef"))
        if isinstance(ref, str):
            out = merge(self._flatten(resolve(self.root, ref), depth + 1), out)
        parts = node.get("allOf")
        for part in parts if isinstance(parts, list) else ():
            out = merge(out, self._flatten(part, depth + 1))
        return out

    def branches(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        """The alternatives of a flat schema (`anyOf`, `oneOf`, `if`), each merged with the rest; [] where it has none."""
        known = self._flat.get(-id(node))
        if known is not None:
            return known["branches"]  # type: ignore[no-any-return]
        out: list[dict[str, Any]] = []
        for key in ("anyOf", "oneOf"):
            options = node.get(key)
            if isinstance(options, list) and options:
                base = {k: v for k, v in node.items() if k != key}
                out = [merge(base, self.flat(option)) for option in options]
                break
        else:
            if "if" in node and ("then" in node or "else" in node):
                base = {k: v for k, v in node.items() if k not in ("if", "then", "else")}
                condition = self.flat(node["if"])
                out = [
                    merge(merge(base, condition), self.flat(node.get("then", True))),
                    merge(merge(base, {"not": node["if"]}), self.flat(node.get("else", True))),
                ]
        self._flat[-id(node)] = {"branches": out}
        self._keep.append(node)
        return out


def types_of(node: dict[str, Any]) -> list[str]:
    """The types that a flat schema admits by its `type`, or by its keywords where it has none; [] for any."""
    kind = node.get("type")
    if isinstance(kind, str):
        return [kind]
    if isinstance(kind, list):
        return [k for k in kind if isinstance(k, str)]
    if "properties" in node or "required" in node or "additionalProperties" in node or "patternProperties" in node:
        return ["object"]
    if "items" in node or "prefixItems" in node or "contains" in node or "minItems" in node or "uniqueItems" in node:
        return ["array"]
    if "pattern" in node or "format" in node or "minLength" in node or "maxLength" in node:
        return ["string"]
    if any(k in node for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")):
        return ["number"]
    return []


def admits(value: Json, types: list[str]) -> bool:
    """Whether a value is of one of these JSON Schema types; a whole float is an integer."""
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    if isinstance(value, float):
        return "number" in types or (value.is_integer() and "integer" in types)
    if isinstance(value, str):
        return "string" in types
    return ("array" if isinstance(value, list) else "object") in types


def _is_old(node: dict[str, Any]) -> bool:
    return (
        isinstance(node.get("items"), list)
        or "dependencies" in node
        or isinstance(node.get("exclusiveMinimum"), bool)
        or isinstance(node.get("exclusiveMaximum"), bool)
    )


def _modern(node: dict[str, Any]) -> dict[str, Any]:
    """Draft 4 and 7 keywords in the words of 2020-12."""
    out = dict(node)
    if isinstance(out.get("items"), list):
        out["prefixItems"] = out["items"]
        out["items"] = out.pop("additionalItems", True)
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(out.get(exclusive), bool) and out.pop(exclusive) and bound in out:
            out[exclusive] = out.pop(bound)
    dependencies = out.pop("dependencies", None)
    if isinstance(dependencies, dict):
        for name, needs in dependencies.items():
            key = "dependentRequired" if isinstance(needs, list) else "dependentSchemas"
            out[key] = {**out.get(key, {}), name: needs}
    return out


def merge(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """The conjunction of two flat schemas, as far as keywords can say it; later annotations win."""
    if not a:
        return b
    if not b:
        return a
    out = dict(a)
    for key, theirs in b.items():
        if key not in out or key in _ANNOTATIONS:
            out[key] = theirs
            continue
        ours = out[key]
        if ours == theirs:
            continue
        if key == "type":
            out[key] = _common_types(ours, theirs)
        elif key == "properties":
            out[key] = {**ours, **{k: _both(ours[k], v) if k in ours else v for k, v in theirs.items()}}
        elif key == "required" and isinstance(ours, list) and isinstance(theirs, list):
            out[key] = list(dict.fromkeys([*ours, *theirs]))
        elif key in _HIGHEST:
            out[key] = max(ours, theirs)
        elif key in _LOWEST:
            out[key] = min(ours, theirs)
        elif key == "enum":
            out[key] = [value for value in ours if value in theirs]
        elif key in ("patternProperties", "dependentSchemas"):
            out[key] = {**ours, **{k: _both(ours[k], v) if k in ours else v for k, v in theirs.items()}}
        elif key == "dependentRequired":
            out[key] = {**ours, **{k: [*ours.get(k, []), *v] for k, v in theirs.items()}}
        elif key in ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties"):
            out[key] = _both(ours, theirs)
        elif key == "not":
            out[key] = {"anyOf": [ours, theirs]}
        elif key == "uniqueItems":
            out[key] = bool(ours or theirs)
        elif key in ("pattern", "format", "const", "multipleOf", "anyOf", "oneOf", "if"):
            extra = {k: b[k] for k in ("if", "then", "else") if k in b} if key == "if" else {key: theirs}
            out["also"] = [*out.get("also", []), extra]
        elif key == "also":
            out[key] = [*ours, *theirs]
        elif key in ("then", "else"):
            continue
        else:
            out[key] = theirs
    return out


def _both(a: Json, b: Json) -> Json:
    if a is True or a == b:
        return b
    if b is True:
        return a
    return {"allOf": [a, b]}


def _common_types(a: Json, b: Json) -> list[str]:
    first = [a] if isinstance(a, str) else list(a)
    second = [b] if isinstance(b, str) else list(b)
    out = [t for t in first if t in second]
    if ("number" in first and "integer" in second) or ("integer" in first and "number" in second):
        out.append("integer")
    return list(dict.fromkeys(out))
