"""Taking what a refused answer got right into one that is valid."""

from __future__ import annotations

import copy

from mcp_world.core.types import Json, Observation
from mcp_world.engines.contract import Request
from mcp_world.engines.procedural.engine import ProceduralEngine


def graft(engine: ProceduralEngine, request: Request, observation: Observation, draft: Json) -> tuple[Json, list[str]]:
    """Put members of a draft in the place of fabricated ones, each only if the whole stays valid.

    Of a thing that agents have seen before, or of several, nothing is taken: what was shown is kept to.

    Args:
        engine: Who made the observation.
        request: What it answers.
        observation: A success.
        draft: What a model wrote.

    Returns:
        The structured content, and the names of what was taken.
    """
    tool, value = request.tool, copy.deepcopy(observation.structured)
    plan = engine.model.plans[tool.name]
    if tool.output is None or value is None:
        return value, []
    kept: frozenset[str] = frozenset()
    path: tuple[str, ...] = ()
    if plan.reading.verb != "call":
        entity = engine.subject(request)
        if entity is None or plan.layout.shape != "entity" or entity.shown != request.step:
            return value, []
        kept, path = entity.stated | {plan.kind.id_field}, plan.layout.path
    mine, theirs = value, draft
    for name in path:
        mine = mine.get(name) if isinstance(mine, dict) else None
        theirs = theirs.get(name) if isinstance(theirs, dict) else None
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return value, []
    taken = []
    for name in [name for name in mine if name in theirs and name not in kept]:
        before = mine[name]
        mine[name] = theirs[name]
        if before == theirs[name] or not tool.output.is_valid(value):
            mine[name] = before
        else:
            taken.append(name)
    return value, sorted(taken)
