"""What a language model is to an engine: messages in, one reply out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcp_world.engines.contract import Report
from mcp_world.engines.language.grammar import Grammar

Finish = Literal["stop", "length", "looping"]
"""Why a reply ended: by itself, at its limit, or because it repeated itself and was cut."""


class ModelError(Exception):
    """The model gave no reply to this request; another may succeed."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Args:
        role: Who speaks.
        content: What is said.
    """

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a reply is drawn.

    Args:
        limit: How many tokens it may have, thinking included.
        temperature: 0 for the likeliest token each time.
        seed: What the draw depends on.
    """

    limit: int
    temperature: float
    seed: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said.

    Args:
        text: All of it but what the server set apart as thinking.
        thinking: What the server set apart.
        finish: Why it ended.
        prompt_tokens: Tokens of the messages.
        cached_tokens: Those of them that a prefix cache had; 0 where the server does not say.
        tokens: Tokens of the reply.
    """

    text: str
    thinking: str = ""
    finish: Finish = "stop"
    prompt_tokens: int = 0
    cached_tokens: int = 0
    tokens: int = 0


class LanguageModel(ABC):
    """A language model. All worlds of a process share one; it may be asked many things at once."""

    @property
    @abstractmethod
    def context(self) -> int:
        """How many tokens the messages and the reply may have together."""

    @abstractmethod
    async def open(self, report: Report) -> None:
        """Load or reach it; asked again, it does nothing.

        Raises:
            BadInput: It cannot be had here; says what to do.
        """

    @abstractmethod
    async def close(self) -> None:
        """Let it go."""

    @abstractmethod
    async def count(self, text: str) -> int:
        """How many tokens a text is."""

    @abstractmethod
    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        """Answer a conversation.

        Args:
            messages: A system message, then turns of user and assistant, a user's last.
            sampling: How the reply is drawn.
            grammar: What it must look like once it has thought; a model that cannot be bound leaves it be.

        Raises:
            ModelError: There was no reply.
        """
