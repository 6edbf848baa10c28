"""The engine `vllm` against vLLM alone on the same prompts, seeds, grammars and batch; and how its answers fare."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from mcp_world import Action, World, load_one
from mcp_world.core.types import Json
from mcp_world.engines.contract import Report
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.grammar import Grammar
from mcp_world.engines.language.model import LanguageModel, Message, Reply, Sampling

MODEL = "MCP_WORLD_BENCH_MODEL"
"""The variable that names the model; where it is not set, the one of the tests (135 M parameters), on the CPU."""

OPTIONS = "MCP_WORLD_BENCH_OPTIONS"
"""vLLM's engine arguments, as a JSON object."""

SPEC = "weather"
CITIES = ("Oslo", "Rome", "Lima", "Cairo", "Quito", "Hanoi", "Perth", "Tunis", "Riga", "Accra")
CROWDS = (1, 8, 32)
ROUNDS = 3
STEPS = 3
LONG = 20
JUDGED = 32
TRIES = 3
LIMIT = 256


class Recorder(LanguageModel):
    """Passes on to a model, and keeps what was asked.

    Args:
        model: Which is open.
        bound: Whether grammars are passed on.
    """

    def __init__(self, model: LanguageModel, *, bound: bool = True) -> None:
        self.model = model
        self.bound = bound
        self.asked: list[tuple[Sequence[Message], Sampling, Grammar | None]] = []
        self.tokens = 0

    @property
    def context(self) -> int:
        return self.model.context

    async def open(self, report: Report) -> None: ...

    async def close(self) -> None: ...

    async def count(self, text: str) -> int:
        return await self.model.count(text)

    async def reply(self, messages: Sequence[Message], sampling: Sampling, grammar: Grammar | None) -> Reply:
        grammar = grammar if self.bound else None
        self.asked.append((messages, sampling, grammar))
        reply = await self.model.reply(messages, sampling, grammar)
        self.tokens += reply.tokens
        return reply


@dataclass
class Crowd:
    """Worlds that take their steps at once, and what came of it."""

    seconds: float
    tokens: int
    asked: list[list[tuple[Sequence[Message], Sampling, Grammar | None]]]
    notes: list[list[dict[str, Json]]] = field(default_factory=list)


async def crowd(model: LanguageModel, worlds: int, steps: int, *, tries: int = 1, bound: bool = True) -> Crowd:
    """Let worlds of one spec take steps, all at once; each step waits for the one before."""
    spec = load_one(SPEC)
    recorders = [Recorder(model, bound=bound) for _ in range(worlds)]
    made = [
        World(spec, engine=LanguageEngine(spec, recorder, "bench", tries=tries, limit=LIMIT), seed=seed)
        for seed, recorder in enumerate(recorders)
    ]
    names = [tool.name for tool in spec.tools if tool.raw["inputSchema"].get("required") == ["location"]]

    async def live(world: World, number: int) -> None:
        for step in range(steps):
            city = CITIES[(number + step) % len(CITIES)]
            await world.step(Action(names[step % len(names)], {"location": city}))

    begun = time.perf_counter()
    async with anyio.create_task_group() as tg:
        for number, world in enumerate(made):
            tg.start_soon(live, world, number)
    seconds = time.perf_counter() - begun
    notes = [[dict(note) for note in step.notes] for world in made for step in world.steps]
    return Crowd(seconds, sum(recorder.tokens for recorder in recorders), [r.asked for r in recorders], notes)


async def alone(model: Any, asked: list[list[tuple[Sequence[Message], Sampling, Grammar | None]]]) -> tuple[float, int]:
    """The same requests, each world's in their order, to vLLM with nothing of ours between: seconds and tokens."""
    from vllm import SamplingParams
    from vllm.inputs.engine import tokens_input
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    chains = []
    for requests in asked:
        chain = []
        for messages, sampling, grammar in requests:
            ids, thinking = model._tokens.render(messages)
            tag = None if grammar is None else json.dumps(grammar.structural_tag(thinking))
            params = SamplingParams(
                max_tokens=sampling.limit,
                temperature=sampling.temperature,
                seed=sampling.seed,
                output_kind=RequestOutputKind.FINAL_ONLY,
                structured_outputs=None if tag is None else StructuredOutputsParams(structural_tag=tag),
            )
            chain.append((ids, params))
        chains.append(chain)
    tokens = 0

    async def run(number: int, chain: list[Any]) -> None:
        nonlocal tokens
        for step, (ids, params) in enumerate(chain):
            async for output in model._llm.generate(tokens_input(ids), params, f"alone-{number}-{step}-{begun}"):
                tokens += len(output.outputs[0].token_ids)

    begun = time.perf_counter()
    async with anyio.create_task_group() as tg:
        for number, chain in enumerate(chains):
            tg.start_soon(run, number, chain)
    return time.perf_counter() - begun, tokens


@asynccontextmanager
async def opened(console: Console) -> AsyncIterator[Any]:
    """The model, open."""
    from mcp_world.engines.language.vllm import BatchedModel

    name, options = os.environ.get(MODEL, ""), json.loads(os.environ.get(OPTIONS, "{}"))
    if not name:
        from tests.language.small_model import folder

        os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
        os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
        name, options = str(folder()), {"max_model_len": 8_192, "enforce_eager": True, **options}
    model = BatchedModel(name, **options)
    with console.status(f"loading {name}"):
        await model.open(lambda _: None)
    console.print(f"vLLM {_version('vllm')}, {Path(name).name}, {_device()}")
    try:
        yield model
    finally:
        await model.close()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    for name in (package, f"{package}-cpu"):
        with suppress(PackageNotFoundError):
            return version(name)
    return "?"


def _device() -> str:
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{os.cpu_count()} CPUs, {platform.machine()}"


async def throughput(model: Any, progress: Progress) -> Table:
    """Tokens/s of the engine and of vLLM alone; rounds in turn, the median of each."""
    table = Table(title=f"tokens/s, {STEPS} steps a world, all worlds at once", title_justify="left")
    for column in ("worlds", "engine vllm", "vLLM alone", "ratio"):
        table.add_column(column, justify="right")
    task = progress.add_task("tokens/s", total=len(CROWDS) * ROUNDS)
    for worlds in CROWDS:
        await crowd(model, worlds, 1)  # grammars are compiled once
        ours, theirs = [], []
        for _ in range(ROUNDS):
            await model._llm.reset_prefix_cache()
            made = await crowd(model, worlds, STEPS)
            ours.append(made.tokens / made.seconds)
            await model._llm.reset_prefix_cache()
            seconds, tokens = await alone(model, made.asked)
            theirs.append(tokens / seconds)
            progress.advance(task)
        ratio = median(a / b for a, b in zip(ours, theirs, strict=True))
        table.add_row(str(worlds), f"{median(ours):,.0f}", f"{median(theirs):,.0f}", f"{ratio:.2f}")
    return table


async def validity(model: Any, progress: Progress) -> Table:
    """How the answers of many worlds fare, with the grammar and without."""
    table = Table(title=f"{JUDGED} worlds of {STEPS} steps, at most {TRIES} tries a step", title_justify="left")
    for column in (
        "grammar",
        "valid at the first try",
        "after a repair",
        "tries a step",
        "fell back",
        "valid in the end",
    ):
        table.add_column(column, justify="right")
    task = progress.add_task("validity", total=2)
    for bound in (True, False):
        made = await crowd(model, JUDGED, STEPS, tries=TRIES, bound=bound)
        steps = len(made.notes)
        first = [notes[0]["outcome"] for notes in made.notes]
        asked = sum(sum("tokens" in note for note in notes) for notes in made.notes)
        fell = sum(any(note["outcome"] == "fallback" for note in notes) for notes in made.notes)
        ended = sum(notes[-1]["outcome"] in ("valid", "repaired", "fallback") for notes in made.notes)
        table.add_row(
            "on" if bound else "off",
            f"{first.count('valid') / steps:.2f}",
            f"{first.count('repaired') / steps:.2f}",
            f"{asked / steps:.2f}",
            f"{fell / steps:.2f}",
            f"{ended / steps:.2f}",
        )
        progress.advance(task)
    return table


async def cache(model: Any, progress: Progress) -> str:
    """The share of prompt tokens that the prefix cache had, in one long world."""
    task = progress.add_task("prefix cache", total=1)
    await model._llm.reset_prefix_cache()
    made = await crowd(model, 1, LONG)
    said = [note for notes in made.notes for note in notes if "tokens" in note]
    prompt = sum(note["prompt_tokens"] for note in said)
    cached = sum(note.get("cached_tokens", 0) for note in said)
    progress.advance(task)
    return f"prefix cache, a world of {LONG} steps: {cached / prompt:.2f} of {prompt:,} prompt tokens"


async def measure(console: Console) -> None:
    async with opened(console) as model:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            parts = [await part(model, progress) for part in (throughput, cache, validity)]
        for part in parts:
            console.print(part)


def run(console: Console) -> None:
    """Print the tables."""
    if importlib.util.find_spec("vllm") is None:
        console.print("language: left out, for vLLM is not there (make test-models makes .venv-models, which has it)")
        return
    anyio.run(measure, console)
