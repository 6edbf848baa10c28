"""`requestState`: what a server gives a client to keep between the rounds of a call, and takes back unopened.

A client must be taken for an attacker here (MCP 2026-07-28, multi round-trip requests), so the state is signed, and
bound to the call that it belongs to. The key follows from the world's seed: same seed, same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping

import orjson

from mcp_world.core.encoding import encode
from mcp_world.core.types import Json


class Tampered(Exception):
    """The state is not one that was given out for this call."""


class Seal:
    """Signs and opens states.

    Args:
        seed: The world's seed.
    """

    def __init__(self, seed: int) -> None:
        self._key = hashlib.blake2b(b"request state", key=seed.to_bytes(32, "big", signed=True)).digest()

    def close(self, call: Mapping[str, Json], answers: Mapping[str, Json]) -> str:
        """The state that keeps the answers so far.

        Args:
            call: The method and the parameters that make it this call.
            answers: By key.
        """
        kept = base64.urlsafe_b64encode(encode(dict(answers))).decode().rstrip("=")
        return f"{kept}.{self._sign(call, kept)}"

    def open(self, call: Mapping[str, Json], state: str) -> dict[str, Json]:
        """The answers in a state.

        Raises:
            Tampered: It was not made for this call, or changed since.
        """
        kept, _, mark = state.partition(".")
        if not hmac.compare_digest(mark.encode(), self._sign(call, kept).encode()):
            raise Tampered
        answers = orjson.loads(base64.urlsafe_b64decode(kept + "=" * (-len(kept) % 4)))
        assert isinstance(answers, dict)
        return answers

    def _sign(self, call: Mapping[str, Json], kept: str) -> str:
        mark = hmac.new(self._key, encode(dict(call)) + b"\0" + kept.encode(), hashlib.sha256)
        return mark.hexdigest()
