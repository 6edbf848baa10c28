"""How near a predicted observation is to the true one, by rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mcp_world.core.types import Action, Json, Observation, RpcError, leaves
from mcp_world.engines import engine_for
from mcp_world.spec.cassette import Call
from mcp_world.spec.formats import find_json, format_of, parse_json, parse_python
from mcp_world.spec.model import ServerSpec
from mcp_world.world.world import World

_TOKEN = re.compile(r"[^\s\"'`,;:()\[\]{}<>=|]+")


@dataclass(frozen=True)
class Score:
    """One step's comparison.

    Args:
        tool: The tool that was called.
        status: Whether both succeeded, or both failed in the same way (`isError` or a JSON-RPC error).
        format: Whether the blocks are of the same types and the texts of the same format.
        entailed: How many values of the true observation stood in the action or an earlier observation.
        recalled: How many of these the predicted one has.
        missed: Those that it has not.
        true: The true observation.
        predicted: The predicted one.
    """

    tool: str
    status: bool
    format: bool
    entailed: int
    recalled: int
    missed: tuple[str, ...]
    true: Observation
    predicted: Observation


async def online(
    spec: ServerSpec, calls: list[Call], first: int, *, engine: str = "procedural", taught: bool = True
) -> list[Score]:
    """Predict each call from `first` on, with the calls before it as the world's true history.

    Args:
        spec: The server, without examples of this session.
        calls: The tool calls of one session.
        first: Index of the first call that is predicted.
        engine: What predicts.
        taught: Whether the calls before are examples too, that the engine learns from.
    """
    scores: list[Score] = []
    for at in range(first, len(calls)):
        known = replace(spec, examples=(*spec.examples, *calls[:at])) if taught else spec
        world = World(known, engine=engine_for(known, engine))
        for past in calls[:at]:
            await world.witness(action_of(past), observation_of(past))
        action = action_of(calls[at])
        predicted = await world.step(action)
        earlier = [observation_of(past) for past in calls[:at]]
        scores.append(compare(action, earlier, observation_of(calls[at]), predicted))
    return scores


def action_of(call: Call) -> Action:
    """A recorded call as an action."""
    return Action(call.tool, call.arguments)


def observation_of(call: Call) -> Observation:
    """Its recorded answer as an observation."""
    if call.error is not None:
        return Observation(error=RpcError(call.error["code"], str(call.error["message"]), call.error.get("data")))
    return Observation(call.result)


def compare(action: Action, earlier: Iterable[Observation], true: Observation, predicted: Observation) -> Score:
    """Compare two observations of one action.

    Args:
        action: The call.
        earlier: The true observations before it.
        true: What really was observed.
        predicted: What an engine made of it.
    """
    known = set(_values(dict(action.arguments)))
    known.add(action.tool)
    for observation in earlier:
        known.update(values_of(observation))
    spoken = "\n".join(known)
    wanted = sorted({value for value in values_of(true) if value in known or (len(value) > 3 and value in spoken)})
    have = set(values_of(predicted))
    said = "\n".join([*have, predicted.text])
    missed = tuple(value for value in wanted if value not in have and value not in said)
    return Score(
        action.tool,
        _status(true) == _status(predicted),
        _form(true) == _form(predicted),
        len(wanted),
        len(wanted) - len(missed),
        missed,
        true,
        predicted,
    )


def _status(observation: Observation) -> str:
    return "rpc" if observation.result is None else "error" if observation.is_error else "success"


def _form(observation: Observation) -> tuple[str, ...]:
    if observation.result is None:
        return ("rpc",)
    blocks = observation.result.get("content") or []
    return (*(str(block.get("type")) for block in blocks), format_of(observation.text))


def values_of(observation: Observation) -> Iterator[str]:
    """The values in an observation: leaves of what is structured, words of what is not."""
    if observation.structured is not None:
        yield from _values(observation.structured)
        return
    if observation.result is None:
        yield from _words(observation.text)
        return
    for block in observation.result.get("content") or []:
        if block.get("type") != "text":
            yield from _values({key: block[key] for key in block if key not in ("data", "type")})
            continue
        text = block["text"]
        value = parse_json(text) if format_of(text) == "json" else None
        value = parse_python(text) if value is None else value
        inner = find_json(text) if value is None else None
        if value is not None:
            yield from _values(value)
        elif inner is not None:
            yield from _words(text[: inner[0]] + text[inner[1] :])
            yield from _values(inner[2])
        else:
            yield from _words(text)


def _values(value: Json) -> Iterator[str]:
    for leaf in leaves(value):
        if isinstance(leaf, str):
            if len(leaf) > 60 or "\n" in leaf:
                yield from _words(leaf)
            elif leaf:
                yield leaf
        elif leaf is not None and not isinstance(leaf, bool):
            yield str(leaf)


def _words(text: str) -> Iterator[str]:
    for found in _TOKEN.findall(text):
        word = found.strip(".!?")
        if word:
            yield word
