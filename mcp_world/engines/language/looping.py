"""Is a reply going round in circles? Small models fall into endless whitespace or repetition."""

from __future__ import annotations

_BLANK = 120
_TAIL = 480
_UNIT = 80


def looping(text: str) -> bool:
    """Whether the end of a text is 120 characters of whitespace, or 480 of one piece of at most 80 over and over."""
    if len(text) >= _BLANK and not text[-_BLANK:].strip():
        return True
    if len(text) < _TAIL:
        return False
    tail = text[-_TAIL:]
    return any(tail[unit:] == tail[:-unit] for unit in range(1, _UNIT + 1))
