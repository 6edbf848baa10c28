"""Language engines from the command line, and what `doctor` finds."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from mcp.client import Client

from mcp_world.engines.language.doctor import Choice, Endpoint, Findings, Gpu, Weights, gpus, weights
from mcp_world.world.journal import read_journal
from tests.conftest import mcp_world, running
from tests.language.stub_server import Stub, served

SECRET = "sk-very-secret"
WEATHER = {
    "location": "Oslo", "units": "metric", "temperature": -4.5, "feels_like": -9, "humidity": 80, "pressure": 1013,
    "wind_speed": 3, "wind_direction": 10, "condition": "snow", "observed_at": "2025-01-06T09:00:00Z",
}  # fmt: skip


@pytest.mark.anyio
async def test_a_served_world_answers_with_the_model_and_the_key_stays_out_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    journal = tmp_path / "journal.db"
    stub = Stub([json.dumps(WEATHER)], key=SECRET)
    flags = ["--engine", "openai", "--journal", str(journal), "--instructions", "It is winter."]
    with served(stub), running("weather", *flags, "--base-url", stub.url, log=tmp_path / "log") as server:
        async with Client(f"{server.agents}/mcp") as client:
            result = await client.call_tool("get_current_weather", {"location": "Oslo"})
    assert result.structured_content == WEATHER
    assert "It is winter." in stub.asked[0]["messages"][0]["content"]
    (row,) = read_journal(journal)
    assert row["engine"] == "openai"
    assert row["notes"][0]["outcome"] == "valid"
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert SECRET.encode() not in written


BAD = {
    "nothing answers": (["--engine", "openai", "--base-url", "http://127.0.0.1:9/v1"], "nothing answers there"),
    "no such option": (["--engine", "openai", "--engine-option", "colour=red"], "has no such option"),
    "no name of an option": (["--engine", "openai", "--engine-option", "red"], "NAME=VALUE"),
    "no model": (["--engine", "vllm"], "no model was named"),
    "a model for an engine that has none": (["--model", "a"], "takes no model"),
    "no folder of prompts": (["--engine", "openai", "--prompts", "/nowhere"], "system_prompt.txt"),
    "no file of instructions": (["--engine", "openai", "--instructions", "@/nowhere"], "/nowhere"),
    "too cold": (["--engine", "openai", "--temperature", "-1"], "--temperature"),
}


@pytest.mark.parametrize("row", BAD.values(), ids=BAD)
def test_bad_flags_end_in_one_line(row: tuple[list[str], str]) -> None:
    flags, says = row
    done = mcp_world("serve", "weather", *flags, "--journal", "none")
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_doctor_names_the_server_that_answers_and_the_command_for_it() -> None:
    with served(Stub(["a"])) as stub:
        done = mcp_world("doctor", env={**os.environ, "OPENAI_BASE_URL": stub.url})
    assert done.returncode == 0
    assert f"mcp-world serve SPEC --engine openai --model tiny --base-url {stub.url}" in done.stdout


def test_the_engine_auto_takes_the_server_that_answers_and_says_so() -> None:
    with served(Stub(["a"])) as stub:
        done = mcp_world(
            "serve", "weather", "--engine", "auto", "--journal", "none",
            env={**os.environ, "OPENAI_BASE_URL": stub.url}, stdin=-3,
        )  # fmt: skip
    assert done.returncode == 0
    assert f"engine auto: openai, tiny (a server at {stub.url} answers)" in done.stderr


H200 = Gpu("NVIDIA H200", 140.0, 139.0)
BIG, SMALL = Weights("Qwen/Qwen-AgentWorld-35B-A3B", 66.0), Weights("HuggingFaceTB/SmolLM2-135M-Instruct", 0.3)
ALL = frozenset({"vllm", "openai", "transformers"})
SERVER = Endpoint("vLLM", "http://127.0.0.1:8000/v1", ("other", "Qwen/Qwen-AgentWorld-35B-A3B"))

MACHINES: dict[str, tuple[Findings, tuple[str, str]]] = {
    "nothing": (Findings((), frozenset(), (), ()), ("procedural", "")),
    "a server": (Findings((H200,), ALL, (BIG,), (SERVER,)), ("openai", BIG.name)),
    "a server, and no package for it": (Findings((), frozenset(), (), (SERVER,)), ("procedural", "")),
    "a GPU and weights": (Findings((H200,), ALL, (SMALL, BIG), ()), ("vllm", BIG.name)),
    "a GPU that is too small": (Findings((Gpu("T4", 16, 16),), ALL, (BIG,), ()), ("procedural", "")),
    "two GPUs that together are not": (Findings((Gpu("L40", 48, 48),) * 2, ALL, (BIG,), ()), ("vllm", BIG.name)),
    "small weights and no GPU": (Findings((), ALL, (SMALL, BIG), ()), ("transformers", SMALL.name)),
}  # fmt: skip


@pytest.mark.parametrize("row", MACHINES.values(), ids=MACHINES)
def test_the_best_engine_for_a_machine(row: tuple[Findings, tuple[str, str]]) -> None:
    found, best = row
    choice = found.best()
    assert (choice.engine, choice.model) == best


def test_a_named_model_is_the_one_that_is_taken() -> None:
    found = Findings((H200,), ALL, (SMALL, BIG), (SERVER,))
    assert found.best(SMALL.name) == Choice("vllm", "there is a GPU, and the weights (0.3 GiB) fit", SMALL.name)


def test_gpus_are_read_from_their_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 143771, 143000'\necho 'NVIDIA H200, 143771, 1024'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert [(gpu.name, round(gpu.memory), round(gpu.free)) for gpu in gpus()] == [
        ("NVIDIA H200", 140, 140), ("NVIDIA H200", 140, 1),
    ]  # fmt: skip


def test_weights_are_those_of_the_cache_that_are_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for name, files in {"a": ["config.json", "model.safetensors"], "b": ["config.json"]}.items():
        folder = tmp_path / f"models--org--{name}" / "snapshots" / "1"
        folder.mkdir(parents=True)
        for file in files:
            (folder / file).write_bytes(b"x" * 1024)
    assert [each.name for each in weights()] == ["org/a"]
