"""One call: what it is about, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field

from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json
from mcp_world.engines.procedural.model import Kind, Plan
from mcp_world.engines.procedural.population import Population
from mcp_world.engines.procedural.projection import Projector
from mcp_world.engines.procedural.voice import not_found


@dataclass(slots=True)
class Outcome:
    """What a call came to: one thing, or some of many."""

    entity: Entity | None = None
    items: list[Entity] = field(default_factory=list)
    many: bool = False
    total: int = 0
    offset: int = 0
    limit: int | None = None
    page: int = 1
    next_offset: int | None = None
    records: list[Json] | None = None
    """Items that are no things of their own."""


class Call:
    """One call being performed.

    Args:
        plan: The tool's plan.
        arguments: The call's arguments, with the schema's defaults filled in.
        population: The things of the world; changed.
        projector: Gives fields that were not looked at yet.
    """

    def __init__(self, plan: Plan, arguments: dict[str, Json], population: Population, projector: Projector) -> None:
        self.plan = plan
        self.reading = plan.reading
        self.kind: Kind = plan.kind
        self.arguments = arguments
        self.population = population
        self.projector = projector

    def scope(self) -> dict[str, Json]:
        """What the things belong to; each part that names a thing must be there."""
        scope = {name: self.arguments[name] for name in self.reading.scope if name in self.arguments}
        done: dict[str, Json] = {}
        for name, value in scope.items():
            parent = self.plan.parents.get(name)
            if parent is not None and parent in self.population.model.kinds:
                kind = self.population.model.kinds[parent]
                if (
                    (kind.listed or kind.fields)
                    and isinstance(value, str | int)
                    and self.population.locate(kind, value, done) is None
                ):
                    raise not_found(kind.name, value)
            done[name] = value
        return scope
