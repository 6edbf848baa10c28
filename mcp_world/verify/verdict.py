"""A verdict: what verifiers found in one observation, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcp_world.core.types import Json, Severity, Violation

COST: Final[dict[Severity, float]] = {"error": 0.5, "warning": 0.1, "info": 0.0}
"""What one violation takes off the score."""

CAP: Final = 0.25
"""The most that an observation with an error is worth."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one observation.

    Args:
        violations: Errors first, then in the order in which they were found.
    """

    violations: tuple[Violation, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no error."""
        return not any(violation.severity == "error" for violation in self.violations)

    @property
    def score(self) -> float:
        """From 0 to 1: `1 - sum of COST`, never below 0, and at most `CAP` where there is an error.

        The cap keeps one hard violation from being bought back by everything else that is right.
        """
        left = max(0.0, 1.0 - sum(COST[violation.severity] for violation in self.violations))
        return round(left if self.ok else min(left, CAP), 6)

    def to_json(self) -> dict[str, Json]:
        """The verdict as reports keep it."""
        return {"ok": self.ok, "score": self.score, "violations": [v.to_json() for v in self.violations]}


def verdict_of(violations: Iterable[Violation]) -> Verdict:
    """A verdict over what was found."""
    order = tuple(COST)
    return Verdict(tuple(sorted(violations, key=lambda violation: order.index(violation.severity))))
