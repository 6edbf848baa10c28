"""The world's own clock: nothing an agent sees comes from the machine's time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mcp_world.core.errors import BadInput
from mcp_world.core.seed import Rng

_EPOCH = datetime(2025, 1, 6, 8, 0, tzinfo=UTC)


def iso(moment: datetime) -> str:
    """A time as APIs write it: RFC 3339 in UTC, whole seconds, Z."""
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}T{moment.hour:02}:{moment.minute:02}:{moment.second:02}Z"


class Clock:
    """Starts where it is told or where the seed puts it, and moves on with each step.

    Args:
        seed: The world's seed.
        start: An aware datetime, or None for one in the year after 2025-01-06 drawn from the seed.

    Attributes:
        now: The world's time.
        text: The same, RFC 3339.
    """

    __slots__ = ("_pace", "_seed", "_start", "now", "text")

    def __init__(self, seed: int, start: datetime | None = None) -> None:
        self._seed = seed
        self._start = start or _EPOCH + timedelta(seconds=Rng.of("clock", seed).below(365 * 86_400))
        self.reset()

    def reset(self) -> None:
        """Go back to the start."""
        self._pace = Rng.of("pace", self._seed)
        self.now = self._start
        self.text = iso(self.now)

    def tick(self) -> None:
        """Move on by 1 to 40 seconds, the pace of an agent between two calls."""
        self.now += timedelta(milliseconds=1_000 + self._pace.below(39_000))
        self.text = iso(self.now)


def parse_time(text: str, *, where: str = "") -> datetime:
    """Read an RFC 3339 date or date-time; without an offset it is UTC.

    Raises:
        BadInput: `text` is neither.
    """
    try:
        value = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise BadInput(
            f"{text!r} is not a date or time", where=where, do="Write it like 2025-03-01T09:00:00Z."
        ) from None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
