"""How many requests are being answered, so that a stop can wait for them."""

from __future__ import annotations

from types import TracebackType

import anyio


class Busy:
    """A context for each request that is being answered: `with busy: …`."""

    def __init__(self) -> None:
        self.count = 0
        self._idle = anyio.Event()

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.count -= 1
        if self.count == 0:
            self._idle.set()

    async def wait(self) -> None:
        """Return when none is being answered."""
        while self.count:
            self._idle = anyio.Event()
            await self._idle.wait()
