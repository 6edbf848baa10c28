"""Two HTTP servers in one process: the agents' and the control API's; stopped without losing a call."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn

from mcp_world.core.errors import BadInput
from mcp_world.serve.control import control_app
from mcp_world.serve.http import AgentApp, security_for
from mcp_world.world.worlds import Worlds

GRACE = 30.0
"""Seconds that calls in flight have to finish once a stop was asked for."""


@dataclass(frozen=True)
class Addresses:
    """Where the two apps listen."""

    agents: str
    control: str


@asynccontextmanager
async def http_servers(
    worlds: Worlds,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    control_port: int = 0,
    token: str = "",
    control_token: str,
    allowed_hosts: list[str] | None = None,
) -> AsyncIterator[Addresses]:
    """Run both servers for as long as the context is open; on leaving, calls in flight finish first.

    Args:
        worlds: The worlds.
        host: The address to bind; the control API is always on loopback.
        port: The agents' port; 0 for a free one.
        control_port: The control API's port; 0 for a free one.
        token: The bearer token that agents need, or "" for none.
        control_token: The bearer token of the control API.
        allowed_hosts: More Host names to let in.

    Raises:
        BadInput: An address cannot be bound.
    """
    agents_socket, control_socket = (
        bind(host, port, "--port"),
        bind("127.0.0.1", control_port, "--control-port"),
    )
    async with anyio.create_task_group() as tg:
        app = AgentApp(worlds, tg, security_for(host, allowed_hosts or []), token)
        control = control_app(worlds, control_token, security_for("127.0.0.1", []), app.close)
        servers = [(_server(app), agents_socket), (_server(control), control_socket)]
        for server, bound in servers:
            tg.start_soon(server.serve, [bound])
        for server, _ in servers:
            while not server.started:  # noqa: ASYNC110  # uvicorn has no event for it
                await anyio.sleep(0.005)
        try:
            yield Addresses(_url(agents_socket, host), _url(control_socket, "127.0.0.1"))
        finally:
            with anyio.CancelScope(shield=True):
                agents_server = servers[0][0]
                for listener in agents_server.servers:
                    listener.close()
                with anyio.move_on_after(GRACE):
                    await app.busy.wait()
                app.stop()
                for server, _ in servers:
                    server.should_exit = True


async def until_stopped() -> None:
    """Return when a SIGINT or SIGTERM comes."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            return


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to `until_stopped`."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _server(app: Callable[..., Any]) -> _Server:
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_level=logging.WARNING,
        access_log=False,
        timeout_graceful_shutdown=1,
        timeout_keep_alive=120,
        ws="none",
    )
    return _Server(config)


def bind(host: str, port: int, option: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise BadInput(
            f"{host}:{port} cannot be bound: {error.strerror or error}",
            where=option,
            do="Take another port, or 0 for a free one.",
        ) from None
    return bound


def _url(bound: socket.socket, host: str) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}"
