"""What kind of text an answer is: JSON, Python's repr, CSV, markdown, prose with JSON in it, or plain."""

from __future__ import annotations

import ast
import csv
import json
import re
from typing import Literal

from mcp_world.core.types import Json, Observation

Format = Literal["empty", "json", "python", "csv", "markdown", "prose with json", "plain"]

_MAX_PYTHON = 200_000
_MARKDOWN = re.compile(r"^(?:#{1,6} |```|\s*[-*] \S|\s*\d+\. \S|\|.*\|$|> )", re.M)
_EMPHASIS = re.compile(r"\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\n]+\)")
_CONTAINER = re.compile(r"[{\[]")


def format_of(text: str) -> Format:
    """The format of a text.

    JSON and Python's repr are objects and lists, for a lone number or word says nothing. Markdown has two marks or more,
    or a heading or a fence.
    """
    body = text.strip()
    if not body:
        return "empty"
    if body[0] in "{[":
        if parse_json(body) is not None:
            return "json"
        if parse_python(body) is not None:
            return "python"
    marks = _MARKDOWN.findall(text)
    if any(mark.lstrip().startswith(("#", "```")) for mark in marks) or len(marks) + len(_EMPHASIS.findall(text)) >= 2:
        return "markdown"
    if _is_csv(body):
        return "csv"
    return "prose with json" if find_json(body) is not None else "plain"


def parse_json(text: str) -> Json:
    """The object or list that a text is in JSON, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def parse_python(text: str) -> Json:
    """The dict or list that a text is in Python's repr, if JSON can hold it, or None; nothing is run."""
    if len(text) > _MAX_PYTHON:
        return None
    try:
        value = ast.literal_eval(text)
        return json.loads(json.dumps(value, allow_nan=False)) if isinstance(value, dict | list) else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def data_of(observation: Observation) -> Json:
    """The data of an observation: what is structured, else what its text is as JSON or Python's repr; else None."""
    if observation.structured is not None:
        return observation.structured
    text = observation.text.strip()
    value = parse_json(text)
    return parse_python(text) if value is None else value


def find_json(text: str) -> tuple[int, int, Json] | None:
    """The first object or list of some size in a text: where it begins and ends, and what it is."""
    decoder = json.JSONDecoder()
    for found in list(_CONTAINER.finditer(text))[:50]:
        try:
            value, end = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if value and (isinstance(value, dict) or any(isinstance(inner, dict) for inner in value)):
            return found.start(), end, value
    return None


def _is_csv(text: str) -> bool:
    lines = text.splitlines()
    if len(lines) < 2 or len(lines) > 10_000 or "," not in lines[0]:
        return False
    widths = {len(row) for row in csv.reader(lines)}
    return len(widths) == 1 and widths.pop() >= 2
