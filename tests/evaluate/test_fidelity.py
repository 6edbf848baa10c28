"""How near worlds come to real servers, measured on recorded sessions: the first half is known, the second predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_world import Action, Observation, load_one
from mcp_world.evaluate.fidelity import Score, compare, online
from mcp_world.spec.cassette import read_cassette
from tests.conftest import SHARED, needs_shared, real_spec

pytestmark = pytest.mark.anyio
SESSIONS = sorted((SHARED / "real" / "sessions").glob("*.jsonl"))


def said(text: str, **more: object) -> Observation:
    return Observation({"content": [{"type": "text", "text": text}], **more})


def test_values_that_stood_in_the_action_or_before_are_to_be_recalled_and_no_others() -> None:
    action = Action("t", {"name": "Ada"})
    earlier = [said("", structuredContent={"team": "core"})]
    true = said("", structuredContent={"name": "Ada", "team": "core", "id": "new-7"})
    score = compare(action, earlier, true, said("", structuredContent={"name": "Ada", "team": "infra"}))
    assert (score.entailed, score.recalled, score.missed) == (2, 1, ("core",))


@pytest.mark.parametrize(
    ("true", "predicted", "status", "form"),
    [
        (said("ok"), said("fine"), True, True),
        (said("ok"), said("no", isError=True), False, True),
        (said('{"a": 1}'), said("{'a': 1}"), True, False),
        (said("# T\nx"), said("plain"), True, False),
    ],
)
def test_status_and_format_are_compared(true: Observation, predicted: Observation, status: bool, form: bool) -> None:
    score = compare(Action("t"), [], true, predicted)
    assert (score.status, score.format) == (status, form)


async def second_half(path: Path) -> list[Score]:
    calls = [call for call in read_cassette(path).calls if call.tool]
    return await online(load_one(str(real_spec(path.stem))), calls, len(calls) // 2)


def recall(scores: list[Score]) -> float:
    return sum(score.recalled for score in scores) / sum(score.entailed for score in scores)


@needs_shared
@pytest.mark.parametrize("name", ["memory", "sqlite"])
async def test_a_half_session_of_a_stateful_server_foretells_the_other_half(name: str) -> None:
    scores = await second_half(SHARED / "real" / "sessions" / f"{name}.jsonl")
    assert recall(scores) >= 0.95, [(score.tool, score.missed) for score in scores if score.missed]


@needs_shared
async def test_examples_bring_worlds_nearer_on_the_whole() -> None:
    cold: list[Score] = []
    warm: list[Score] = []
    for path in SESSIONS:
        calls = [call for call in read_cassette(path).calls if call.tool]
        half = len(calls) // 2
        spec = load_one(str(real_spec(path.stem)))
        warm += await online(spec, calls, half)
        cold += await online(spec, calls, half, taught=False)
    assert recall(warm) > recall(cold) + 0.1
    assert sum(score.format for score in warm) > sum(score.format for score in cold)
