"""JSON out: fast, and whole for integers beyond 64 bits, which orjson refuses."""

from __future__ import annotations

import json

import orjson

from mcp_world.core.types import Json


def encode(value: Json) -> bytes:
    """A value as compact UTF-8 JSON."""
    try:
        return orjson.dumps(value)
    except TypeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pretty(value: Json) -> str:
    """A value as JSON indented by two, as servers put it into text."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return json.dumps(value, indent=2, ensure_ascii=False)
