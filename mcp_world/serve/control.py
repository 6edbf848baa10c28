"""The control API: another app, on another port, with another token. An agent cannot reach it."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import orjson
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from mcp_world.core.clock import parse_time
from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.serve.openapi import DOCUMENT, page
from mcp_world.world.world import World
from mcp_world.world.worlds import Worlds

_OPEN = ("/", "/openapi.json")


def control_app(
    worlds: Worlds, token: str, security: TransportSecuritySettings, on_close: Callable[[str], None]
) -> Starlette:
    """The control API as an ASGI app.

    Args:
        worlds: The worlds that it controls.
        token: The bearer token that every call needs; the page and the OpenAPI document need none.
        security: Hosts and origins that are let in.
        on_close: Called with the name of a world that was closed.
    """
    api = _Api(worlds, on_close)
    routes = [
        Route("/", lambda request: HTMLResponse(page()), methods=["GET"]),
        Route("/openapi.json", lambda request: _json(DOCUMENT), methods=["GET"]),
        Route("/worlds", api.list, methods=["GET"]),
        Route("/worlds", api.create, methods=["POST"]),
        Route("/worlds/{id}", api.get, methods=["GET"]),
        Route("/worlds/{id}", api.close, methods=["DELETE"]),
        Route("/worlds/{id}/reset", api.reset, methods=["POST"]),
        Route("/worlds/{id}/steps", api.steps, methods=["GET"]),
        Route("/worlds/{id}/ledger", api.ledger, methods=["GET"]),
    ]
    app = Starlette(routes=routes, exception_handlers={BadInput: _bad_input})
    checks = TransportSecurityMiddleware(security)

    async def guard(request: Request, call_next: RequestResponseEndpoint) -> Response:
        refused = await checks.validate_request(request, is_post=False)
        if refused is not None:
            return refused
        given = request.headers.get("authorization", "")
        if request.url.path not in _OPEN and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return _json({"error": "the control token is needed, as `Authorization: Bearer TOKEN`"}, 401)
        return await call_next(request)

    app.add_middleware(BaseHTTPMiddleware, dispatch=guard)
    return app


class _Api:
    def __init__(self, worlds: Worlds, on_close: Callable[[str], None]) -> None:
        self.worlds = worlds
        self.on_close = on_close

    async def list(self, request: Request) -> Response:
        return _json({"worlds": [_summary(world) for world in self.worlds]})

    async def create(self, request: Request) -> Response:
        body = await _body(request, {"id": str, "spec": str, "seed": int, "facts": dict, "start": str})
        start = parse_time(body["start"], where="start") if "start" in body else None
        facts = _facts(body.get("facts"))
        world = self.worlds.create(
            body.get("id"), spec=body.get("spec"), seed=body.get("seed"), facts=facts, start=start
        )
        return _json(_summary(world), 201)

    async def get(self, request: Request) -> Response:
        return _json(_summary(self._world(request)))

    async def close(self, request: Request) -> Response:
        world = self._world(request)
        self.worlds.close(world.id)
        self.on_close(world.id)
        return Response(status_code=204)

    async def reset(self, request: Request) -> Response:
        world = self._world(request)
        body = await _body(request, {"seed": int})
        await world.reset(body.get("seed"))
        return _json(_summary(world))

    async def steps(self, request: Request) -> Response:
        world = self._world(request)
        after = request.query_params.get("after", "0")
        if not after.isdigit():
            raise BadInput(f"{after!r} is no step number", where="after")
        return _json({"steps": [step.to_json() for step in world.steps[int(after) :]]})

    async def ledger(self, request: Request) -> Response:
        return _json({"entities": self._world(request).ledger.to_json()})

    def _world(self, request: Request) -> World:
        id = request.path_params["id"]
        world = self.worlds.get(id)
        if world is None:
            raise BadInput(f"there is no world {id!r}", do="GET /worlds lists them.")
        return world


def _summary(world: World) -> dict[str, Json]:
    return {
        "id": world.id,
        "spec": world.spec.name,
        "engine": world.engine.name,
        "seed": world.seed,
        "steps": len(world.steps),
        "time": world.clock.text,
        "mcp": f"/worlds/{world.id}/mcp",
        "sse": f"/worlds/{world.id}/sse",
    }


def _facts(given: Json) -> dict[str, list[dict[str, Json]]] | None:
    if given is None:
        return None
    for kind, records in given.items():
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise BadInput("a kind has a list of records", where=f"facts/{kind}")
    return dict(given)


async def _body(request: Request, fields: dict[str, type]) -> dict[str, Any]:
    raw = await request.body()
    if not raw:
        return {}
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"not valid JSON: {error}", where="body") from None
    if not isinstance(body, dict):
        raise BadInput("the body is an object", where="body")
    for name, value in body.items():
        if name not in fields:
            raise BadInput(f"there is no field {name!r}", where="body", do=f"Use: {', '.join(fields)}.")
        if not isinstance(value, fields[name]) or isinstance(value, bool):
            raise BadInput(f"a {fields[name].__name__} is wanted, not {type(value).__name__}", where=f"body/{name}")
    return body


def _json(value: Json, status: int = 200) -> Response:
    return Response(encode(value), status, media_type="application/json")


async def _bad_input(request: Request, error: Exception) -> Response:
    assert isinstance(error, BadInput)
    status = 404 if error.what.startswith("there is no world") else 409 if "already" in error.what else 400
    return _json({"error": str(error)}, status)
