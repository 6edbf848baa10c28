"""Results that show things of several kinds at once, such as a graph: its entities and its relations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json
from mcp_world.engines.procedural.model import Kind, Plan
from mcp_world.engines.procedural.population import Population
from mcp_world.engines.procedural.projection import Projector
from mcp_world.spec import query
from mcp_world.spec.names import singular, words


def compose(
    plan: Plan, arguments: Mapping[str, Json], population: Population, projector: Projector
) -> dict[str, list[Json]]:
    """The lists of a composite result, by property.

    A query keeps the things that speak of it, a list of ids those of these ids; things of other kinds stay where they
    refer to one that was kept.

    Args:
        plan: A plan with `lists`.
        arguments: The call's arguments.
        population: The things of the world.
        projector: Shows them.
    """
    assert plan.output is not None
    there = {name: population.all(kind, {}) for name, kind in plan.lists.items()}
    ids = _ids(plan, arguments)
    wanted = arguments.get(plan.reading.query) if plan.reading.query else None
    shown: dict[str, list[tuple[Entity, Json]]] = {}
    for name, kind in plan.lists.items():
        node = _items(plan, name)
        shown[name] = [(entity, projector.show(entity, node, plan.output)) for entity in there[name]]
        if kind.natural and ids is not None:
            shown[name] = [pair for pair in shown[name] if str(pair[0].id) in ids]
        elif kind.natural and isinstance(wanted, str) and wanted:
            shown[name] = [pair for pair in shown[name] if query.contains(pair[1], [wanted.casefold()])]
    if ids is not None or (isinstance(wanted, str) and wanted):
        kept = {str(e.id) for name, kind in plan.lists.items() if kind.natural for e, _ in shown[name]}
        for name, kind in plan.lists.items():
            if not kind.natural:
                shown[name] = [pair for pair in shown[name] if _refers(pair[1], kept)]
    return {name: [value for _, value in pairs] for name, pairs in shown.items()}


def absorb(plan: Plan, structured: Mapping[str, Json], population: Population, *, whole: bool) -> None:
    """Take the things that a real composite result showed into the ledger.

    Args:
        plan: A plan with `lists`.
        structured: The result's data.
        population: The things of the world; changed.
        whole: Whether that is all there is of these kinds.
    """
    for name, kind in plan.lists.items():
        items = structured.get(name)
        if isinstance(items, list):
            take(kind, items, population, whole=whole)


def take(kind: Kind, items: list[Json], population: Population, *, whole: bool = False) -> None:
    """Take real things of a kind into the ledger, and note that they are all where they are the whole of it."""
    ledger = population.ledger
    if whole:
        ledger.mark(("stated", kind.name))
    for item in items:
        if not isinstance(item, dict):
            continue
        known = find(kind, item, population)
        if known is None:
            id = item.get(kind.id_field)
            ledger.add(kind.name, len(ledger.of(kind.name)) + 1 if id is None else id, fields=dict(item), origin="fact")
        elif any(known.fields.get(field) != value for field, value in item.items()):
            ledger.set(known, dict(item))


def find(kind: Kind, item: Mapping[str, Json], population: Population) -> Entity | None:
    """The thing that a record is: of its id, or, where it has none, with all its values."""
    id = item.get(kind.id_field)
    if id is not None:
        return next((e for e in population.ledger.find(kind.name, id) if e.deleted is None), None)
    return next(
        (e for e in population.ledger.of(kind.name) if item and all(e.fields.get(k) == v for k, v in item.items())),
        None,
    )


def _items(plan: Plan, name: str) -> Any:
    assert plan.output is not None
    flattener = plan.output.flattener
    properties = flattener.flat(plan.output.schema.checked).get("properties") or {}
    return flattener.flat(properties[name]).get("items", True)


def _ids(plan: Plan, arguments: Mapping[str, Json]) -> set[str] | None:
    """The ids that a call asks for, or None where it does not name any."""
    for name, value in arguments.items():
        last = words(name)[-1:]
        if isinstance(value, list) and last and singular(last[0]) in ("name", "id", "key", "path"):
            return {str(inner) for inner in value}
    return None


def _refers(value: Json, ids: set[str]) -> bool:
    return isinstance(value, dict) and any(isinstance(inner, str) and inner in ids for inner in value.values())
