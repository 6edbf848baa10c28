"""Calls that put texts into a list of a thing, or take them out: observations of an entity, labels of an issue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mcp_world.core.ledger import Entity
from mcp_world.core.types import Json
from mcp_world.engines.procedural.model import Kind, Plan
from mcp_world.engines.procedural.population import Population
from mcp_world.engines.procedural.voice import not_found
from mcp_world.spec.flatten import types_of
from mcp_world.spec.names import singular, words

_OUT = ("delete", "remove", "drop", "clear")


@dataclass(frozen=True)
class Membership:
    """How a tool changes lists of things.

    Args:
        items: The argument that holds the changes.
        owner: The member of each change that names the thing.
        kind: The thing's kind.
        field: Its list.
        texts: The member of each change that holds the texts.
        out: Whether they are taken out.
    """

    items: str
    owner: str
    kind: Kind
    field: str
    texts: str
    out: bool


def membership(plan: Plan, kinds: Mapping[str, Kind], nouns: frozenset[str]) -> Membership | None:
    """How a tool changes lists of things, or None for other tools.

    It takes changes that each name a thing (`entityName`) and hold texts, and the tool's name ends in a list that such
    things have (`add_observations`).

    Args:
        plan: The tool's plan.
        kinds: All kinds.
        nouns: Kinds that other tools make.
    """
    parts = words(plan.tool.own_name)
    for items, node in plan.reading.properties.items():
        record = node.get("items") if isinstance(node, dict) else None
        members = record.get("properties") if isinstance(record, dict) else None
        if not isinstance(members, dict):
            continue
        for owner in members:
            stem = words(owner)
            kind = kinds.get("_".join(stem[:-1])) if len(stem) > 1 else None
            if kind is None or kind.name not in nouns:
                continue
            field = next((f for f in kind.fields if parts[-1:] and words(f) == parts[-1:]), None)
            texts = next((m for m, inner in members.items() if m != owner and "array" in types_of(inner)), None)
            if field is not None and texts is not None and singular(field) != kind.noun:
                return Membership(items, owner, kind, field, texts, parts[0] in _OUT)
    return None


def change(how: Membership, arguments: Mapping[str, Json], population: Population) -> list[tuple[Entity, list[Json]]]:
    """Do it; gives each thing and the texts that were really put in or taken out.

    Raises:
        Refusal: A thing is not there.
    """
    done: list[tuple[Entity, list[Json]]] = []
    for item in arguments.get(how.items) or []:
        entity = population.locate(how.kind, item.get(how.owner), {})
        if entity is None:
            if how.out:
                continue
            raise not_found(how.kind.name, item.get(how.owner))
        have = entity.fields.get(how.field)
        held: list[Json] = list(have) if isinstance(have, list) else []
        given = [text for text in item.get(how.texts) or [] if (text in held) == how.out]
        kept = [text for text in held if text not in given] if how.out else [*held, *given]
        population.ledger.set(entity, {how.field: kept})
        done.append((entity, given))
    return done
