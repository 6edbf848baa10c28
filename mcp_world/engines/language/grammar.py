"""What a reply must look like, in the terms of the decoders that can be bound to it.

The marker may stand before the JSON and thinking before both, so the whole is a structural tag (xgrammar's, which vLLM
and SGLang take as well). A decoder that knows only JSON Schema is bound to the JSON alone.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

from mcp_world.core.types import Json

MARKER = "**Environment Observation:**"
"""What stands before an observation, in the prompts of Qwen-AgentWorld (arXiv 2606.24597)."""

ERROR: dict[str, Json] = {
    "type": "object",
    "properties": {"isError": {"const": True}, "message": {"type": "string", "minLength": 1}},
    "required": ["isError", "message"],
    "additionalProperties": False,
}
"""How a model says that a call failed: in a form of its own, so that an error never has to pass for a success."""

Thinking = Literal["none", "may", "open"]
"""Whether a reply may think first: not at all, inside `<think>`, or going on inside a block that the prompt opened."""

_WHITESPACE = 2
_LOOSE = ("pattern", "format", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minProperties",
          "maxProperties", "propertyNames", "multipleOf", "not", "if", "then", "else", "dependentRequired",
          "dependentSchemas", "contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems",
          "patternProperties", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")  # fmt: skip


@dataclass(frozen=True)
class Grammar:
    """A success of this schema, or an error.

    Args:
        schema: JSON Schema of a success.
    """

    schema: Json

    def structural_tag(self, thinking: Thinking = "none") -> dict[str, Any]:
        """As xgrammar's structural tag.

        Args:
            thinking: What may come before; the grammar binds only what follows it.
        """
        body: list[dict[str, Any]] = [
            {"type": "optional", "content": {"type": "regex", "pattern": r"\*\*Environment Observation:\*\*[ \n]?"}},
            {"type": "or", "elements": [_json(self.schema), _json(ERROR)]},
        ]
        block = {"type": "tag", "begin": "<think>", "content": {"type": "any_text"}, "end": "</think>"}
        gap = {"type": "regex", "pattern": r"[ \n]{0,3}"}
        if thinking == "may":
            body = [{"type": "optional", "content": block}, gap, *body]
        elif thinking == "open":
            body = [{**block, "begin": ""}, gap, *body]
        return {"type": "structural_tag", "format": {"type": "sequence", "elements": body}}

    def json_schema(self) -> dict[str, Json]:
        """As one JSON Schema, for decoders that know nothing else: the JSON without the marker."""
        return {"anyOf": [_rerooted(self.schema, "#/anyOf/0"), ERROR]}

    def loose(self) -> Grammar:
        """Without the keywords that decoders refuse most often; what they would have bound is still checked after."""
        return Grammar(_loosened(self.schema))


def _json(schema: Json) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": schema, "max_whitespace_cnt": _WHITESPACE}


def _rerooted(schema: Json, root: str) -> Json:
    """A copy whose local references still hold where it now stands."""
    if isinstance(schema, list):
        return [_rerooted(inner, root) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: _rerooted(inner, root) for key, inner in schema.items()}
    ref = out.get("$ref")
    if isinstance(ref, str) and (ref == "#" or ref.startswith("#/")):
        out["$ref"] = root + ref[1:]
    return out


def _loosened(schema: Json) -> Json:
    if not isinstance(schema, dict):
        return schema
    out = {key: copy.deepcopy(inner) for key, inner in schema.items() if key not in _LOOSE}
    for key in ("properties", "$defs", "definitions"):
        if isinstance(out.get(key), dict):
            out[key] = {name: _loosened(inner) for name, inner in out[key].items()}
    for key in ("items", "additionalProperties"):
        if key in out:
            out[key] = _loosened(out[key])
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(out.get(key), list):
            out[key] = [_loosened(inner) for inner in out[key]]
    return out
