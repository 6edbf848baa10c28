"""vLLM in this process: all worlds share one batch, and each its prefix cache."""

from __future__ import annotations

import dataclasses
import difflib
import gc
import importlib.util
import json
import logging
import os
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from typing import Any

import anyio
import anyio.to_thread

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.engines.contract import Report
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.grammar import Grammar, Thinking
from mcp_world.engines.language.loading import Said, holding
from mcp_world.engines.language.looping import looping
from mcp_world.engines.language.model import Finish, LanguageModel, Message, ModelError, Reply, Sampling
from mcp_world.engines.language.tokens import Tokens
from mcp_world.spec.model import ServerSpec

_STRIDE = 16
"""Tokens that come at once; between two of these a reply is looked at for going round in circles."""

_WORLD_MODEL = {"language_model_only": True, "reasoning_parser": "qwen3"}
"""What Qwen-AgentWorld needs: its checkpoint has no visual part, and it thinks before it answers (its model card)."""

_FAILURES = (
    (
        ("Failed to infer device type", "No CUDA GPUs", "no NVIDIA driver", "Device string must not be empty"),
        "there is no GPU that vLLM can use",
        "See `mcp-world doctor` for what this machine can run.",
    ),
    (
        (
            "out of memory",
            "No available memory",
            "KV cache memory",
            "Free memory",
            "less than desired",
            "less than requested",
        ),
        "it does not fit into memory",
        "Try --engine-option max_model_len=8192, tensor_parallel_size=2 or quantization=fp8.",
    ),
    (
        (
            "valid model identifier",
            "is not a local folder",
            "couldn't connect",
            "Can't load",
            "does not appear to have",
        ),
        "its weights are not here and could not be fetched",
        "Give a folder that `hf download` wrote, or a name on the hub that can be reached.",
    ),
)
"""What is found in what vLLM says, what that means, and what to do."""


def engine(
    spec: ServerSpec, *, model: str = "", base_url: str = "", options: Mapping[str, Any] | None = None, **settings: Any
) -> LanguageEngine:
    """The engine `vllm`.

    Args:
        spec: The server.
        model: A folder of weights, or a name on the Hugging Face hub.
        base_url: Not used; the model is in this process.
        options: Of vLLM's `AsyncEngineArgs`, such as `tensor_parallel_size`, `max_model_len`, `dtype`, `quantization`,
            `language_model_only` and `reasoning_parser`; and `lora`, the folder of an adapter.
        settings: Of `LanguageEngine`.
    """
    return LanguageEngine(spec, _shared(model, encode(dict(options or {}))), "vllm", **settings)


@cache
def _shared(model: str, options: bytes) -> BatchedModel:
    return BatchedModel(model, **json.loads(options))


class BatchedModel(LanguageModel):
    """A model in vLLM's `AsyncLLM`.

    Args:
        model: A folder, or a name on the Hugging Face hub.
        lora: The folder of a LoRA adapter.
        options: Of `AsyncEngineArgs`.

    Attributes:
        options: What vLLM is told: these, and what such a model needs.
    """

    def __init__(self, model: str, *, lora: str = "", **options: Any) -> None:
        if not model:
            raise BadInput("no model was named", where="--engine vllm", do="Name one with --model.")
        self.model = model
        self._lora = lora
        self.options = {
            "disable_log_stats": True,
            **({"enable_lora": True} if lora else {}),
            **(_WORLD_MODEL if "agentworld" in model.lower() else {}),
            **options,
        }
        self._llm: Any = None
        self._tokens: Tokens | None = None
        self._context = 2_048
        self._steps: dict[bytes, int] = {}
        self._numbers = count()

    @property
    def context(self) -> int:
        """As vLLM says, which `max_model_len` bounds; 2 048 tokens before it is open."""
        return self._context

    async def open(self, report: Report) -> None:
        """Load the weights and start vLLM; see `LanguageModel.open`."""
        if self._llm is not None:
            return
        if importlib.util.find_spec("vllm") is None:
            raise BadInput("vLLM is not there", where="--engine vllm", do="pip install 'mcp-world[vllm]'")
        report(f"loading {self.model}")
        await anyio.to_thread.run_sync(self._load, report)
        llm: Any = self._llm
        try:
            self._tokens = Tokens(llm.get_tokenizer(), self.model)
        except BadInput:
            await self.close()
            raise
        self._context = int(llm.model_config.max_model_len)

    def _load(self, report: Report) -> None:
        os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
        with holding(report) as said:
            try:
                from vllm import AsyncEngineArgs
                from vllm.v1.engine.async_llm import AsyncLLM

                self._check({field.name for field in dataclasses.fields(AsyncEngineArgs)})
                self._llm = AsyncLLM.from_engine_args(AsyncEngineArgs(model=self.model, **self.options))
            except BadInput:
                raise
            except Exception as error:
                raise self._why(error, said) from None
        said.loud()
        logging.getLogger("vllm").setLevel(logging.WARNING)

    def _check(self, known: set[str]) -> None:
        """Refuse options that vLLM does not have."""
        for name in self.options:
            if name not in known:
                near = difflib.get_close_matches(name, known, 3)
                raise BadInput(
                    f"vLLM has no option {name!r}",
                    where="--engine-option",
                    do=f"Did you mean {' or '.join(near)}?"
                    if near
                    else "See the engine arguments in vLLM's documentation.",
                )

    def _why(self, error: Exception, said: Said) -> BadInput:
        """Why it did not load, in a line that says what to do."""
        text = str(error)
        for signs, what, do in _FAILURES:
            cause = text if any(sign in text for sign in signs) else said.last(*signs)
            if cause:
                return BadInput(f"{what} ({_line(cause)})", where=self.model, do=do)
        cause = said.last("Error: ") if "root cause" in text else text
        return BadInput(f"vLLM did not start: {_line(cause or text)}", where=self.model, do="Or take another engine.")

    async def close(self) -> None:
        """Stop vLLM and give the memory back."""
        if self._llm is not None:
            self._llm.shutdown()
            self._llm = self._tokens = None
            gc.collect()  # it is part of a circle, and what it does when it goes needs a living interpreter

    async def count(self, text: str) -> int:
        """By the model's own tokenizer."""
        assert self._tokens is not None
        return self._tokens.count(text)

    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        """One request of the batch, aborted where it goes round in circles; see `LanguageModel.reply`."""
        if self._llm is None or self._tokens is None:
            raise ModelError("the model is not open")
        asked, thinking = self._tokens.render(messages)
        if self.options.get("reasoning_parser"):
            thinking = "none"  # vLLM itself binds only what comes after the thinking
        key = b"" if grammar is None else encode(grammar.schema)
        while True:
            tag = self._bound(grammar, self._steps.get(key, 0), thinking)
            try:
                return await self._generate(asked, sampling, tag)
            except ValueError as error:  # before anything was generated: a grammar that it cannot build
                if tag is None:
                    raise ModelError(_line(str(error))) from None
                self._steps[key] = self._steps.get(key, 0) + 1
            except Exception as error:
                raise ModelError(f"vLLM failed: {_line(str(error) or type(error).__name__)}") from None

    def _bound(self, grammar: Grammar | None, step: int, thinking: Thinking) -> dict[str, Any] | None:
        """The structural tag of a grammar, the looser one at the second step; None where neither could be built."""
        if grammar is None or step > 1:
            return None
        return (grammar.loose() if step else grammar).structural_tag(thinking)

    async def _generate(self, asked: list[int], sampling: Sampling, tag: dict[str, Any] | None) -> Reply:
        from vllm import SamplingParams
        from vllm.inputs.engine import tokens_input
        from vllm.lora.request import LoRARequest
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        params = SamplingParams(
            max_tokens=sampling.limit,
            temperature=sampling.temperature,
            seed=sampling.seed,
            output_kind=RequestOutputKind.DELTA,
            stream_interval=_STRIDE,
            structured_outputs=None if tag is None else StructuredOutputsParams(structural_tag=json.dumps(tag)),
        )
        lora = LoRARequest("adapter", 1, self._lora) if self._lora else None
        text, said, cached = "", 0, 0
        finish: Finish = "stop"
        outputs = self._llm.generate(tokens_input(asked), params, f"step-{next(self._numbers)}", lora_request=lora)
        try:
            async for output in outputs:
                made = output.outputs[0]
                text += made.text
                said += len(made.token_ids)
                cached = output.num_cached_tokens or cached
                if made.finish_reason == "length":
                    finish = "length"
                elif made.finish_reason is None and looping(text):
                    finish = "looping"
                    break
        finally:
            await outputs.aclose()  # which aborts what is not finished
        return Reply(text, "", finish, len(asked), cached, said)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
