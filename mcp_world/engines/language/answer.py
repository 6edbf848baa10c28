"""Reading a model's reply: thinking off, marker off, then data, a text or an error; or why it is none of these."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from mcp_world.core.types import Json
from mcp_world.engines.language.grammar import MARKER
from mcp_world.engines.language.model import Finish
from mcp_world.spec.formats import find_json, parse_json

_THINK = re.compile(r"</?think>", re.I)
_BLOCK = re.compile(r"<predicted_observation>(.*?)(?:</predicted_observation>|\Z)", re.I | re.S)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.S)
_NEXT_TURN = re.compile(r"\n+#{2,3} Turn \d+\b.*\Z", re.S)
_ERROR = re.compile(
    r"(?i)\s*(?:(?:mcp )?(?:\w*error\b|failed\b|failure\b|access denied|permission denied|not found|no such )"
    r"|status: error\b|(?:HTTP )?(?:" + "|".join(f"{s.value} {s.phrase}" for s in HTTPStatus if s >= 400) + r")\b)"
)
_NOISE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")


class Unusable(Exception):
    """A reply that is no observation.

    Args:
        rule: Which rule refused it.
        message: What is wrong, for the model to read.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that was understood.

    Args:
        kind: `data` for JSON, `text`, or `error` for a failed call.
        value: The JSON value.
        text: The text, or the error's message.
        thinking: What came before the answer.
    """

    kind: Literal["data", "text", "error"]
    value: Json = None
    text: str = ""
    thinking: str = ""


def read(reply: str, *, data: bool, finish: Finish = "stop") -> Answer:
    """Read a reply.

    Args:
        reply: What the model said.
        data: Whether a success is JSON; otherwise the form is the model's choice.
        finish: Why the reply ended.

    Raises:
        Unusable: Nothing in it can be sent.
    """
    if finish == "looping":
        raise Unusable("looping", "the reply repeated itself and was cut")
    body, thinking = without_thinking(reply)
    if thinking and not body.strip():
        raise Unusable("unclosed-think", "the reply ended before its thinking did; think less, then answer")
    blocks = _BLOCK.findall(body)
    body = blocks[-1] if blocks else body
    _, marker, after = body.partition(MARKER)
    body = _NEXT_TURN.sub("", after if marker else body).strip()
    if not body:
        raise Unusable("empty", "the reply holds no observation")
    if len(_NOISE.findall(body)) * 20 > len(body):
        raise Unusable("noise", "the reply is no readable text")
    value = _json(body, data)
    failure = None if value is None else _failure(value)
    if failure is not None:
        answer = Answer("error", text=failure, thinking=thinking)
    else:
        answer = (_data if data else _text)(body, value, finish, thinking)
    try:  # NaN, Infinity and halves of surrogate pairs are no JSON, though Python reads them
        json.dumps([answer.value if data else None, answer.text], ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise Unusable("no-json", f"the observation is no JSON: {error}") from None
    return answer


def without_thinking(text: str) -> tuple[str, str]:
    """A reply without its thinking, and the thinking.

    Blocks may be nested or several. One that only ends began in the prompt; one that only begins goes to the end, or to
    a `<predicted_observation>`.
    """
    kept: list[str] = []
    thought: list[str] = []
    depth = 0
    at = 0
    for tag in _THINK.finditer(text):
        piece = text[at : tag.start()]
        at = tag.end()
        opens = not tag.group().startswith("</")
        if depth or (not opens and piece.strip() and not depth):
            thought.append(piece)
        else:
            kept.append(piece)
        if opens:
            depth += 1
        elif depth:
            depth -= 1
        else:
            thought[:0], kept = kept, []
    rest = text[at:]
    if depth:
        begin = re.search(r"<predicted_observation>", rest, re.I)
        cut = begin.start() if begin else len(rest)
        thought.append(rest[:cut])
        rest = rest[cut:]
    kept.append(rest)
    return "".join(kept), "\n".join(part.strip() for part in thought if part.strip())


def _json(body: str, data: bool) -> Json:
    """The object or list that a body is, in a fence, in a string or (where data is asked for) in prose; else None."""
    value = parse_json(body)
    if value is None:
        fences = _FENCE.findall(body)
        whole = len(fences) == 1 and _FENCE.fullmatch(body) is not None
        if fences and (data or whole):
            value = next((found for found in map(parse_json, fences) if found is not None), None)
    if value is None and body.startswith('"'):
        try:
            inner = json.loads(body)
        except (ValueError, RecursionError):
            inner = None
        value = parse_json(inner) if isinstance(inner, str) else None
    if value is None and data:
        found = find_json(body)
        broken = body[0] in "{[" and (found is None or found[0] > 0)  # what is whole in it is only a part
        value = None if found is None or broken else found[2]
    return value


def _failure(value: Json) -> str | None:
    """The message of a value that says a call failed: in the form that was asked for, or as MCP and JSON-RPC put it."""
    if not isinstance(value, dict):
        return None
    if value.get("isError") is True:
        message = value.get("message")
        return message if isinstance(message, str) and message else _blocks(value) or "The call failed."
    error = value.get("error")
    if set(value) <= {"error", "jsonrpc", "id"} and isinstance(error, dict) and isinstance(error.get("message"), str):
        return str(error["message"])
    return None


def _blocks(value: Json) -> str | None:
    """The text of a value that is a tool result or one of its blocks."""
    if not isinstance(value, dict):
        return None
    if value.get("type") == "text" and isinstance(value.get("text"), str) and set(value) <= {"type", "text"}:
        return str(value["text"])
    content = value.get("content")
    if isinstance(content, list) and content and set(value) <= {"content", "isError", "structuredContent"}:
        texts = [_blocks(block) for block in content]
        if all(text is not None for text in texts):
            return "\n".join(text for text in texts if text is not None)
    return None


def _data(body: str, value: Json, finish: Finish, thinking: str) -> Answer:
    if isinstance(value, dict) and isinstance(value.get("structuredContent"), dict | list):
        value = value["structuredContent"]
    if value is not None:
        return Answer("data", value, thinking=thinking)
    if body[0] in "{[" or "```" in body or finish == "length":
        raise Unusable("cut", "the JSON is not whole; answer shorter, and close every bracket")
    if _ERROR.match(body):
        return Answer("error", text=body, thinking=thinking)
    raise Unusable("no-json", "the observation of this tool is JSON; answer with nothing else")


def _text(body: str, value: Json, finish: Finish, thinking: str) -> Answer:
    inner = _blocks(value)
    if inner is not None:
        return Answer("error" if _ERROR.match(inner) else "text", text=inner, thinking=thinking)
    if finish == "length":
        raise Unusable("cut", "the observation was not finished; answer shorter")
    if value is None and body[0] in "{[" and body[-1] not in "}]" and body.count(body[0]) == 1:
        raise Unusable("cut", "the JSON is not whole; close every bracket")
    fenced = _FENCE.fullmatch(body)
    text = fenced.group(1) if fenced is not None else body
    if value is not None and body.startswith('"'):
        text = json.loads(body)
    return Answer("error" if _ERROR.match(text) else "text", value, text, thinking)
