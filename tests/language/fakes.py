"""Language models that say what a test has them say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mcp_world.engines.contract import Report
from mcp_world.engines.language.grammar import Grammar
from mcp_world.engines.language.model import LanguageModel, Message, ModelError, Reply, Sampling

Saying = str | Reply | ModelError


class Fake(LanguageModel):
    """A model with a script.

    Args:
        says: Replies in turn, the last one for ever; or a function of the messages.
        context: Its context, in tokens of four characters.
    """

    def __init__(self, says: Iterable[Saying] | Callable[[Sequence[Message]], Saying], context: int = 32_768) -> None:
        self._says = says if callable(says) else None
        self._left = [] if callable(says) else list(says)
        self._context = context
        self.asked: list[list[Message]] = []
        self.samplings: list[Sampling] = []
        self.grammars: list[Grammar | None] = []
        self.opened = 0

    @property
    def context(self) -> int:
        return self._context

    async def open(self, report: Report) -> None:
        self.opened += 1

    async def close(self) -> None:
        self.opened = 0

    async def count(self, text: str) -> int:
        return -(-len(text) // 4)

    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        self.asked.append(list(messages))
        self.samplings.append(sampling)
        self.grammars.append(grammar)
        used = sum([-(-len(m.content) // 4) + 8 for m in messages])
        assert used + sampling.limit <= self._context, f"{used} tokens and a reply of {sampling.limit} overflow"
        said = self._says(messages) if self._says else self._left.pop(0) if len(self._left) > 1 else self._left[0]
        if isinstance(said, ModelError):
            raise said
        return Reply(said) if isinstance(said, str) else said
