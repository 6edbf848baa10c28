"""A Hugging Face tokenizer: what a text costs, and a conversation as the tokens that a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mcp_world.core.errors import BadInput
from mcp_world.engines.language.grammar import Thinking
from mcp_world.engines.language.model import Message


class Tokens:
    """What is needed of a tokenizer.

    Args:
        tokenizer: One with a chat template.
        model: Whose it is, for messages.

    Raises:
        BadInput: It has no chat template.
    """

    def __init__(self, tokenizer: Any, model: str) -> None:
        if not getattr(tokenizer, "chat_template", None):
            raise BadInput("its tokenizer has no chat template", where=model, do="Use an instruction-tuned model.")
        self.tokenizer = tokenizer
        self._thinks = "<think>" in str(tokenizer.chat_template)
        self.count = lru_cache(maxsize=20_000)(self._count)

    def _count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False)["input_ids"])

    def render(self, messages: Sequence[Message]) -> tuple[list[int], Thinking]:
        """The tokens of a conversation, and whether the reply to it thinks first."""
        said = [{"role": message.role, "content": message.content} for message in messages]
        text = self.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        opened = text.rstrip().endswith("<think>")
        thinking: Thinking = "open" if opened else "may" if self._thinks else "none"
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"]), thinking
