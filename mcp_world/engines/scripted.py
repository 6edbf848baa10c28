"""Plays what a spec scripts, and leaves the rest to another engine."""

from __future__ import annotations

from mcp_world.core.ledger import Ledger
from mcp_world.core.types import Action, Observation, Prediction
from mcp_world.engines.contract import Engine, Facts, Report, Request
from mcp_world.spec.script import Scene, Script, play


class ScriptedEngine(Engine):
    """The scripted tools of a spec.

    Args:
        script: The script.
        rest: Predicts for the tools that are not scripted.
    """

    def __init__(self, script: Script, rest: Engine) -> None:
        self.script = script
        self.rest = rest
        self.name = rest.name
        self.attempts = rest.attempts

    async def open(self, report: Report) -> None:
        """Open the other engine."""
        await self.rest.open(report)

    async def close(self) -> None:
        """Close the other engine."""
        await self.rest.close()

    def state(self, ledger: Ledger, facts: Facts) -> None:
        """Leave the stated records to the other engine; see `Engine.state`."""
        self.rest.state(ledger, facts)

    def talks(self, tool: str) -> bool:
        """Whether calls of a tool may say or ask something before they are answered."""
        return tool in self.script.tools or self.rest.talks(tool)

    def holds(self, action: Action) -> bool:
        """Whether the other engine has a recorded answer to a call that is not scripted."""
        return action.tool not in self.script.tools and self.rest.holds(action)

    async def witness(self, request: Request, observation: Observation) -> None:
        """Leave it to the other engine."""
        await self.rest.witness(request, observation)

    async def predict(self, request: Request) -> Prediction:
        """Play the steps of a scripted tool."""
        steps = self.script.tools.get(request.tool.name)
        if steps is None:
            return await self.rest.predict(request)
        action = request.action
        values = {"arguments": action.arguments, "answers": action.answers}
        return Prediction(play(steps, Scene(values, action.answers, action.capabilities)), "script", verbatim=True)
