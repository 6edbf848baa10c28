"""What was sent on streams that a client may resume (MCP 2025-11-25, transports, resumability)."""

from __future__ import annotations

from collections import deque

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

_KEPT = 10_000


class RecentEvents(EventStore):
    """The last messages of one world's sessions."""

    def __init__(self) -> None:
        self._events: deque[tuple[int, StreamId, JSONRPCMessage | None]] = deque(maxlen=_KEPT)
        self._last = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        """Keep a message; gives the id that it is sent with."""
        self._last += 1
        self._events.append((self._last, stream_id, message))
        return str(self._last)

    async def replay_events_after(self, last_event_id: EventId, send_callback: EventCallback) -> StreamId | None:
        """Send what came after an event on its stream; gives the stream, or None where the event is not known."""
        known = next((stream for id, stream, _ in self._events if str(id) == last_event_id), None)
        if known is None:
            return None
        for id, stream, message in list(self._events):
            if stream == known and id > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, str(id)))
        return known
