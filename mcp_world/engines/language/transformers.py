"""Local weights in this process, with Hugging Face's transformers: for small models, where there is nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from threading import Event
from typing import Any

import anyio
import anyio.to_thread

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.engines.contract import Report
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.grammar import Grammar, Thinking
from mcp_world.engines.language.loading import holding
from mcp_world.engines.language.looping import looping
from mcp_world.engines.language.model import Finish, LanguageModel, Message, ModelError, Reply, Sampling
from mcp_world.engines.language.tokens import Tokens
from mcp_world.spec.model import ServerSpec

_STRIDE = 16
"""Tokens between two looks at whether a reply goes round in circles."""

_TAIL = 600


def engine(
    spec: ServerSpec, *, model: str = "", base_url: str = "", options: Mapping[str, Any] | None = None, **settings: Any
) -> LanguageEngine:
    """The engine `transformers`.

    Args:
        spec: The server.
        model: A folder of weights, or a name on the Hugging Face hub.
        base_url: Not used; weights have none.
        options: Of `AutoModelForCausalLM.from_pretrained`, and `context` for fewer tokens than the model can hold.
        settings: Of `LanguageEngine`.
    """
    return LanguageEngine(spec, _shared(model, encode(dict(options or {}))), "transformers", **settings)


@cache
def _shared(model: str, options: bytes) -> LocalModel:
    return LocalModel(model, **json.loads(options))


class LocalModel(LanguageModel):
    """Weights in this process. Replies are made one after another.

    Args:
        model: A folder, or a name on the Hugging Face hub.
        context: How many tokens it may hold; as many as it can, where none is given.
        options: Of `AutoModelForCausalLM.from_pretrained`, such as `dtype` and `device_map`.
    """

    def __init__(self, model: str, *, context: int = 0, **options: Any) -> None:
        if not model:
            raise BadInput("no model was named", where="--engine transformers", do="Name one with --model.")
        self.model = model
        self._context = context
        self._options = options
        self._weights: Any = None
        self._tokens: Tokens | None = None
        self._compiler: Any = None
        self._compiled: dict[bytes, Any] = {}
        self._one = anyio.CapacityLimiter(1)

    @property
    def context(self) -> int:
        """As it was given, or as its configuration says; 2 048 tokens before it is open."""
        return self._context or 2_048

    async def open(self, report: Report) -> None:
        """Load the weights; see `LanguageModel.open`."""
        if self._weights is None:
            report(f"loading {self.model}")
            self._one = anyio.CapacityLimiter(1)
            with holding(report):
                await anyio.to_thread.run_sync(self._load)

    def _load(self) -> None:
        try:
            import torch
            import transformers
            import xgrammar
        except ImportError as error:
            raise BadInput(
                f"the package `{error.name}` is not there",
                where="--engine transformers",
                do="pip install 'mcp-world[transformers]'",
            ) from None
        transformers.logging.disable_progress_bar()
        options = {"dtype": "auto", **self._options}
        if torch.cuda.is_available():
            options.setdefault("device_map", "auto")
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.model)
            weights = transformers.AutoModelForCausalLM.from_pretrained(self.model, **options)
        except (OSError, ValueError, TypeError) as error:
            raise BadInput(
                f"its weights cannot be loaded: {str(error).strip().splitlines()[0]}",
                where=self.model,
                do="Give a folder that `hf download` wrote, or a name on the hub that can be reached.",
            ) from None
        except (MemoryError, torch.OutOfMemoryError):
            raise BadInput(
                "it does not fit into memory", where=self.model, do="Take a smaller or a quantised model."
            ) from None
        self._tokens = Tokens(tokenizer, self.model)
        config = weights.config.get_text_config()
        longest = int(getattr(config, "max_position_embeddings", 0) or 2_048)
        self._context = min(self._context or longest, longest)
        info = xgrammar.TokenizerInfo.from_huggingface(tokenizer, vocab_size=config.vocab_size)
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=2)
        self._weights = weights.eval()

    async def close(self) -> None:
        """Let go of the weights."""
        self._weights = self._compiler = self._tokens = None
        self._compiled.clear()

    async def count(self, text: str) -> int:
        """By the model's own tokenizer."""
        assert self._tokens is not None
        return self._tokens.count(text)

    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        """One reply, in a thread; see `LanguageModel.reply`."""
        stopped = Event()
        async with self._one:
            try:
                return await anyio.to_thread.run_sync(
                    self._generate, messages, sampling, grammar, stopped, abandon_on_cancel=False
                )
            except RuntimeError as error:  # torch's, out of memory among them
                raise ModelError(f"the model failed: {str(error).strip().splitlines()[0]}") from None

    def _generate(
        self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None, stopped: Event
    ) -> Reply:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList
        from xgrammar.contrib.hf import LogitsProcessor

        assert self._tokens is not None
        tokens = self._tokens
        asked, thinking = tokens.render(messages)
        finish: Finish = "stop"

        class Loop(StoppingCriteria):  # type: ignore[misc]
            """Stops a reply that goes round in circles."""

            def __call__(self, ids: Any, scores: Any, **more: Any) -> Any:
                nonlocal finish
                said = ids[0, len(asked) :]
                if len(said) % _STRIDE == 0 and looping(tokens.tokenizer.decode(said[-_TAIL:])):
                    finish = "looping"
                return torch.full((1,), finish == "looping", dtype=torch.bool, device=ids.device)

        bound = self._bound(grammar, thinking)
        drawn = (
            {"do_sample": True, "temperature": sampling.temperature} if sampling.temperature else {"do_sample": False}
        )
        ids = torch.tensor([asked], device=self._weights.device)
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(sampling.seed)
            out = self._weights.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=sampling.limit,
                logits_processor=[] if bound is None else [LogitsProcessor(bound)],
                stopping_criteria=StoppingCriteriaList([Loop()]),
                pad_token_id=tokens.tokenizer.pad_token_id or tokens.tokenizer.eos_token_id,
                **drawn,
            )
        said = out[0, len(asked) :].tolist()
        if finish != "looping" and len(said) >= sampling.limit:
            finish = "length"
        text = tokens.tokenizer.decode(said, skip_special_tokens=True)
        return Reply(text, "", finish, len(asked), 0, len(said))

    def _bound(self, grammar: Grammar | None, thinking: Thinking) -> Any:
        """The compiled grammar; a looser one, or none, where the decoder refuses it."""
        if grammar is None:
            return None
        key = encode([grammar.schema, thinking])
        if key not in self._compiled:
            self._compiled[key] = None
            for each in (grammar, grammar.loose()):
                try:
                    self._compiled[key] = self._compiler.compile_structural_tag(each.structural_tag(thinking))
                    break
                except (RuntimeError, ValueError, TypeError):
                    continue
        return self._compiled[key]
