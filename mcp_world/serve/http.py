"""Serving many worlds over streamable HTTP and the legacy SSE transport, each addressed by its URL."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from mcp_world.serve.busy import Busy
from mcp_world.serve.events import RecentEvents
from mcp_world.serve.impersonation import Impersonation
from mcp_world.serve.short_way import ShortWay
from mcp_world.world.world import World
from mcp_world.world.worlds import DEFAULT, Worlds

_ROUTE = re.compile(r"^(?:/worlds/(?P<id>[A-Za-z0-9._-]{1,64}))?/(?P<end>mcp|sse|messages)/?$")
_MAX_SESSIONS = 100_000
_BLANK = b" \t"
_RETRY = 500
"""Milliseconds after which a client whose stream was closed in the middle of a call comes back."""


def security_for(host: str, allowed: list[str]) -> TransportSecuritySettings:
    """The Host and Origin headers that are let in: loopback's, the host that is bound, and what is named.

    Args:
        host: The address that is bound.
        allowed: More host names, such as that of a proxy.
    """
    names = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        *([host] if host not in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "::") else []),
        *allowed,
    ]
    hosts = [form for name in names for form in (name, f"{name}:*")]
    origins = [f"{scheme}://{form}" for form in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(enable_dns_rebinding_protection=True, allowed_hosts=hosts, allowed_origins=origins)


class Endpoint:
    """The HTTP face of one world; what the SDK needs for it is made when a request first takes the long way.

    Args:
        world: The world.
        prefix: The path under which it is reached, such as `/worlds/w1`.
        security: Hosts and origins that are let in.
        checks: Lets them in.
        busy: Counts the calls that are being answered.
        tasks: Where sessions run.
    """

    def __init__(
        self,
        world: World,
        prefix: str,
        security: TransportSecuritySettings,
        checks: TransportSecurityMiddleware,
        busy: Busy,
        tasks: TaskGroup,
    ) -> None:
        self.world = world
        self.closed = anyio.Event()
        self.mcp = ShortWay(Impersonation(world, busy, tasks), self._long_way, checks)
        self._prefix = prefix
        self._security = security
        self._tasks = tasks
        self._server: Server[Any] | None = None
        self._manager: StreamableHTTPSessionManager | None = None
        self._sse: SseServerTransport | None = None
        self._starting = anyio.Lock()
        self._connections: set[anyio.CancelScope] = set()

    @property
    def server(self) -> Server[Any]:
        """The SDK's server."""
        if self._server is None:
            self._server = self.mcp.impersonation.server()
        return self._server

    @property
    def sse(self) -> SseServerTransport:
        """The SDK's legacy transport."""
        if self._sse is None:
            self._sse = SseServerTransport(f"{self._prefix}/messages", security_settings=self._security)
        return self._sse

    async def _long_way(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The SDK's streamable HTTP."""
        if self._manager is None:
            async with self._starting:
                if self._manager is None:
                    manager = StreamableHTTPSessionManager(
                        self.server,
                        security_settings=self._security,
                        event_store=RecentEvents() if self.world.spec.script.drops else None,
                        retry_interval=_RETRY if self.world.spec.script.drops else None,
                        session_idle_timeout=None,
                        max_sessions=_MAX_SESSIONS,
                    )
                    await self._tasks.start(self._run, manager)
                    self._manager = manager
        await self._manager.handle_request(scope, receive, send)

    async def _run(
        self, manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Keep the sessions until the world is closed."""
        async with manager.run():
            task_status.started()
            await self.closed.wait()

    async def serve_sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection of the legacy transport."""
        with anyio.CancelScope() as connection:
            self._connections.add(connection)
            try:
                async with self.sse.connect_sse(scope, receive, send) as (read, write):
                    await self.server.run(read, write, self.server.create_initialization_options())
            except ValueError:  # refused for its Host or Origin, and answered
                return
            finally:
                self._connections.discard(connection)

    def close(self) -> None:
        """End the sessions, the tasks and the streams of changes."""
        self.closed.set()
        self.mcp.impersonation.close()

    def end_connections(self) -> None:
        """Cut the connections of the legacy transport, which have no end of their own."""
        for connection in list(self._connections):
            connection.cancel()


class AgentApp:
    """The ASGI app that agents connect to: `/mcp` and `/sse`, `/worlds/{id}/mcp` and `/worlds/{id}/sse`.

    Args:
        worlds: The worlds.
        tasks: Where sessions run.
        security: Hosts and origins that are let in.
        token: The bearer token that agents need, or an empty string for none.
    """

    def __init__(self, worlds: Worlds, tasks: TaskGroup, security: TransportSecuritySettings, token: str = "") -> None:
        self.worlds = worlds
        self.busy = Busy()
        self._tasks = tasks
        self._security = security
        self._checks = TransportSecurityMiddleware(security)
        self._token = token
        self._endpoints: dict[str, Endpoint] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if any(value[:1] in _BLANK or value[-1:] in _BLANK for _, value in scope["headers"] if value):
            # RFC 9110, 5.5: a field's value is without the blanks around it, which the parser leaves there
            scope = {**scope, "headers": [(name, value.strip(_BLANK)) for name, value in scope["headers"]]}
        match = _ROUTE.match(scope["path"])
        if match is None:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
            return
        if self._token and not _bears(scope, self._token):
            refusal = PlainTextResponse("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
            await refusal(scope, receive, send)
            return
        id = match["id"] or DEFAULT
        endpoint = self._endpoints.get(id) or self._start(id, match["id"])
        if endpoint is None:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
            return
        await self._serve(endpoint, match["end"], scope, receive, send)

    async def _serve(self, endpoint: Endpoint, end: str, scope: Scope, receive: Receive, send: Send) -> None:
        if end == "sse":
            await endpoint.serve_sse(scope, receive, send)
            return
        handler: Callable[[Scope, Receive, Send], Awaitable[None]] = (
            endpoint.mcp if end == "mcp" else endpoint.sse.handle_post_message
        )
        if scope["method"] != "POST":
            await handler(scope, receive, send)
            return
        with self.busy:
            await handler(scope, receive, send)

    def _start(self, id: str, named: str | None) -> Endpoint | None:
        world = self.worlds.get(id)
        if world is None:
            return None
        prefix = f"/worlds/{id}" if named else ""
        endpoint = Endpoint(world, prefix, self._security, self._checks, self.busy, self._tasks)
        self._endpoints[id] = endpoint
        return endpoint

    def close(self, id: str) -> None:
        """End the sessions and connections of a world."""
        endpoint = self._endpoints.pop(id, None)
        if endpoint is not None:
            endpoint.close()
            endpoint.end_connections()

    def stop(self) -> None:
        """End all sessions; connections are left to the server, so that last answers can leave."""
        for endpoint in self._endpoints.values():
            endpoint.close()


def _bears(scope: Scope, token: str) -> bool:
    given = Headers(scope=scope).get("authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
