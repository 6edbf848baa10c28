"""The one exception for input a person can mend."""

from __future__ import annotations


class BadInput(Exception):
    """Something the user gave cannot be used; one line says what, where and what to do.

    Args:
        what: What is wrong, as a clause ("not valid JSON: ...").
        where: A file, optionally followed by `#` and a JSON pointer.
        do: What to do about it.
    """

    def __init__(self, what: str, *, where: str = "", do: str = "") -> None:
        self.what = " ".join(what.split())
        self.where = where
        self.do = do
        super().__init__(str(self))

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {self.do}" if self.do else head
