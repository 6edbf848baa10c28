"""The examples run, and so does the code that the docs show."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_world import Action, World
from mcp_world.world.facts import load_facts
from tests.conftest import ROOT, mcp_world, running

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_the_five_lines() -> None:
    done = subprocess.run(
        [sys.executable, "examples/five_lines.py"], capture_output=True, text=True, cwd=ROOT, timeout=60, check=True
    )
    assert '"repositories"' in done.stdout


def test_the_episodes(tmp_path: Path) -> None:
    with running("issue-tracker", "--journal", "none", log=tmp_path / "log") as server:
        done = subprocess.run(
            [sys.executable, "examples/episodes.py", server.agents, server.control, "control"],
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=120,
        )
    assert "20 episodes, mean reward 1.00" in done.stdout, done.stderr


@pytest.mark.anyio
async def test_the_facts() -> None:
    world = World("payments", facts=load_facts(ROOT / "examples" / "facts.yaml"))
    charges = (await world.step(Action("list_charges", {"min_amount": 40000}))).structured
    assert [charge["description"] for charge in charges["charges"]] == ["Hotel Nowy, two nights"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_python_in_the_docs_runs(page: Path) -> None:
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=ROOT, timeout=60)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_in_the_docs_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} -> {target}"


def test_commands_in_the_docs_exist() -> None:
    commands = {match for page in PAGES for match in re.findall(r"^mcp-world ([a-z]+)", page.read_text(), re.MULTILINE)}
    assert commands
    for command in commands:
        assert mcp_world(command, "--help").returncode == 0, command


def test_the_readme_shows_the_demo_as_it_is() -> None:
    shown = re.search(r"```console\n\$ make demo\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert shown is not None
    real = mcp_world("demo").stdout
    for line in shown[1].splitlines():
        assert line.rstrip("…").strip() in real, line
