"""What this machine can run: GPUs, packages, weights at hand, servers that answer."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2

_SERVERS = {
    "vLLM": "http://127.0.0.1:8000/v1",
    "SGLang": "http://127.0.0.1:30000/v1",
    "llama.cpp": "http://127.0.0.1:8080/v1",
    "Ollama": "http://127.0.0.1:11434/v1",
}
"""Where servers listen that were started without a port of their own."""

WORLD_MODEL = "Qwen/Qwen-AgentWorld-35B-A3B"
_HEADROOM = 1.25
"""Memory that a model takes to run, to that of its weights alone."""

_CPU_MOST = 8.0
_PACKAGES = {"vllm": ("vllm",), "openai": ("openai",), "transformers": ("transformers", "torch", "xgrammar")}


@dataclass(frozen=True)
class Gpu:
    """A GPU.

    Args:
        name: As its driver calls it.
        memory: GiB that it has.
        free: GiB of them that nothing uses.
    """

    name: str
    memory: float
    free: float


@dataclass(frozen=True)
class Weights:
    """Weights in the Hugging Face cache.

    Args:
        name: Of the model on the hub.
        size: GiB.
    """

    name: str
    size: float


@dataclass(frozen=True)
class Endpoint:
    """A server of chat completions that answers.

    Args:
        kind: What usually listens there.
        url: Its base URL.
        models: The models that it lists.
    """

    kind: str
    url: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """An engine to take.

    Args:
        engine: Its name.
        why: A reason, as a clause.
        model: The model.
        base_url: The server, for `openai`.
    """

    engine: str
    why: str
    model: str = ""
    base_url: str = ""

    @property
    def command(self) -> str:
        """The command that serves with it."""
        words = ["mcp-world", "serve", "SPEC"]
        for flag, value in (("--engine", self.engine), ("--model", self.model), ("--base-url", self.base_url)):
            if value and value != "procedural":
                words += [flag, shlex.quote(value)]
        return " ".join(words)


@dataclass(frozen=True)
class Findings:
    """What was found on this machine."""

    gpus: tuple[Gpu, ...]
    packages: frozenset[str]
    weights: tuple[Weights, ...]
    endpoints: tuple[Endpoint, ...]

    @property
    def gpu_memory(self) -> float:
        """GiB of all GPUs."""
        return sum(gpu.memory for gpu in self.gpus)

    def best(self, model: str = "", base_url: str = "") -> Choice:
        """The best engine for what is here, or for a model or a server that was named."""
        if base_url:
            return Choice("openai", "a server was named", model, base_url)
        if "openai" in self.packages:
            for endpoint in self.endpoints:
                served = [name for name in endpoint.models if not model or name == model]
                if served:
                    chosen = next((name for name in served if "agentworld" in name.casefold()), served[0])
                    return Choice("openai", f"a server at {endpoint.url} answers", chosen, endpoint.url)
        if model and Path(model).is_dir():
            fitting = [Weights(model, _size(Path(model)))]
        else:
            fitting = [each for each in self.weights if not model or each.name == model]
        fitting.sort(key=lambda each: ("agentworld" not in each.name.casefold(), -each.size))
        for each in fitting:
            if self.gpus and "vllm" in self.packages and each.size * _HEADROOM <= self.gpu_memory:
                return Choice("vllm", f"there is a GPU, and the weights ({each.size:.1f} GiB) fit", each.name)
        for each in fitting:
            if "transformers" in self.packages and each.size <= _CPU_MOST:
                return Choice("transformers", f"the weights ({each.size:.1f} GiB) are small enough", each.name)
        return Choice("procedural", "it needs no model, and none that could run was found")

    def rows(self) -> Iterator[tuple[str, str]]:
        """What a person is shown, in two columns."""
        yield "GPU", "\n".join(f"{g.name}, {g.memory:.0f} GiB ({g.free:.0f} free)" for g in self.gpus) or "none"
        for name in _PACKAGES:
            there = "installed" if name in self.packages else f"not installed: pip install 'mcp-world[{name}]'"
            yield f"engine {name}", there
        yield "weights", "\n".join(f"{each.name}, {each.size:.1f} GiB" for each in self.weights) or "none"
        shown = (f"{each.url} ({each.kind}): {', '.join(each.models) or 'no models'}" for each in self.endpoints)
        yield "servers", "\n".join(shown) or "none answers at " + ", ".join(_addresses().values())

    def hints(self) -> Iterator[str]:
        """What would make more of this machine."""
        if not self.gpus or self.best().engine in ("vllm", "openai"):
            return
        if "vllm" not in self.packages:
            yield "With vLLM the GPU could run a model: pip install 'mcp-world[vllm]'"
        else:
            yield f"With weights the GPU could run a model: hf download {WORLD_MODEL} (about 70 GiB)"


async def examine() -> Findings:
    """Look at this machine; no server but those on it and the one in OPENAI_BASE_URL is asked."""
    found: dict[str, Endpoint] = {}

    async def ask(kind: str, url: str) -> None:
        endpoint = await _ask(kind, url)
        if endpoint is not None:
            found[url] = endpoint

    places = _addresses()
    async with anyio.create_task_group() as tg:
        for kind, url in places.items():
            tg.start_soon(ask, kind, url)
    packages = frozenset(
        name for name, needed in _PACKAGES.items() if all(importlib.util.find_spec(each) is not None for each in needed)
    )
    endpoints = tuple(found[url] for url in places.values() if url in found)
    return Findings(tuple(gpus()), packages, tuple(weights()), endpoints)


def gpus() -> Iterator[Gpu]:
    """NVIDIA's GPUs, as `nvidia-smi` lists them."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return
    asked = [program, "--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits"]
    try:
        answer = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return
    for line in answer.splitlines():
        name, *sizes = (cell.strip() for cell in line.rsplit(",", 2))
        if len(sizes) == 2 and all(size.isdigit() for size in sizes):
            yield Gpu(name, int(sizes[0]) / 1024, int(sizes[1]) / 1024)


def weights() -> Iterator[Weights]:
    """Models in the Hugging Face cache whose weights are whole."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    hub = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    for folder in sorted(hub.glob("models--*")):
        for snapshot in sorted((folder / "snapshots").glob("*")):
            size = _size(snapshot)
            if size and (snapshot / "config.json").exists():
                yield Weights(folder.name.removeprefix("models--").replace("--", "/"), size)
                break


def _size(folder: Path) -> float:
    """GiB of the weights in a folder."""
    return sum(path.stat().st_size for path in folder.glob("*.safetensors") if path.exists()) / 2**30


def _addresses() -> dict[str, str]:
    """Where a server may answer, by what it usually is."""
    named = os.environ.get("OPENAI_BASE_URL")
    return {**({"OPENAI_BASE_URL": named.rstrip("/")} if named else {}), **_SERVERS}


async def _ask(kind: str, url: str) -> Endpoint | None:
    """The server at an address, if one lists its models there."""
    key = os.environ.get("OPENAI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key and kind == "OPENAI_BASE_URL" else {}
    try:
        async with httpx2.AsyncClient(timeout=2.0, trust_env=kind == "OPENAI_BASE_URL") as client:
            answer = (await client.get(f"{url}/models", headers=headers)).json()
        return Endpoint(kind, url, tuple(str(entry["id"]) for entry in answer["data"]))
    except (httpx2.HTTPError, ValueError, LookupError, TypeError):
        return None
