"""One world as an MCP server, in both protocol eras, with every result exactly as the spec or the world has it.

The SDK's own result models drop unknown fields and fail a whole list for one odd tool, so results are given from a
`Server.middleware` entry, which owns them as they stand.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_world.core.types import Action, Json, Observation
from mcp_world.serve.busy import Busy
from mcp_world.world.journal import JournalError
from mcp_world.world.world import World

log = logging.getLogger(__name__)

RESOURCE_NOT_FOUND = -32002
_SERVER_INFO = types.SERVER_INFO_META_KEY
_Answer = Callable[[ServerRequestContext[Any, Any], dict[str, Any]], Awaitable[dict[str, Json] | None]]


class Impersonation:
    """Answers MCP requests for one world.

    Args:
        world: The world; its spec says what to impersonate.
        busy: Counts the calls that are being answered, for a stop.
    """

    def __init__(self, world: World, busy: Busy | None = None) -> None:
        self.world = world
        self.busy = busy or Busy()
        spec = world.spec
        self._modern_meta: dict[str, Json] = {_SERVER_INFO: spec.info}
        self._answers: dict[str, _Answer] = {
            "initialize": self.initialize,
            "server/discover": self.discover,
            "tools/list": self.list_tools,
            "tools/call": self.call_tool,
        }
        capabilities = spec.capabilities
        if "resources" in capabilities or spec.resources or spec.templates:
            self._answers["resources/list"] = self.list_resources
            self._answers["resources/templates/list"] = self.list_templates
            self._answers["resources/read"] = self.read_resource
        if "prompts" in capabilities or spec.prompts:
            self._answers["prompts/list"] = self.list_prompts
            self._answers["prompts/get"] = self.get_prompt
        if "logging" in capabilities:
            self._answers["logging/setLevel"] = self.nothing
        if "completions" in capabilities:
            self._answers["completion/complete"] = self.complete

    def server(self) -> Server[Any]:
        """The SDK's server that speaks for the world."""
        info = self.world.spec.info
        server: Server[Any] = Server(
            str(info.get("name", "")),
            version=str(info.get("version", "")),
            instructions=self.world.spec.instructions,
            on_list_tools=_unreached,
            on_call_tool=_unreached,
            get_tool_input_schema=self.input_schema,
        )
        server.middleware = [self]
        return server

    def input_schema(self, name: str) -> dict[str, Json] | None:
        """A tool's inputSchema, for the SDK's check of `Mcp-Param-*` headers."""
        tool = self.world.spec.by_name.get(name)
        schema = tool.raw.get("inputSchema") if tool is not None else None
        return schema if isinstance(schema, dict) else None

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """The middleware: answer what the spec speaks of, and leave the rest, and what is malformed, to the SDK."""
        answer = self._answers.get(ctx.method)
        if answer is None or ctx.request_id is None:
            return await call_next(ctx)
        if ctx.method == "initialize":
            negotiated = await call_next(ctx)
            assert isinstance(negotiated, dict)
            return await self.initialize(ctx, negotiated)
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern and ctx.session.client_params is None:
            return await call_next(ctx)  # before the handshake the SDK refuses
        result = await answer(ctx, dict(ctx.params or {}))
        if result is None:
            return await call_next(ctx)
        return self.envelope(ctx.method, result) if modern else result

    def envelope(self, method: str, result: dict[str, Json]) -> dict[str, Json]:
        """A result in the form of 2026-07-28, which older versions must not have."""
        out = {"resultType": "complete", **result}
        if method.endswith("/list") or method in ("server/discover", "resources/read"):
            out["ttlMs"] = 0
            out["cacheScope"] = "private"
        meta = result.get("_meta")
        out["_meta"] = {**meta, **self._modern_meta} if isinstance(meta, dict) else self._modern_meta
        return out

    async def initialize(self, ctx: ServerRequestContext[Any, Any], negotiated: dict[str, Any]) -> dict[str, Json]:
        """The handshake, with the identity and capabilities of the spec."""
        spec = self.world.spec
        result = {
            "protocolVersion": negotiated["protocolVersion"],
            "capabilities": spec.capabilities,
            "serverInfo": spec.info,
        }
        return {**result, "instructions": spec.instructions} if spec.instructions is not None else result

    async def discover(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """What 2026-07-28 has in place of the handshake; change notifications are not offered there."""
        spec = self.world.spec
        capabilities = {
            name: {k: v for k, v in value.items() if k not in ("listChanged", "subscribe")}
            if isinstance(value, dict)
            else value
            for name, value in spec.capabilities.items()
        }
        result: dict[str, Json] = {
            "supportedVersions": list(MODERN_PROTOCOL_VERSIONS),
            "capabilities": capabilities,
        }
        return {**result, "instructions": spec.instructions} if spec.instructions is not None else result

    async def list_tools(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """The tools as read; towards older versions without an outputSchema that they do not allow."""
        return self.tools(ctx.protocol_version)

    def tools(self, protocol: str) -> dict[str, Json]:
        """The list of tools in the form of a protocol version."""
        spec = self.world.spec
        return {"tools": list(spec.listed if protocol in MODERN_PROTOCOL_VERSIONS else spec.listed_before)}

    async def call_tool(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json] | None:
        """One step of the world; None for a malformed call."""
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            return None
        observation = await self.step(name, arguments or {}, ctx.protocol_version)
        if observation.error is not None:
            raise MCPError(code=observation.error.code, message=observation.error.message)
        assert observation.result is not None
        return observation.result

    async def step(self, name: str, arguments: dict[str, Json], protocol: str) -> Observation:
        """Take a step, and give its observation in the form of a protocol version.

        Raises:
            MCPError: The step could not be written; the reason is in the log, not on the wire.
        """
        try:
            with self.busy:
                observation = await self.world.step(Action(name, arguments), protocol=protocol)
        except JournalError as error:
            log.error("journal: %s; the step was not taken", error)
            raise MCPError(code=types.INTERNAL_ERROR, message="Internal error") from None
        result = observation.result
        if (
            result is not None
            and protocol not in MODERN_PROTOCOL_VERSIONS
            and not isinstance(result.get("structuredContent", {}), dict)
        ):
            return Observation({k: v for k, v in result.items() if k != "structuredContent"})
        return observation

    async def list_resources(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """The resources as read."""
        return {"resources": list(self.world.spec.resources)}

    async def list_templates(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """The resource templates as read."""
        return {"resourceTemplates": list(self.world.spec.templates)}

    async def read_resource(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """A listed resource as a text of its name and description."""
        uri = params.get("uri")
        for resource in self.world.spec.resources:
            if resource.get("uri") == uri:
                text = "\n\n".join(str(resource[k]) for k in ("title", "name", "description") if resource.get(k))
                return {
                    "contents": [{"uri": uri, "mimeType": str(resource.get("mimeType", "text/plain")), "text": text}]
                }
        code = types.INVALID_PARAMS if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else RESOURCE_NOT_FOUND
        raise MCPError(code=code, message=f"Resource not found: {uri}", data={"uri": uri})

    async def list_prompts(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """The prompts as read."""
        return {"prompts": list(self.world.spec.prompts)}

    async def get_prompt(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """A listed prompt as one message of its description and arguments."""
        name = params.get("name")
        given = params.get("arguments") or {}
        for prompt in self.world.spec.prompts:
            if prompt.get("name") == name:
                wanted = prompt.get("arguments") or []
                for argument in wanted:
                    if isinstance(argument, dict) and argument.get("required") and argument.get("name") not in given:
                        raise MCPError(
                            code=types.INVALID_PARAMS,
                            message=f"Missing required argument: {argument.get('name')}",
                        )
                lines = [str(prompt.get("description") or name), *(f"{k}: {v}" for k, v in given.items())]
                message = {"role": "user", "content": {"type": "text", "text": "\n".join(lines)}}
                described = {"description": prompt["description"]} if "description" in prompt else {}
                return {**described, "messages": [message]}
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {name}")

    async def nothing(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """An empty result."""
        return {}

    async def complete(self, ctx: ServerRequestContext[Any, Any], params: dict[str, Any]) -> dict[str, Json]:
        """No completions."""
        return {"completion": {"values": [], "total": 0, "hasMore": False}}


async def _unreached(ctx: Any, params: Any) -> Any:
    """Registered so that the SDK knows the method; the middleware answers before."""
    raise MCPError(code=types.INVALID_PARAMS, message="Invalid request parameters")
