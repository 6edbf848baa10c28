"""Verifiers of one episode: each step is judged by the schema, by consistency with the steps before, and by rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Action, Observation, Violation
from mcp_world.spec.model import ServerSpec
from mcp_world.verify import consistency
from mcp_world.verify.account import Account
from mcp_world.verify.kinds import kinds_of
from mcp_world.verify.pack import load_pack, shipped_packs
from mcp_world.verify.schema import conforms
from mcp_world.verify.seen import Seen, see
from mcp_world.verify.verdict import Verdict, verdict_of

Verifier = Callable[[Seen, Account], Iterable[Violation]]
"""What judges a step: from the step and the account of the steps before it to what is wrong with it.

It changes nothing, and keeps nothing between steps; what it needs of earlier ones is in the account.
"""

GROUP = "mcp_world.verifiers"
"""The entry points of verifiers that are written in Python."""


def verifiers_for(names: Iterable[str], spec: ServerSpec) -> list[Verifier]:
    """Consistency, and verifiers by name: rule packs by name or path, Python ones by entry point.

    Args:
        names: Of packs, files or entry points; `all` for every pack that can be named and every entry point.
        spec: The server that is judged; rules about other servers are left out.

    Raises:
        BadInput: There is none of a name, or it cannot be used.
    """
    registered = {point.name: point for point in entry_points(group=GROUP)}
    wanted = list(dict.fromkeys(names))
    if "all" in wanted:
        wanted = [*registered, *(name for name, _ in shipped_packs())]
    out: list[Verifier] = list(consistency.RULES)
    for name in wanted:
        if name not in registered:
            out.append(load_pack(name).within(spec.name, str(spec.info.get("name", ""))))
            continue
        try:
            out.append(registered[name].load())
        except Exception as error:
            raise BadInput(f"the verifier {name!r} cannot be loaded: {error}", where="--verifiers") from None
    return out


class Episode:
    """What verifiers know of one episode of a world, or of a recorded session.

    Args:
        spec: The server.
        verifiers: What judges beside the schema.
    """

    __slots__ = ("_kinds", "_spec", "account", "verifiers")

    def __init__(self, spec: ServerSpec, verifiers: Sequence[Verifier] = consistency.RULES) -> None:
        self._spec = spec
        self._kinds = kinds_of(spec)
        self.account = Account()
        self.verifiers = verifiers

    def look(self, action: Action, observation: Observation, step: int) -> Seen | None:
        """A step as verifiers look at it; None where there is nothing to look at: no such tool, or a question.

        Args:
            action: The call.
            observation: What was, or would be, observed; it conforms to the tool's schema.
            step: The step's number, from 1.
        """
        tool = self._spec.by_name.get(action.tool)
        return None if tool is None or observation.questions else see(self._kinds, tool, action, observation, step)

    def judge(self, seen: Seen) -> list[Violation]:
        """What is wrong with a step; the episode does not take it in."""
        return [violation for verifier in self.verifiers for violation in verifier(seen, self.account)]

    def take(self, seen: Seen) -> None:
        """Take a step in, by which later ones are judged."""
        self.account.add(seen)

    def record(self, action: Action, observation: Observation, step: int) -> Verdict:
        """Judge a step that has been taken, by the schema too, and take it in."""
        tool = self._spec.by_name.get(action.tool)
        if tool is not None and (wrong := conforms(tool, observation)):
            return verdict_of(wrong)  # what has the wrong form cannot be read further
        seen = self.look(action, observation, step)
        if seen is None:
            return Verdict()
        violations = self.judge(seen)
        self.take(seen)
        return verdict_of(violations)
