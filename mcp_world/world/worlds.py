"""Many worlds in one process, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from mcp_world.core.errors import BadInput
from mcp_world.engines import engine_for
from mcp_world.engines.contract import Facts
from mcp_world.spec.model import ServerSpec
from mcp_world.world.journal import Journal
from mcp_world.world.world import World

_ID = re.compile(r"^[A-Za-z0-9._-]{1,64}$")
DEFAULT = "default"


class Worlds:
    """Makes, finds and closes worlds of one or several specs.

    Args:
        specs: What worlds may impersonate; the first is the default world's.
        engine: The name of the engine.
        seed: The default world's seed; others take the next ones, unless they are given one.
        facts: Records that every world starts with, unless it is given its own.
        start: The time at which every world starts, unless it is given its own.
        options: What the engine is told; see its class.
        journal: Where steps go.
        pace: What scripted and recorded pauses are multiplied with; 0 for none.
    """

    def __init__(
        self,
        specs: list[ServerSpec],
        *,
        engine: str = "procedural",
        seed: int = 0,
        facts: Facts | None = None,
        start: datetime | None = None,
        options: Mapping[str, Any] | None = None,
        journal: Journal | None = None,
        pace: float = 1.0,
    ) -> None:
        self.specs = {spec.name: spec for spec in specs}
        self._first = specs[0]
        self._engine = engine
        self._seed = seed
        self._facts = facts
        self._start = start
        self._options = dict(options or {})
        self._journal = journal
        self._pace = pace
        self._worlds: dict[str, World] = {}
        self._made = 0
        self.create(DEFAULT)

    def create(
        self,
        id: str | None = None,
        *,
        spec: str | None = None,
        seed: int | None = None,
        facts: Facts | None = None,
        start: datetime | None = None,
    ) -> World:
        """Make a world.

        Raises:
            BadInput: The name is taken or not one, there is no such spec, or a fact contradicts it.
        """
        if id is None:
            id = f"w{self._made}"
            while id in self._worlds:
                self._made += 1
                id = f"w{self._made}"
        if not _ID.match(id):
            raise BadInput(
                f"{id!r} is no name for a world",
                where="id",
                do="Use letters, digits, '.', '_' and '-', 64 at most.",
            )
        if id in self._worlds:
            raise BadInput(f"there is a world {id!r} already", where="id", do="Take another name, or close it first.")
        if spec is not None and spec not in self.specs:
            raise BadInput(f"there is no spec {spec!r} here", where="spec", do=f"Use one of: {', '.join(self.specs)}.")
        chosen = self.specs[spec] if spec is not None else self._first
        world = World(
            chosen,
            engine=engine_for(chosen, self._engine, **self._options),
            seed=self._seed + self._made if seed is None else seed,
            facts=self._facts if facts is None else facts,
            start=self._start if start is None else start,
            journal=self._journal,
            pace=self._pace,
            id=id,
        )
        self._made += 1
        self._worlds[id] = world
        return world

    def get(self, id: str) -> World | None:
        """The world of this name, or None."""
        return self._worlds.get(id)

    def close(self, id: str) -> bool:
        """Forget a world; False where there is none."""
        return self._worlds.pop(id, None) is not None

    def __iter__(self) -> Iterator[World]:
        return iter(list(self._worlds.values()))

    def __len__(self) -> int:
        return len(self._worlds)
