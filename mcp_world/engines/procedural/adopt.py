"""What an observation made elsewhere shows of a world's things goes into the ledger as it was shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_world.core.clock import iso
from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json
from mcp_world.engines.procedural.model import Plan
from mcp_world.engines.procedural.population import Population

_LONE = 3
"""How many members a wrapper around one list or one thing may have."""


def adopt(plan: Plan, arguments: Mapping[str, Json], data: Json, population: Population) -> None:
    """Take the thing that a call made, changed or read, or the things that it listed, as the answer shows them.

    Args:
        plan: The tool's plan; what the call did has been done to the ledger.
        arguments: The call's arguments.
        data: The answer's data.
        population: The things of the world; changed.
    """
    reading, kind, ledger = plan.reading, plan.kind, population.ledger
    if data is None or plan.lists or reading.items_arg or reading.verb in ("delete", "call", "count"):
        return
    scope = reading.scope_of(arguments)
    if reading.verb in ("list", "search"):
        for record in _records(plan, data):
            id = record.get(kind.id_field)
            if isinstance(id, str | int) and not isinstance(id, bool):
                known = population.locate(kind, id, scope) if ledger.find(kind.name, id) else None
                _set(population, known or population.find(kind, id, scope), record)
        return
    shown = _record(plan, data)
    entity = subject(plan, arguments, population)
    if shown is None or entity is None:
        return
    id = shown.get(kind.id_field)
    if reading.verb == "create" and isinstance(id, str | int) and str(id) != str(entity.id):
        fields, within, born = dict(entity.fields), dict(entity.scope), iso(population.now)
        ledger.rollback()  # of this step: the thing goes in again, under the id that it was given
        entity = ledger.add(kind.name, id, scope=within, fields={**fields, kind.id_field: id}, born=born)
    _set(population, entity, shown)


def subject(plan: Plan, arguments: Mapping[str, Json], population: Population) -> Entity | None:
    """The thing that a call has just made, changed or read; None where there is none, or several."""
    reading, kind, ledger = plan.reading, plan.kind, population.ledger
    if reading.verb in ("list", "search", "count", "call", "delete") or reading.items_arg or reading.id_list:
        return None
    if reading.verb == "create":
        made = [e for e in ledger.of(kind.name) if e.origin == "made" and e.changed == ledger.step]
        return made[-1] if made else None
    scope = reading.scope_of(arguments)
    if not reading.id_arg:
        known = population.known(kind, scope)
        return known[0] if known else None
    id = arguments.get(reading.id_arg)
    return population.locate(kind, id, scope) if isinstance(id, str | int) else None


def _set(population: Population, entity: Entity, record: Mapping[str, Json]) -> None:
    population.ledger.show(entity)
    if any(entity.fields.get(name) != value for name, value in record.items()):
        population.ledger.set(entity, dict(record))


def _record(plan: Plan, data: Json) -> dict[str, Json] | None:
    """The one record in an answer: where the outputSchema puts it, else the answer, or the one object in it."""
    if plan.layout.shape == "entity":
        for name in plan.layout.path:
            data = data.get(name) if isinstance(data, dict) else None
    elif plan.tool.output is not None:
        return None
    elif isinstance(data, dict) and plan.kind.id_field not in data and len(data) <= _LONE:
        inner = [value for value in data.values() if isinstance(value, dict)]
        data = inner[0] if len(inner) == 1 else data
    return data if isinstance(data, dict) else None


def _records(plan: Plan, data: Json) -> Iterator[dict[str, Json]]:
    """The records in an answer that lists some."""
    if plan.layout.shape == "items":
        for name in plan.layout.path:
            data = data.get(name) if isinstance(data, dict) else None
    elif isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list)]
        data = lists[0] if len(lists) == 1 else None
    if isinstance(data, list):
        yield from (item for item in data if isinstance(item, dict))
