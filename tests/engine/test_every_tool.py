"""Every tool of every spec answers validly: the recorded servers' and the shipped ones'."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from mcp_world import Action, World, load_one
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.model import Tool
from tests.conftest import REAL_SPECS, ROOT

SHIPPED = sorted((ROOT / "tool_specs").glob("*.json"))
NOW = datetime(2025, 5, 1, tzinfo=UTC)
VALUES = Values()


def arguments_for(tool: Tool, key: int) -> dict[str, Any]:
    """Arguments that the tool's inputSchema allows."""
    value = Fabricator(tool.input, VALUES).root(key, now=NOW) if tool.input is not None else {}
    return value if isinstance(value, dict) else {}


@pytest.mark.anyio
@pytest.mark.parametrize("path", [*REAL_SPECS, *SHIPPED], ids=lambda p: p.stem)
async def test_every_answer_is_valid_at_the_first_try(path: Path) -> None:
    spec = load_one(str(path))
    world = World(spec, seed=11)
    for key in range(3):
        for tool in spec.tools:
            observation = await world.step(Action(tool.name, arguments_for(tool, key)))
            assert "Internal error" not in observation.text, observation.text
            assert world.steps[-1].attempts <= 1
            if observation.is_error:
                assert observation.structured is None
            elif tool.output is not None:
                jsonschema.Draft202012Validator(tool.output.checked).validate(observation.structured)


def test_what_ships_is_what_was_asked_for() -> None:
    specs = [load_one(str(path)) for path in SHIPPED]
    assert len(specs) >= 10
    assert sum(len(spec.tools) for spec in specs) >= 120
    for spec in specs:
        assert not spec.problems
        for tool in spec.tools:
            assert tool.description and tool.output is not None
            assert sum(repr(tool.output.checked).count(word) for word in ("'type'", "'const'")) >= 3, (
                f"{tool.name} says little of its result"
            )


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.stem)
def test_every_tool_of_a_shipped_spec_is_understood(path: Path) -> None:
    from mcp_world.engines.procedural.engine import ProceduralEngine

    spec = load_one(str(path))
    plans = ProceduralEngine(spec).model.plans
    assert not [plan.tool.name for plan in plans.values() if plan.problem]
    for plan in plans.values():
        read_only = plan.tool.annotations.get("readOnlyHint")
        if read_only:
            assert not plan.reading.writes, plan.tool.name
