"""What the tests share: real data where it is there, worlds in one line, servers that are stopped by their own pid."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mcp_world import Action, World, load_one, parse

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
REAL_SPECS = sorted((SHARED / "real" / "specs").glob("*.json"))
NODE_MODULES = ROOT / "tests" / "typescript" / "node_modules"

needs_shared = pytest.mark.skipif(not REAL_SPECS, reason="the recorded servers are not there")
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (NODE_MODULES / ".ready").exists(), reason="Node and its packages are not there"
)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


def case(name: str) -> dict[str, Any]:
    """One of the shared cases."""
    path = SHARED / "cases" / f"{name}.json"
    if not path.exists():
        pytest.skip("the shared cases are not there")
    return json.loads(path.read_text())


def real_spec(name: str) -> Path:
    """A recorded server's spec."""
    path = SHARED / "real" / "specs" / f"{name}.json"
    if not path.exists():
        pytest.skip("the recorded servers are not there")
    return path


class Caller:
    """A world whose tools are called by name: `await call("get_issue", issue_number=1)` gives the structured content."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        observation = await self.world.step(Action(tool, arguments))
        assert not observation.is_error, observation.text
        return observation.structured if observation.structured is not None else observation.text

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The text of an error that must come."""
        observation = await self.world.step(Action(tool, arguments))
        assert observation.is_error, observation.text
        assert observation.structured is None
        return observation.text


def calling(spec: str | list[dict[str, Any]], **options: Any) -> Caller:
    """A caller for a shipped spec, or for tools written in the test."""
    loaded = load_one(spec) if isinstance(spec, str) else parse({"tools": spec}, name="test")
    return Caller(World(loaded, **{"seed": 7, **options}))


def tool(
    name: str, properties: dict[str, Any], output: Any = None, required: list[str] | None = None, **more: Any
) -> dict[str, Any]:
    """A tool definition."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
    }
    out = {"name": name, "inputSchema": schema, **more}
    return out if output is None else {**out, "outputSchema": output}


def thing(**properties: Any) -> dict[str, Any]:
    """A closed object schema in which every property is required."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def mcp_world(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "mcp_world", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=options.pop("cwd", ROOT),
        **options,
    )


@dataclass
class Running:
    """A server in a process of its own."""

    agents: str
    control: str
    process: subprocess.Popen[str]
    log: Path

    CONTROL = {"Authorization": "Bearer control"}


@contextmanager
def running(*arguments: str, log: Path) -> Iterator[Running]:
    """`mcp-world serve … --http` on free ports; stopped by its own pid."""
    command = [sys.executable, "-m", "mcp_world", "serve", *arguments, "--http", "--port", "0", "--control-port", "0"]
    with log.open("w") as stderr:
        process = subprocess.Popen([*command, "--control-token", "control"], stderr=stderr, text=True, cwd=ROOT)
        try:
            for _ in range(600):
                text = log.read_text()
                agents, control = (
                    re.search(r"tools at (http://[^/\s]+)", text),
                    re.search(r"control API at (\S+?)[,\s]", text),
                )
                if agents and control:
                    break
                if process.poll() is not None:
                    raise AssertionError(text)
                time.sleep(0.05)
            else:
                raise AssertionError(f"the server did not start: {log.read_text()}")
            yield Running(agents[1], control[1], process, log)
        finally:
            process.terminate()
            process.wait(60)
