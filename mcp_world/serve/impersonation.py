"""One world as an MCP server, in both protocol eras, with every result exactly as the spec or the world has it.

The SDK's own result models drop unknown fields and fail a whole list for one odd tool, so results are given from a
`Server.middleware` entry, which owns them as they stand.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, get_args

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from mcp.server import Server
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_world.core.types import Action, Json, Observation
from mcp_world.serve.busy import Busy
from mcp_world.serve.changes import Changes
from mcp_world.serve.conversation import Act, Conversation
from mcp_world.serve.sealed import Seal, Tampered
from mcp_world.serve.tasks import Tasks
from mcp_world.spec.model import ServerSpec
from mcp_world.spec.script import TASKS, Scene, play
from mcp_world.world.journal import JournalError
from mcp_world.world.surface import Surface
from mcp_world.world.world import World

log = logging.getLogger(__name__)

RESOURCE_NOT_FOUND = -32002
_SERVER_INFO = types.SERVER_INFO_META_KEY
_GREETING = 10.0
_CACHEABLE = ("server/discover", "resources/read")
_Context = ServerRequestContext[Any, Any]
_Params = dict[str, Any]


class Impersonation:
    """Answers MCP requests for one world.

    Args:
        world: The world; its spec says what to impersonate.
        busy: Counts the calls that are being answered, for a stop.
        group: Where tasks run; without one, a call that could be a task is answered when it is done.
    """

    def __init__(self, world: World, busy: Busy | None = None, group: TaskGroup | None = None) -> None:
        self.world = world
        self.busy = busy or Busy()
        self.group = group
        self.surface = Surface(world.spec)
        self.changes = Changes()
        self.tasks = None if group is None or TASKS not in _extensions(world.spec) else Tasks(world, group)
        self._seal = Seal(world.seed)
        self._levels: dict[str, str] = {}

    def close(self) -> None:
        """End tasks and streams that have no end of their own."""
        self.changes.close()
        if self.tasks is not None:
            self.tasks.close()

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

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """The middleware: answer what the spec speaks of, and leave the rest, and what is malformed, to the SDK."""
        if ctx.method == "notifications/initialized" and self.group is not None and self.world.spec.script.greeting:
            await call_next(ctx)
            self.group.start_soon(self._greet, ctx)
            return None
        name = _methods(self.world.spec).get(ctx.method)
        if name is None or ctx.request_id is None:
            return await call_next(ctx)
        if ctx.method == "initialize":
            negotiated = await call_next(ctx)
            assert isinstance(negotiated, dict)
            return await self.initialize(ctx, negotiated)
        modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern and ctx.session.client_params is None:
            return await call_next(ctx)  # before the handshake the SDK refuses
        if ctx.method in (_OLD if modern else _NEW):
            return await call_next(ctx)
        answer: Callable[[_Context, _Params], Awaitable[dict[str, Json] | None]] = getattr(self, name)
        result = await answer(ctx, dict(ctx.params or {}))
        if result is None:
            return await call_next(ctx)
        return self.envelope(ctx.method, result) if modern else result

    def envelope(self, method: str, result: dict[str, Json]) -> dict[str, Json]:
        """A result in the form of 2026-07-28, which older versions must not have."""
        spec = self.world.spec
        out = {"resultType": "complete", **result}
        if (method.endswith("/list") or method in _CACHEABLE) and out["resultType"] == "complete":
            out.setdefault("ttlMs", spec.script.cache.get("ttlMs", 0))
            out.setdefault("cacheScope", spec.script.cache.get("cacheScope", "private"))
        meta = result.get("_meta")
        info: dict[str, Json] = {_SERVER_INFO: spec.info}
        out["_meta"] = {**meta, **info} if isinstance(meta, dict) else info
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

    async def discover(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """What 2026-07-28 has in place of the handshake."""
        spec = self.world.spec
        result: dict[str, Json] = {
            "supportedVersions": list(MODERN_PROTOCOL_VERSIONS),
            "capabilities": spec.capabilities,
        }
        return {**result, "instructions": spec.instructions} if spec.instructions is not None else result

    # tools

    async def list_tools(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The tools as read; towards older versions without an outputSchema that they do not allow."""
        return self.tools(ctx.protocol_version, params.get("cursor"))

    def tools(self, protocol: str, cursor: Json = None) -> dict[str, Json]:
        """The list of tools in the form of a protocol version."""
        spec = self.world.spec
        return self._page("tools", spec.listed if protocol in MODERN_PROTOCOL_VERSIONS else spec.listed_before, cursor)

    async def call_tool(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """A call, with all that is said and asked on the way; None for a malformed one."""
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or not isinstance(arguments, dict | None):
            return None
        if not self.world.engine.talks(name):
            return _result(await self.step(Action(name, arguments or {}), ctx.protocol_version))
        talk = self._talk(ctx)

        async def act(answers: Mapping[str, Json]) -> Observation:
            return await self.step(
                Action(name, arguments or {}, dict(answers), talk.capabilities), ctx.protocol_version
            )

        return await self._converse(talk, {"name": name, "arguments": arguments}, params, act)

    async def step(self, action: Action, protocol: str) -> Observation:
        """Take a step, and give its observation in the form of a protocol version.

        Raises:
            MCPError: The step could not be written; the reason is in the log, not on the wire.
        """
        try:
            with self.busy:
                observation = await self.world.step(action, protocol=protocol)
        except JournalError as error:
            log.error("journal: %s; the step was not taken", error)
            raise MCPError(code=types.INTERNAL_ERROR, message="Internal error") from None
        result = observation.result
        if (
            result is not None
            and protocol not in MODERN_PROTOCOL_VERSIONS
            and not isinstance(result.get("structuredContent", {}), dict)
        ):
            kept = {k: v for k, v in result.items() if k != "structuredContent"}
            return Observation(kept, events=observation.events)
        return observation

    # resources, prompts, completions

    async def list_resources(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The resources as read."""
        return self._page("resources", self.world.spec.resources, params.get("cursor"))

    async def list_templates(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The resource templates as read."""
        return self._page("resourceTemplates", self.world.spec.templates, params.get("cursor"))

    async def read_resource(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The contents of a resource."""
        uri, talk = str(params.get("uri")), self._talk(ctx)

        async def act(answers: Mapping[str, Json]) -> Observation:
            found = self.surface.read(uri, answers, talk.capabilities)
            if found is None:
                code = types.INVALID_PARAMS if talk.modern else RESOURCE_NOT_FOUND
                raise MCPError(code=code, message=f"Resource not found: {uri}", data={"uri": uri})
            return found

        return await self._converse(talk, {"uri": uri}, params, act)

    async def subscribe(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """Tell this client of changes of a resource from now on."""
        self.changes.subscribe(_client(ctx), ctx.session, str(params.get("uri")))
        return {}

    async def unsubscribe(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """Tell it no more."""
        self.changes.unsubscribe(_client(ctx), str(params.get("uri")))
        return {}

    async def listen(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """A stream of changes."""
        return await self.changes.listen(ctx)

    async def list_prompts(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The prompts as read."""
        return self._page("prompts", self.world.spec.prompts, params.get("cursor"))

    async def get_prompt(self, ctx: _Context, params: _Params) -> dict[str, Json]:
        """The messages of a prompt."""
        name, given, talk = str(params.get("name")), params.get("arguments") or {}, self._talk(ctx)

        async def act(answers: Mapping[str, Json]) -> Observation:
            found = self.surface.prompt(name, given, answers, talk.capabilities)
            if found is None:
                raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {name}")
            return found

        return await self._converse(talk, {"name": name, "arguments": given}, params, act)

    async def complete(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """Completions of an argument; None for a malformed request."""
        if not isinstance(params.get("ref"), dict) or not isinstance(params.get("argument"), dict):
            return None
        return _result(self.surface.complete({key: params[key] for key in params if key != "_meta"}))

    # tasks and log levels

    async def get_task(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """The state of a task."""
        return None if self.tasks is None else await self.tasks.get(ctx, params)

    async def update_task(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """Answers to what a task asked."""
        return None if self.tasks is None else await self.tasks.update(ctx, params)

    async def cancel_task(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """End a task."""
        return None if self.tasks is None else await self.tasks.cancel(ctx, params)

    async def set_level(self, ctx: _Context, params: _Params) -> dict[str, Json] | None:
        """Send this client no log messages below a level."""
        level = params.get("level")
        if level not in get_args(types.LoggingLevel):
            return None
        self._levels[_client(ctx)] = str(level)
        return {}

    # what they share

    async def _greet(self, ctx: _Context) -> None:
        """What the server does by itself once a session has begun; a client that does not answer misses it."""
        talk = self._talk(ctx)
        scene = Scene(None, {}, talk.capabilities)
        answers: dict[str, Json] = {}

        async def act(given: Mapping[str, Json]) -> Observation:
            return play([*self.world.spec.script.greeting, {"reply": {}}], replace(scene, answers=given))

        with anyio.move_on_after(_GREETING):
            try:
                await talk.run(act, answers)
            except MCPError as error:
                log.debug("greeting: %s", error)

    def _talk(self, ctx: _Context) -> Conversation:
        return Conversation(ctx, self.changes, self.world.pace, self._levels.get(_client(ctx), "debug"))

    async def _converse(self, talk: Conversation, call: _Params, params: _Params, act: Act) -> dict[str, Json]:
        """Have a conversation; in 2026-07-28, one round of it, with the answers so far in the client's keeping.

        Args:
            talk: The conversation.
            call: What makes this request the same call in its next round.
            params: The request's parameters.
            act: Takes the answers so far and gives the next observation.
        """
        bound = {"method": talk.ctx.method, **call}
        answers: dict[str, Json] = {}
        if talk.modern:
            try:
                if isinstance(params.get("requestState"), str):
                    answers = self._seal.open(bound, params["requestState"])
            except Tampered:
                raise MCPError(types.INVALID_PARAMS, "Invalid requestState") from None
            given = params.get("inputResponses", {})
            if not isinstance(given, dict):
                raise MCPError(types.INVALID_PARAMS, "inputResponses is an object")
            answers.update(given)
        if self.tasks is None or TASKS not in (talk.capabilities.get("extensions") or {}):
            observation = await talk.run(act, answers)
        else:
            observation = await act(answers)
            if any(event.kind == "task" for event in observation.events):
                return self.tasks.create(observation, answers, act, talk.play)
            await talk.play(observation.events)
        if observation.questions:
            return {**_result(observation), "requestState": self._seal.close(bound, answers)}
        return _result(observation)

    def _page(self, key: str, entries: tuple[dict[str, Json], ...], cursor: Json) -> dict[str, Json]:
        """A list, or the page of it that a cursor stands for."""
        size = self.world.spec.script.page_size
        if not size:
            return {key: list(entries)}
        begin = 0
        if cursor is not None:
            text = str(cursor)
            begin = int(text) if text.isdigit() and len(text) < 10 else -1
            if not 0 < begin < len(entries):
                raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
        more = {"nextCursor": str(begin + size)} if begin + size < len(entries) else {}
        return {key: list(entries[begin : begin + size]), **more}


_OLD = frozenset({"initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
"""Methods that ended with 2025-11-25."""
_NEW = frozenset({"server/discover", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"})
"""Methods that began with 2026-07-28."""


@lru_cache(maxsize=256)
def _methods(spec: ServerSpec) -> Mapping[str, str]:
    """What a server of this spec answers: which of our functions answers which method."""
    has = spec.capabilities
    out = {
        "initialize": "initialize",
        "server/discover": "discover",
        "tools/list": "list_tools",
        "tools/call": "call_tool",
    }
    if "resources" in has or spec.resources or spec.templates:
        out["resources/list"] = "list_resources"
        out["resources/templates/list"] = "list_templates"
        out["resources/read"] = "read_resource"
    if isinstance(has.get("resources"), dict) and has["resources"].get("subscribe"):
        out["resources/subscribe"] = "subscribe"
        out["resources/unsubscribe"] = "unsubscribe"
    if "prompts" in has or spec.prompts:
        out["prompts/list"] = "list_prompts"
        out["prompts/get"] = "get_prompt"
    if "logging" in has:
        out["logging/setLevel"] = "set_level"
    if "completions" in has:
        out["completion/complete"] = "complete"
    if any(isinstance(value, dict) and {"listChanged", "subscribe"} & value.keys() for value in has.values()):
        out["subscriptions/listen"] = "listen"
    if TASKS in _extensions(spec):
        out.update({"tasks/get": "get_task", "tasks/update": "update_task", "tasks/cancel": "cancel_task"})
    return out


def _extensions(spec: ServerSpec) -> Mapping[str, Json]:
    found = spec.capabilities.get("extensions")
    return found if isinstance(found, dict) else {}


def _client(ctx: _Context) -> str:
    """Tells the clients of one world apart: by session over HTTP; over stdio there is one."""
    request = ctx.request
    if request is None:
        return ""
    return str(request.headers.get("mcp-session-id") or request.query_params.get("session_id") or "")


def _result(observation: Observation) -> dict[str, Json]:
    """The result of an observation.

    Raises:
        MCPError: It is an error.
    """
    error = observation.error
    if error is not None:
        raise MCPError(code=error.code, message=error.message, data=error.data)
    assert observation.result is not None
    return observation.result


async def _unreached(ctx: Any, params: Any) -> Any:
    """Registered so that the SDK knows the method; the middleware answers before."""
    raise MCPError(code=types.INVALID_PARAMS, message="Invalid request parameters")
