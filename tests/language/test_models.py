"""One contract for all language models, on a real one: `make test-models`.

A model of 135 M parameters fabricates poorly; what is tested is the contract, not its wisdom.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_world import Action, World, load_one, parse
from mcp_world.engines.language import openai, transformers, vllm
from mcp_world.engines.language.answer import read
from mcp_world.engines.language.engine import LanguageEngine
from mcp_world.engines.language.grammar import ERROR, Grammar
from mcp_world.engines.language.model import LanguageModel, Message, Sampling
from mcp_world.spec.schema import Schema
from mcp_world.verify.schema import conforms
from tests.conftest import ROOT, case

pytestmark = [pytest.mark.anyio, pytest.mark.models]

CONTEXT = 2_048
ON_CPU = {"VLLM_TARGET_DEVICE": "cpu", "VLLM_CPU_KVCACHE_SPACE": "1"}
MODULES = {"transformers": transformers, "vllm": vllm, "openai": openai}
HELLO = [Message("system", "You are a helpful assistant."), Message("user", "Say hello in a few words.")]
FORECAST = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 40},
        "days": {"type": "array", "items": {"$ref": "#/$defs/day"}, "minItems": 1, "maxItems": 2},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
    "$defs": {
        "day": {
            "type": "object",
            "properties": {"celsius": {"type": "integer"}, "sky": {"enum": ["clear", "cloudy", "rain"]}},
            "required": ["celsius", "sky"],
            "additionalProperties": False,
        }
    },
}


@pytest.fixture(scope="session", autouse=True)
def without_a_gpu() -> None:
    """vLLM is told that there is none, unless the environment says what there is."""
    for name, value in ON_CPU.items():
        os.environ.setdefault(name, value)


@pytest.fixture(scope="session")
def weights() -> Path:
    from tests.language.small_model import folder

    return folder()


@pytest.fixture(scope="session", params=list(MODULES))
async def model(request: pytest.FixtureRequest, weights: Path) -> AsyncIterator[LanguageModel]:
    """Each model in turn, open."""
    if request.param == "transformers":
        made: LanguageModel = transformers.LocalModel(str(weights), context=CONTEXT)
    elif request.param == "vllm":
        made = vllm.BatchedModel(str(weights), max_model_len=CONTEXT, enforce_eager=True)
    with vllm_serve(weights) if request.param == "openai" else nullcontext("") as url:
        if url:
            made = openai.ChatModel("", url)
        await made.open(lambda _: None)
        yield made
        await made.close()


@contextmanager
def vllm_serve(weights: Path) -> Iterator[str]:
    """`vllm serve` on a free port; stopped by its own pid."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server",  # `vllm serve`, which vllm-cpu's own script cannot start
        "--model", str(weights), "--host", "127.0.0.1", "--port", str(port),
        "--max-model-len", str(CONTEXT), "--enforce-eager", "--served-model-name", "tiny", "--enable-prompt-tokens-details",
    ]  # fmt: skip
    log = Path(os.environ.get("TMPDIR", "/tmp")) / f"vllm-serve-{os.getpid()}.log"
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            for _ in range(600):
                if process.poll() is not None:
                    raise AssertionError(log.read_text()[-4_000:])
                try:
                    if httpx2.get(f"http://127.0.0.1:{port}/health", timeout=5).status_code == 200:
                        break
                except httpx2.HTTPError:
                    time.sleep(0.5)
            else:
                raise AssertionError(f"it did not start: {log.read_text()[-4_000:]}")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()
            process.wait(60)
            log.unlink()


def drawn(limit: int = 200, seed: int = 1) -> Sampling:
    return Sampling(limit, 0.6, seed)


async def test_it_knows_its_context_and_counts_by_its_own_tokenizer(model: LanguageModel) -> None:
    assert model.context == CONTEXT
    one, ten = await model.count("hello world"), await model.count("hello world " * 10)
    assert 1 <= one <= 4
    assert 8 * one <= ten <= 12 * one


async def test_it_replies_and_says_what_that_cost(model: LanguageModel) -> None:
    reply = await model.reply(HELLO, drawn(), None)
    assert reply.text.strip()
    assert "<|im_end|>" not in reply.text
    assert reply.finish == "stop"
    assert 0 < reply.tokens <= 200
    assert reply.prompt_tokens == pytest.approx(await model.count(HELLO[0].content + HELLO[1].content), abs=20)


async def test_a_reply_ends_at_its_limit(model: LanguageModel) -> None:
    long = [HELLO[0], Message("user", "Count from 1 to 1000, one number a line.")]
    reply = await model.reply(long, drawn(limit=24), None)
    assert (reply.finish, reply.tokens) == ("length", 24)


async def test_the_same_seed_draws_the_same_reply_and_another_draws_another(model: LanguageModel) -> None:
    story = [HELLO[0], Message("user", "Tell me a story about a fox.")]
    first, again, other = [await model.reply(story, drawn(64, seed), None) for seed in (1, 1, 2)]
    assert first.text == again.text
    assert first.text != other.text


async def test_a_grammar_binds_the_reply(model: LanguageModel) -> None:
    either = Schema({"anyOf": [Schema(FORECAST).checked, ERROR], "$defs": FORECAST["$defs"]})
    for seed in range(4):
        asked = [HELLO[0], Message("user", "The weather in Oslo, as JSON.")]
        reply = await model.reply(asked, drawn(300, seed), Grammar(FORECAST))
        if reply.finish != "stop":
            continue
        answer = read(reply.text, data=True)
        value = {"isError": True, "message": answer.text} if answer.kind == "error" else answer.value
        assert either.is_valid(value), reply.text


async def test_a_grammar_that_a_decoder_cannot_build_still_gets_a_reply(model: LanguageModel) -> None:
    odd = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "pattern": "^(?=.*x)(?!y)a+$"},
            "b": {"type": "integer", "multipleOf": 7},
        },
        "required": ["a"],
        "not": {"required": ["c"]},
        "patternProperties": {"^x-": {"type": "integer"}},
    }
    reply = await model.reply([HELLO[0], Message("user", "Some JSON.")], drawn(60), Grammar(odd))
    assert reply.tokens > 0


async def test_a_reply_that_goes_round_in_circles_is_cut(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    module = next(each for each in MODULES.values() if type(model).__module__ == each.__name__)
    monkeypatch.setattr(module, "looping", lambda text: len(text) > 40)
    count = [HELLO[0], Message("user", "Count from 1 to 1000, one number a line.")]
    reply = await model.reply(count, drawn(limit=400), None)
    assert reply.finish == "looping"
    assert len(reply.text) < 600


async def test_every_step_of_a_world_is_valid(model: LanguageModel) -> None:
    spec = load_one("weather")
    engine = LanguageEngine(spec, model, "small", tries=2, limit=300)
    world = World(spec, engine=engine, seed=5)
    for name in [tool.name for tool in spec.tools][:5]:
        tool = spec.by_name[name]
        seen = await world.step(Action(name, _arguments(tool.raw["inputSchema"])))
        assert conforms(tool, seen) == []
        outcomes = [note["outcome"] for note in world.steps[-1].notes]
        assert set(outcomes) <= {"valid", "repaired", "refused", "fallback"}
        assert all(
            note.get("why", "every try was refused") == "every try was refused" for note in world.steps[-1].notes
        )


async def test_a_keyword_that_the_decoder_ignores_costs_no_validity(model: LanguageModel) -> None:
    schema = case("length_beside_pattern")["schema"]
    spec = parse({"tools": [{"name": "get_part", "inputSchema": {"type": "object"}, "outputSchema": schema}]}, name="p")
    world = World(spec, engine=LanguageEngine(spec, model, "small", tries=1, limit=120), seed=5)
    for _ in range(3):
        seen = await world.step(Action("get_part", {}))
        assert conforms(spec.tools[0], seen) == []


async def test_worlds_are_stepped_at_once_and_each_keeps_its_own(model: LanguageModel) -> None:
    spec = load_one("weather")
    engine = LanguageEngine(spec, model, "small", tries=1, limit=200)
    worlds = [World(spec, engine=engine, seed=seed) for seed in range(4)]
    cities = ["Oslo", "Rome", "Lima", "Cairo"]
    async with anyio.create_task_group() as tg:
        for world, city in zip(worlds, cities, strict=True):
            tg.start_soon(world.step, Action("get_current_weather", {"location": city}))
    for world, city in zip(worlds, cities, strict=True):
        assert [step.arguments for step in world.steps] == [{"location": city}]
        assert conforms(spec.by_name["get_current_weather"], world.steps[0].committed) == []


async def test_a_long_world_never_overflows_the_context(model: LanguageModel) -> None:
    spec = load_one("weather")
    world = World(spec, engine=LanguageEngine(spec, model, "small", tries=1, limit=100), seed=5)
    for n in range(12):
        await world.step(Action("get_current_weather", {"location": f"Place number {n}, " + "by the long river " * 8}))
        why = [note.get("why") for note in world.steps[-1].notes if note["outcome"] == "fallback"]
        assert why in ([], ["every try was refused"])
    assert all(
        note["prompt_tokens"] + 100 <= CONTEXT for step in world.steps for note in step.notes if "tokens" in note
    )


async def test_the_prompt_of_a_step_is_served_from_the_prefix_cache(model: LanguageModel) -> None:
    if isinstance(model, transformers.LocalModel):
        pytest.skip("transformers keeps no cache from one reply to the next")
    asks = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [{"name": "get_forecast", "inputSchema": asks, "outputSchema": FORECAST}]
    spec = parse({"tools": tools}, name="forecasts")  # so small that no turn has to go
    world = World(spec, engine=LanguageEngine(spec, model, "small", tries=1, limit=100), seed=5)
    for city in ("Oslo", "Rome", "Lima"):
        await world.step(Action("get_forecast", {"city": city}))
    last = next(note for note in world.steps[-1].notes if "tokens" in note)
    assert last["cached_tokens"] > 0.6 * last["prompt_tokens"]


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
async def test_a_real_client_talks_to_it_over_stdio(engine: str, weights: Path, tmp_path: Path) -> None:
    options = ["context=2048"] if engine == "transformers" else ["max_model_len=2048", "enforce_eager=true"]
    flags = ["--engine", engine, "--model", str(weights), "--tries", "1", "--max-tokens", "200"]
    for option in options:
        flags += ["--engine-option", option]
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_world", "serve", "weather", *flags, "--journal", str(tmp_path / "j.db")],
        cwd=ROOT,
        env=dict(os.environ),
    )
    with (tmp_path / "log").open("w") as log:
        async with Client(stdio_client(command, errlog=log)) as client:
            result = await client.call_tool("get_current_weather", {"location": "Oslo"})
    assert result.structured_content is not None
    spec = load_one("weather")
    output = spec.by_name["get_current_weather"].output
    assert output is not None
    assert output.is_valid(result.structured_content)


def _arguments(schema: dict[str, Any]) -> dict[str, Any]:
    samples = {"string": "Oslo", "integer": 2, "number": 2.5, "boolean": True, "array": [], "object": {}}
    properties = schema["properties"]
    return {name: samples[properties[name]["type"]] for name in schema.get("required", [])}
