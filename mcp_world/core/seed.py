"""Randomness that is a pure function of its key: the same on every machine and every Python."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1


def digest(*key: object) -> int:
    """A 64-bit number that depends on every part of `key` and on nothing else.

    Parts are told apart by type and length, so ("ab", "c") and ("a", "bc") differ.
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


class Rng:
    """A small seeded generator (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).

    The standard library's generator costs microseconds to seed and changes its derived methods between
    Python versions; worlds seed one for every field of every entity.
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    @classmethod
    def of(cls, *key: object) -> Rng:
        """The generator that belongs to `key`."""
        return cls(digest(*key))

    def bits(self) -> int:
        """The next 64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """An int in [0, n); n must be positive."""
        if n <= _MASK >> 16:
            return self.bits() % n
        wide = 0
        for _ in range(n.bit_length() // 64 + 2):
            wide = (wide << 64) | self.bits()
        return wide % n

    def between(self, low: int, high: int) -> int:
        """An int in [low, high]."""
        return low + self.below(high - low + 1)

    def unit(self) -> float:
        """A float in [0, 1)."""
        return (self.bits() >> 11) / (1 << 53)

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.unit() < p

    def pick(self, items: Sequence[T]) -> T:
        """One of `items`, which must not be empty."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """A new list of `items` in another order (Fisher-Yates)."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out

    def string(self, alphabet: str, length: int) -> str:
        """`length` characters of `alphabet`."""
        return "".join(alphabet[self.below(len(alphabet))] for _ in range(length))
