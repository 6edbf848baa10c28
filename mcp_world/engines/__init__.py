"""Engines: each predicts the observation of an action. They are found by entry point, group `mcp_world.engines`."""

from __future__ import annotations

from importlib.metadata import entry_points
from inspect import Parameter, signature
from typing import Any
from weakref import WeakKeyDictionary

from mcp_world.core.errors import BadInput
from mcp_world.engines.contract import Engine
from mcp_world.engines.scripted import ScriptedEngine
from mcp_world.spec.model import ServerSpec

_made: WeakKeyDictionary[ServerSpec, dict[tuple[str, str], Engine]] = WeakKeyDictionary()


def engine_for(spec: ServerSpec, name: str = "procedural", **options: Any) -> Engine:
    """The engine of this name for a spec; all worlds of the spec share it.

    Args:
        spec: The server.
        name: An entry point of the group `mcp_world.engines`.
        options: What the engine can be told, such as `locale` to the procedural one; see its class.

    Raises:
        BadInput: There is no such engine, or it cannot do with these options.
    """
    known = _made.setdefault(spec, {})
    key = (name, repr(sorted(options.items())))
    if key not in known:
        found = {point.name: point for point in entry_points(group="mcp_world.engines")}
        if name not in found:
            raise BadInput(
                f"there is no engine {name!r}",
                where="--engine",
                do=f"Use one of: {', '.join(sorted(found))}.",
            )
        make = found[name].load()
        taken = signature(make).parameters.values()
        if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken):
            unknown = sorted(options.keys() - {parameter.name for parameter in taken})
            if unknown:
                raise BadInput(f"the engine {name!r} takes no {' and no '.join(unknown)}", where="--engine")
        engine: Engine = make(spec, **options)
        known[key] = ScriptedEngine(spec.script, engine) if spec.script.tools else engine
    return known[key]
