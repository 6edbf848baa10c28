"""What a verdict is worth."""

from __future__ import annotations

import pytest

from mcp_world.core.types import Severity, Violation
from mcp_world.verify.verdict import verdict_of


@pytest.mark.parametrize(
    ("severities", "score"),
    [
        ([], 1.0),
        (["info"], 1.0),
        (["warning"], 0.9),
        (["warning"] * 12, 0.0),
        (["error"], 0.25),
        (["error", "error"], 0.0),
    ],
)
def test_a_score_falls_with_each_violation_and_an_error_caps_it(severities: list[Severity], score: float) -> None:
    assert verdict_of(Violation("r", "", "m", severity) for severity in severities).score == score


def test_only_errors_make_a_verdict_fail() -> None:
    assert verdict_of([Violation("r", "", "m", "warning")]).ok
    assert not verdict_of([Violation("r", "", "m")]).ok
