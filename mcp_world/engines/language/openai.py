"""Chat completions of any OpenAI-compatible server: vLLM, SGLang, llama.cpp, Ollama, a hosted one."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import anyio
import httpx2

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.engines.contract import Report
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.grammar import Grammar, Thinking
from mcp_world.engines.language.looping import looping
from mcp_world.engines.language.model import Finish, LanguageModel, Message, ModelError, Reply, Sampling
from mcp_world.spec.model import ServerSpec

if TYPE_CHECKING:
    from openai import AsyncOpenAI

KEY = "OPENAI_API_KEY"
"""The environment variable that the key is read from; it is kept out of logs, journals and errors."""

_LOCAL = "http://127.0.0.1:8000/v1"
_CONTEXT = 32_768
_BYTES = 3
"""Bytes that a token has, at the least, in the JSON and prose of a conversation; where no tokenizer can be asked."""

_COUNTED = 20_000
_STRIDE = 64
"""Characters between two looks at whether a reply goes round in circles."""

_OPTIONAL = ("stream_options", "seed", "temperature")
_TAGGING = ("vllm", "sglang")
"""Servers that bind a reply by structural tags; as they call themselves in their list of models."""


def engine(
    spec: ServerSpec,
    *,
    model: str = "",
    base_url: str = "",
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> LanguageEngine:
    """The engine `openai`.

    Args:
        spec: The server.
        model: The model's name; the first that the server lists, where none is given.
        base_url: The server's, `…/v1`; else `OPENAI_BASE_URL`, else a server on this machine.
        options: Of `ChatModel`.
        settings: Of `LanguageEngine`.

    Raises:
        BadInput: There is no such option.
    """
    url = base_url or os.environ.get("OPENAI_BASE_URL") or _LOCAL
    return LanguageEngine(spec, _shared(model, url, encode(dict(options or {}))), "openai", **settings)


@cache
def _shared(model: str, base_url: str, options: bytes) -> ChatModel:
    try:
        return ChatModel(model, base_url, **json.loads(options))
    except TypeError as error:
        raise BadInput(
            f"the engine `openai` has no such option: {error}",
            where="--engine-option",
            do="It has context, concurrency, timeout, retries and thinking.",
        ) from None


class ChatModel(LanguageModel):
    """A model behind chat completions.

    Args:
        model: Its name; the first that the server lists, where it is empty.
        base_url: The server's.
        context: How many tokens it can hold; as the server says, else 32 768.
        concurrency: How many requests are under way at once.
        timeout: Seconds that a reply may take.
        retries: How often a request is sent again after 429, 5xx or a disconnect, with growing pauses between.
        thinking: Whether replies hold thinking that the server does not set apart: `none`, `may` or `open`.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        context: int = 0,
        concurrency: int = 64,
        timeout: float = 600.0,
        retries: int = 4,
        thinking: Thinking = "none",
    ) -> None:
        self.model = model
        self.base_url = base_url.rstrip("/")
        self._given = self._context = context
        self._concurrency = concurrency
        self._timeout = timeout
        self._retries = retries
        self._thinking = thinking
        self._client: AsyncOpenAI | None = None
        self._http: httpx2.AsyncClient | None = None
        self._limit: anyio.CapacityLimiter | None = None
        self._tags = False
        self._dropped: set[str] = set()
        self._limit_name = "max_tokens"
        self._steps: dict[bytes, int] = {}
        self._counted: dict[str, int] = {}

    @property
    def context(self) -> int:
        """As it was given, or as the server says, else 32 768 tokens."""
        return self._context or _CONTEXT

    async def open(self, report: Report) -> None:
        """Ask the server for its models; see `LanguageModel.open`."""
        if self._client is not None:
            return
        try:
            import openai
        except ImportError:
            raise BadInput(
                "the package `openai` is not there", where="--engine openai", do="pip install 'mcp-world[openai]'"
            ) from None
        report(f"asking {self._where}")
        client = openai.AsyncOpenAI(
            api_key=os.environ.get(KEY) or "none",
            base_url=self.base_url,
            timeout=self._timeout,
            max_retries=self._retries,
        )
        try:
            self._choose(await self._listed(client))
        except BaseException:
            await client.close()
            raise
        self._client, self._http = client, httpx2.AsyncClient(timeout=20.0)
        self._limit = anyio.CapacityLimiter(self._concurrency)
        if await self._tokens("a") is None:
            await self._http.aclose()
            self._http = None

    async def _listed(self, client: AsyncOpenAI) -> list[dict[str, Json]]:
        """The models that the server lists; it need not list any."""
        import openai

        try:
            return [entry.model_dump() for entry in (await client.with_options(timeout=20.0).models.list()).data]
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            raise BadInput("it refuses the key", where=self._where, do=f"Set {KEY} to one that it takes.") from None
        except openai.APIConnectionError:
            raise BadInput(
                "nothing answers there", where=self._where, do="Start a server, or give its address with --base-url."
            ) from None
        except openai.APIStatusError:
            return []

    def _choose(self, listed: list[dict[str, Json]]) -> None:
        """Take the model from the server's list."""
        names = [str(entry.get("id")) for entry in listed]
        if not self.model and not names:
            raise BadInput("it lists no models", where=self._where, do="Name one with --model.")
        mine = self.model or names[0]
        found = [entry for entry in listed if str(entry.get("id")).split(":")[0] == mine.split(":")[0]]
        if names and not found:
            raise BadInput(f"it has no model {mine!r}", where=self._where, do=f"Use one of: {', '.join(names[:20])}.")
        self.model = mine
        about = found[0] if found else {}
        length = about.get("max_model_len")
        self._context = self._given or (length if isinstance(length, int) else 0)
        self._tags = about.get("owned_by") in _TAGGING

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
        if self._http is not None:
            await self._http.aclose()
        self._client = self._http = None

    async def count(self, text: str) -> int:
        """By the server's tokenizer where it has an address for it, else a third of the bytes."""
        known = self._counted.get(text)
        if known is None:
            known = await self._tokens(text)
            if known is None:
                known = -(-len(text.encode()) // _BYTES)
            if len(self._counted) >= _COUNTED:
                self._counted.clear()
            self._counted[text] = known
        return known

    async def _tokens(self, text: str) -> int | None:
        if self._http is None:
            return None
        body = {"model": self.model, "prompt": text, "content": text, "add_special_tokens": False}
        key = os.environ.get(KEY)
        try:
            answer = await self._http.post(
                self.base_url.removesuffix("/v1") + "/tokenize",
                json=body,
                headers={"Authorization": f"Bearer {key}"} if key else {},
            )
            found = answer.json() if answer.status_code == 200 else {}
        except (httpx2.HTTPError, ValueError):
            return None
        tokens = found.get("tokens") if isinstance(found, dict) else None
        return len(tokens) if isinstance(tokens, list) else None

    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        """One completion, cut where it goes round in circles; see `LanguageModel.reply`."""
        import openai

        if self._client is None or self._limit is None:
            raise ModelError("the model is not open")
        key = b"" if grammar is None else encode(grammar.schema)
        said = [{"role": message.role, "content": message.content} for message in messages]
        broken = 0
        async with self._limit:
            while True:
                bound = self._bound(grammar, self._steps.get(key, 0))
                try:
                    with anyio.fail_after(self._timeout):
                        return await self._complete(said, sampling, bound)
                except openai.BadRequestError as error:
                    if not self._without(str(error)):
                        if bound is None:
                            raise ModelError(self._scrubbed(error)) from None
                        self._steps[key] = self._steps.get(key, 0) + 1
                except (openai.APIConnectionError, httpx2.HTTPError) as error:  # in the middle of a reply
                    broken += 1
                    if broken > self._retries:
                        raise ModelError(f"{self._where} broke off: {self._scrubbed(error)}") from None
                    await anyio.sleep(min(0.5 * 2**broken, 8.0))
                except TimeoutError:
                    raise ModelError(f"{self._where} took longer than {self._timeout:g} s") from None
                except openai.OpenAIError as error:
                    raise ModelError(self._scrubbed(error)) from None

    def _bound(self, grammar: Grammar | None, step: int) -> dict[str, Any] | None:
        """The response format for a grammar: the closest that was not refused; None where none is left."""
        if grammar is None:
            return None
        ladder: list[dict[str, Any]] = []
        if self._tags:
            ladder = [each.structural_tag(self._thinking) for each in (grammar, grammar.loose())]
        if self._thinking == "none":
            schema = {"name": "observation", "schema": grammar.json_schema()}
            ladder += [{"type": "json_schema", "json_schema": schema}, {"type": "json_object"}]
        return ladder[step] if step < len(ladder) else None

    def _without(self, message: str) -> bool:
        """Leave out, or name otherwise, what a server says that it does not know; False where it says no such thing."""
        if self._limit_name in message and "max_completion_tokens" in message and self._limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        for name in _OPTIONAL:
            if name in message and name not in self._dropped:
                self._dropped.add(name)
                return True
        return False

    async def _complete(
        self, messages: list[dict[str, str]], sampling: Sampling, bound: dict[str, Any] | None
    ) -> Reply:
        assert self._client is not None
        body: dict[str, Any] = {
            "temperature": sampling.temperature,
            "seed": sampling.seed,
            "stream_options": {"include_usage": True},
            self._limit_name: sampling.limit,
        }
        for name in self._dropped:
            body.pop(name)
        if bound is not None:
            body["response_format"] = bound
        create: Any = self._client.chat.completions.create
        stream = await create(model=self.model, messages=messages, stream=True, **body)
        try:
            return await _collected(stream)
        finally:
            await stream.close()

    @property
    def _where(self) -> str:
        """The server's address without a password in it."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def _scrubbed(self, error: Exception) -> str:
        """An error's text in one line, the key taken out."""
        key = os.environ.get(KEY)
        text = " ".join((str(error) or type(error).__name__).split())[:500]
        return text.replace(key, f"[{KEY}]") if key else text


async def _collected(stream: AsyncIterator[Any]) -> Reply:
    """A streamed reply in one piece."""
    text, thinking, finish = "", "", "stop"
    usage: Any = None
    looked = 0
    async for chunk in stream:
        usage = chunk.usage or usage
        if not chunk.choices:
            continue
        choice = chunk.choices[0]
        text += choice.delta.content or ""
        thinking += getattr(choice.delta, "reasoning_content", None) or getattr(choice.delta, "reasoning", None) or ""
        finish = choice.finish_reason or finish
        if len(text) + len(thinking) >= looked + _STRIDE:
            looked = len(text) + len(thinking)
            if looping(text) or looping(thinking):
                finish = "looping"
                break
    ended: Finish = "looping" if finish == "looping" else "length" if finish == "length" else "stop"
    cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0
    asked, answered = (usage.prompt_tokens, usage.completion_tokens) if usage is not None else (0, 0)
    return Reply(text, thinking, ended, asked, cached, answered)
