"""Tells clients what has changed: lists of tools, prompts and resources, and single resources.

Clients of 2026-07-28 listen on a stream of `subscriptions/listen`; older ones hear of lists unasked, and of resources
that they subscribed to.
"""

from __future__ import annotations

from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import SubscriptionsListenRequestParams
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_LISTS: dict[str, ServerEvent] = {
    "tools": ToolsListChanged(),
    "prompts": PromptsListChanged(),
    "resources": ResourcesListChanged(),
}


class Changes:
    """The listeners of one world."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self._readers: dict[str, dict[str, ServerSession]] = {}

    async def listen(self, ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
        """Serve one stream of `subscriptions/listen` until the client goes or the world is closed."""
        params = SubscriptionsListenRequestParams.model_validate(dict(ctx.params or {}), by_name=False)
        result = await self._handler(ctx, params)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    def close(self) -> None:
        """End all streams."""
        self._handler.close()

    def subscribe(self, client: str, session: ServerSession, uri: str) -> None:
        """Note that a client wants to hear of a resource."""
        self._readers.setdefault(uri, {})[client] = session

    def unsubscribe(self, client: str, uri: str) -> None:
        """Note that it no longer does."""
        self._readers.get(uri, {}).pop(client, None)

    async def publish(self, ctx: ServerRequestContext[Any, Any], what: str, of: str) -> None:
        """Tell of a change.

        Args:
            ctx: The call that made it.
            what: `list` or `resource`.
            of: Which list, or which URI.
        """
        if what == "resource":
            await self._bus.publish(ResourceUpdated(uri=of))
            for session in list(self._readers.get(of, {}).values()):
                await session.send_resource_updated(of)
        elif of in _LISTS:
            await self._bus.publish(_LISTS[of])
            if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                tell = {
                    "tools": ctx.session.send_tool_list_changed,
                    "prompts": ctx.session.send_prompt_list_changed,
                    "resources": ctx.session.send_resource_list_changed,
                }
                await tell[of]()
