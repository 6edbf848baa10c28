"""Packs of rules: what they say of a step, how they are tried on their examples, and how a wrong one is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_world import Action, Observation, parse
from mcp_world.core.errors import BadInput
from mcp_world.verify.pack import read_pack, self_test
from mcp_world.verify.verifier import Episode, verifiers_for

RULE: dict[str, Any] = {
    "rule": "amounts-are-positive",
    "match": {"tool": "*charge*"},
    "check": "result.amount > 0",
    "message": "a charge of {result.amount}",
    "passes": {"result": {"amount": 5}},
    "fails": {"result": {"amount": -5}},
}


def pack(folder: Path, *rules: dict[str, Any]) -> Path:
    path = folder / "mine.yaml"
    path.write_text(json.dumps({"rules": list(rules)}))
    return path


def broken(path: Path, amount: int) -> list[str]:
    spec = parse({"tools": [{"name": "get_charge", "inputSchema": {"type": "object"}}]}, name="payments")
    episode = Episode(spec, verifiers_for([str(path)], spec))
    observation = Observation({"content": [{"type": "text", "text": json.dumps({"amount": amount})}]})
    return [
        f"{violation.rule}: {violation.message}"
        for violation in episode.record(Action("get_charge"), observation, 1).violations
    ]


def test_a_rule_tells_what_breaks_it_and_lets_the_rest_pass(tmp_path: Path) -> None:
    path = pack(tmp_path, RULE)
    assert broken(path, -5) == ["mine/amounts-are-positive: a charge of -5"]
    assert not broken(path, 5)


def test_examples_that_a_rule_judges_as_it_says_are_no_lines(tmp_path: Path) -> None:
    assert not list(self_test(read_pack(pack(tmp_path, RULE))))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"passes": {"result": {"amount": -1}}}, "example 1 (passes) is found wrong"),
        ({"fails": {"result": {"amount": 1}}}, "example 2 (fails) is let pass"),
        ({"fails": []}, "no example that fails"),
    ],
)
def test_an_example_that_a_rule_misjudges_is_told(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    (told,) = self_test(read_pack(pack(tmp_path, {**RULE, **change})))
    assert line in told


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"check": "result.amount >"}, "#/rules/0/check"),
        ({"check": "os.system('x')"}, "#/rules/0/check"),
        ({"check": "secret == 1"}, "#/rules/0/check"),
        ({"check": "'" + "a" * 3000 + "' == ''"}, "#/rules/0/check"),
        ({"severity": "fatal"}, "#/rules/0/severity"),
        ({"sheck": "true"}, "#/rules/0"),
        ({"fails": {"resutl": 1}}, "#/rules/0/fails"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], where: str) -> None:
    with pytest.raises(BadInput) as error:
        read_pack(pack(tmp_path, {**RULE, **change}))
    assert str(error.value.where).endswith(where)
