"""Answers from cassettes; what they do not hold is refused, or goes to another engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.ledger import Ledger
from mcp_world.core.types import Action, Json, Observation, Prediction, RpcError
from mcp_world.engines import engine_for
from mcp_world.engines.contract import Engine, Facts, Report, Request
from mcp_world.spec.cassette import Call
from mcp_world.spec.model import ServerSpec
from mcp_world.spec.script import Scene, play

_MATCHES = ("exact", "order", "nearest")


class ReplayEngine(Engine):
    """The recorded answers of a spec's cassettes.

    Args:
        spec: The server, with its examples.
        match: `exact`: the same tool and arguments; of several, the first time the first, and so on. `order`: the
            calls of the cassette, in its order. `nearest`: the arguments that agree most.
        ignore: Arguments that are not compared, by name or dotted path.
        once: Each recorded answer is given once; without, the last one for ever.
        rest: The name of the engine that predicts what is not recorded, or `refuse`.
        options: For that engine.

    Raises:
        BadInput: There is no such match, or nothing was recorded.
    """

    name = "replay"

    def __init__(
        self,
        spec: ServerSpec,
        *,
        match: str = "exact",
        ignore: Sequence[str] = (),
        once: bool = False,
        rest: str = "refuse",
        **options: Any,
    ) -> None:
        if match not in _MATCHES:
            raise BadInput(f"there is no match {match!r}", where="--match", do=f"Use one of: {', '.join(_MATCHES)}.")
        self.calls = [call for call in spec.examples if call.method == "tools/call"]
        if not self.calls:
            raise BadInput(
                "nothing was recorded of its tools", where=spec.name, do="Add a cassette with --cassette FILE."
            )
        self.rest: Engine | None = None if rest == "refuse" else engine_for(spec, rest, **options)
        self._match = match
        self._ignore = tuple(tuple(path.split(".")) for path in ignore)
        self._once = once
        self._by_key: dict[bytes, list[Call]] = {}
        for call in self.calls:
            self._by_key.setdefault(self._key(call.tool, call.arguments), []).append(call)

    async def open(self, report: Report) -> None:
        """Open the other engine."""
        if self.rest is not None:
            await self.rest.open(report)

    async def close(self) -> None:
        """Close the other engine."""
        if self.rest is not None:
            await self.rest.close()

    def state(self, ledger: Ledger, facts: Facts) -> None:
        """Leave stated records to the other engine; recorded answers know nothing of them."""
        if self.rest is not None:
            self.rest.state(ledger, facts)

    def talks(self, tool: str) -> bool:
        """Whether calls of a tool said or asked something when they were recorded."""
        return any(call.events for call in self.calls if call.tool == tool) or (
            self.rest is not None and self.rest.talks(tool)
        )

    def holds(self, action: Action) -> bool:
        """Whether this very call was recorded."""
        return self._key(action.tool, action.arguments) in self._by_key

    async def witness(self, request: Request, observation: Observation) -> None:
        """Leave it to the other engine."""
        if self.rest is not None:
            await self.rest.witness(request, observation)

    async def predict(self, request: Request) -> Prediction:
        """The recorded answer, or what is said where there is none."""
        action = request.action
        call = self._find(request)
        if call is not None:
            scene = Scene(None, action.answers, action.capabilities)
            return Prediction(play(call.steps(), scene), self.name, verbatim=True, unseen=True)
        if self.rest is not None:
            return await self.rest.predict(request)
        return Prediction(Observation(error=RpcError(-32603, self._refusal(request))), self.name, verbatim=True)

    def _find(self, request: Request) -> Call | None:
        action = request.action
        key = self._key(action.tool, action.arguments)
        before = [past for past in request.history if not past.questions]
        if self._match == "order":
            at = len(before)
            fits = at < len(self.calls) and self._key(self.calls[at].tool, self.calls[at].arguments) == key
            return self.calls[at] if fits else None
        found = self._by_key.get(key, [])
        if not found and self._match == "nearest":
            nearest = self._nearest(action)
            found = [] if nearest is None else [nearest]
        if not found:
            return None
        used = sum(self._key(past.tool, past.arguments) == key for past in before)
        if used < len(found):
            return found[used]
        return None if self._once else found[-1]

    def _nearest(self, action: Action) -> Call | None:
        """The recorded call of the same tool whose arguments agree most; of equals, the first."""
        mine = _leaves(action.arguments)
        best: tuple[float, Call] | None = None
        for call in self.calls:
            if call.tool == action.tool:
                theirs = _leaves(call.arguments)
                alike = len(mine & theirs) / max(1, len(mine | theirs))
                if best is None or alike > best[0]:
                    best = (alike, call)
        return None if best is None else best[1]

    def _refusal(self, request: Request) -> str:
        action = request.action
        asked = f"{action.tool} {encode(dict(action.arguments)).decode()}"
        if self._match == "order":
            at = sum(not past.questions for past in request.history)
            if at >= len(self.calls):
                return f"Nothing is recorded after call {at}; asked was {asked}"
            due = self.calls[at]
            return f"Recorded as call {at + 1} is {due.tool} {encode(due.arguments).decode()}; asked was {asked}"
        nearest = self._nearest(action)
        if nearest is None:
            known = ", ".join(sorted({call.tool for call in self.calls}))
            return f"No call of {action.tool} is recorded, only of: {known}; asked was {asked}"
        if self._once and self.holds(action):
            return f"Every recorded answer was given already; asked was {asked}"
        return f"Not recorded: {asked}; the nearest is {nearest.tool} {encode(nearest.arguments).decode()}"

    def _key(self, tool: str, arguments: Mapping[str, Json]) -> bytes:
        kept: Json = dict(arguments)
        for path in self._ignore:
            kept = _without(kept, path)
        return Call("tools/call", {"name": tool, "arguments": kept}).key


def _without(value: Json, path: tuple[str, ...]) -> Json:
    if not isinstance(value, dict) or path[0] not in value:
        return value
    if len(path) == 1:
        return {key: inner for key, inner in value.items() if key != path[0]}
    return {key: _without(inner, path[1:]) if key == path[0] else inner for key, inner in value.items()}


def _leaves(value: Json, path: str = "") -> set[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        return {leaf for key, inner in value.items() for leaf in _leaves(inner, f"{path}/{key}")}
    if isinstance(value, list) and value:
        return {leaf for index, inner in enumerate(value) for leaf in _leaves(inner, f"{path}/{index}")}
    return {(path, encode(value).decode())}
