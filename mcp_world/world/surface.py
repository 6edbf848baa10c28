"""What a server has beside its tools: resources, prompts, and completions of their arguments."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from mcp_world.core.encoding import pretty
from mcp_world.core.types import Json, Observation, RpcError
from mcp_world.spec.cassette import Call
from mcp_world.spec.model import ServerSpec
from mcp_world.spec.script import Scene, play, variables_of

INVALID_PARAMS = -32602
_MOST = 100
"""Completions that one answer may hold (MCP 2025-06-18, completion)."""


class Surface:
    """The resources, prompts and completions of a server: as scripted, else made from what the spec says of them.

    Args:
        spec: The server.
    """

    def __init__(self, spec: ServerSpec) -> None:
        self.spec = spec

    def read(self, uri: str, answers: Mapping[str, Json], capabilities: Mapping[str, Json]) -> Observation | None:
        """The contents of a resource, or None where there is none of this URI."""
        scripted = self.spec.script.resource(uri)
        if scripted is not None:
            steps, variables = scripted
            values = {"uri": uri, "variables": variables, "answers": answers}
            return play(steps, Scene(values, answers, capabilities))
        recorded = self._recorded("resources/read", {"uri": uri}, answers, capabilities)
        if recorded is not None:
            return recorded
        for entry in self.spec.resources:
            if entry.get("uri") == uri:
                return Observation({"contents": [_contents(uri, entry, {})]})
        for entry in self.spec.templates:
            found = variables_of(str(entry.get("uriTemplate")), uri)
            if found is not None:
                return Observation({"contents": [_contents(uri, entry, found)]})
        return None

    def prompt(
        self,
        name: str,
        arguments: Mapping[str, Json],
        answers: Mapping[str, Json],
        capabilities: Mapping[str, Json],
    ) -> Observation | None:
        """The messages of a prompt, or None where there is none of this name."""
        asked = {"name": name, "arguments": dict(arguments)} if arguments else {"name": name}
        recorded = self._recorded("prompts/get", asked, answers, capabilities)
        if recorded is not None:
            return recorded
        entry = next((prompt for prompt in self.spec.prompts if prompt.get("name") == name), None)
        steps = self.spec.script.prompts.get(name)
        if entry is None and steps is None:
            return None
        for argument in (entry or {}).get("arguments") or []:
            if isinstance(argument, dict) and argument.get("required") and argument.get("name") not in arguments:
                missing = f"Missing required argument: {argument.get('name')}"
                return Observation(error=RpcError(INVALID_PARAMS, missing))
        if steps is not None:
            return play(steps, Scene({"arguments": arguments, "answers": answers}, answers, capabilities))
        assert entry is not None
        lines = [str(entry.get("description") or name), *(f"{k}: {v}" for k, v in arguments.items())]
        described = {"description": entry["description"]} if "description" in entry else {}
        message = {"role": "user", "content": {"type": "text", "text": "\n".join(lines)}}
        return Observation({**described, "messages": [message]})

    def complete(self, params: Mapping[str, Json]) -> Observation:
        """The values that an argument may be completed with.

        Args:
            params: Of the request: `ref` (a prompt's name, or a resource's URI template), `argument` and its beginning.
        """
        recorded = self._recorded("completion/complete", params, {}, {})
        if recorded is not None:
            return recorded
        reference, argument = params["ref"], params["argument"]
        of = str(reference.get("name", reference.get("uri", "")))
        begun = str(argument.get("value", "")).casefold()
        known = self.spec.script.completions.get(of, {}).get(str(argument.get("name")), ())
        fit = [value for value in known if value.casefold().startswith(begun)]
        return Observation({"completion": {"values": fit[:_MOST], "total": len(fit), "hasMore": len(fit) > _MOST}})

    def _recorded(
        self, method: str, params: Mapping[str, Json], answers: Mapping[str, Json], capabilities: Mapping[str, Json]
    ) -> Observation | None:
        """What a real server answered to the same request."""
        call = self.spec.recorded.get(Call(method, dict(params)).key)
        return None if call is None else play(call.steps(), Scene(None, answers, capabilities))


def _contents(uri: str, entry: Mapping[str, Json], variables: Mapping[str, Json]) -> dict[str, Json]:
    """Contents of a resource's own kind that say what the list says of it."""
    kind = str(entry.get("mimeType") or "text/plain")
    said = {key: entry[key] for key in ("title", "name", "description") if entry.get(key)}
    if kind == "application/json":
        text = pretty({"uri": uri, **said, **variables})
    else:
        text = "\n\n".join([*map(str, said.values()), *(f"{name}: {value}" for name, value in variables.items())])
    meta = {"_meta": entry["_meta"]} if isinstance(entry.get("_meta"), dict) else {}
    if kind.startswith(("text/", "application/json")) or kind.endswith(("+json", "+xml")):
        return {"uri": uri, "mimeType": kind, "text": text, **meta}
    return {"uri": uri, "mimeType": kind, "blob": base64.b64encode(text.encode()).decode(), **meta}
