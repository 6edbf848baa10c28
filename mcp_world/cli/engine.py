"""Which engine answers: the flags that say so, and opening it while a person watches."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import yaml
from cyclopts import Parameter
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from mcp_world.cli.app import err
from mcp_world.core.errors import BadInput
from mcp_world.spec.files import read_text
from mcp_world.world.worlds import Worlds


@Parameter(name="*")
@dataclass
class ModelFlags:
    """What a language engine is told.

    Parameters
    ----------
    model
        The language model: a name on the hub, a folder of weights, or a name that the server at --base-url knows.
    base_url
        An OpenAI-compatible server, such as http://127.0.0.1:8000/v1; OPENAI_BASE_URL where none is given.
    prompts
        A folder of system prompts, mcp/system_prompt.txt in it; our own where none is given.
    instructions
        How this world is to differ from the real one, in words for the model; @FILE reads them from a file.
    temperature
        Of the model's draws; 0.6 where none is given.
    max_tokens
        Tokens that a reply may have, thinking included; at most a quarter of the context.
    tries
        How often the model is asked for one step before the procedural engine answers; 3 where none is given.
    keep_thinking
        Keep what the model thought in the journal.
    engine_option
        NAME=VALUE for the engine itself, such as tensor_parallel_size=4 for vllm.
    """

    model: str = ""
    base_url: str = ""
    prompts: Path | None = None
    instructions: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    tries: int | None = None
    keep_thinking: bool = False
    engine_option: list[str] | None = None

    def given(self) -> dict[str, Any]:
        """What was said, as an engine takes it.

        Raises:
            BadInput: An option has no name, or a number is out of range.
        """
        for flag, value, least in (
            ("--temperature", self.temperature, 0),
            ("--max-tokens", self.max_tokens, 16),
            ("--tries", self.tries, 0),
        ):
            if value is not None and value < least:
                raise BadInput(f"{value} is too small", where=flag, do=f"Use {least} or more.")
        said = {
            "model": self.model,
            "base_url": self.base_url,
            "prompts": self.prompts,
            "instructions": self._instructions(),
            "temperature": self.temperature,
            "limit": self.max_tokens,
            "tries": self.tries,
            "keep_thinking": self.keep_thinking,
            "options": dict(map(_option, self.engine_option or [])),
        }
        return {name: value for name, value in said.items() if value or (value == 0 and value is not False)}

    def _instructions(self) -> str:
        text = self.instructions
        return read_text(Path(text[1:])) if text.startswith("@") else text


def _option(text: str) -> tuple[str, Any]:
    """A name and its value, which is read as YAML: numbers, true and false, lists, words."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadInput(f"{text!r} is no NAME=VALUE", where="--engine-option", do="Write it like max_model_len=32768.")
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:
        read = value
    plain = isinstance(read, bool | int | float | str | list | dict)
    return name.strip().replace("-", "_"), read if plain else value


@asynccontextmanager
async def opened(worlds: Worlds) -> AsyncIterator[None]:
    """Load what the worlds' engines need, showing in a terminal how far it is, and let go of it in the end."""
    engines = list(dict.fromkeys(world.engine for world in worlds))
    with os.fdopen(os.dup(2), "w") as screen:  # of its own: what libraries print meanwhile is held back
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        console = Console(file=screen, highlight=False)
        with Progress(
            *columns,
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not console.is_terminal,
        ) as bar:
            task = bar.add_task("")
            for engine in engines:
                await engine.open(lambda what: bar.update(task, description=what))
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            for engine in engines:
                await engine.close()


def told(engine: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The engine of this name; for `auto`, the best that this machine has, which is said on stderr."""
    if engine != "auto":
        return engine, given
    from mcp_world.engines.language.doctor import examine

    best = anyio.run(examine).best(given.get("model", ""), given.get("base_url", ""))
    err.print(
        f"engine auto: {best.engine}" + (f", {best.model}" if best.model else "") + f" ({best.why})", markup=False
    )
    if best.engine == "procedural":
        return best.engine, {}
    found = {"model": best.model, "base_url": best.base_url}
    return best.engine, {**given, **{name: value for name, value in found.items() if value}}
