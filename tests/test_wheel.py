"""The wheel installs `mcp_world` and nothing else at the top level, and the demo runs from it in an empty environment."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)],
        check=True,
        cwd=ROOT,
        capture_output=True,
    )
    (built,) = out.glob("*.whl")
    return built


def test_it_holds_the_package_with_its_content_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"mcp_world"}
    shipped = {path.name for path in (ROOT / "tool_specs").glob("*.json")}
    assert {name.rsplit("/", 1)[-1] for name in names if name.startswith("mcp_world/content/tool_specs/")} == shipped


def test_it_holds_the_prompts_of_language_engines(wheel: Path) -> None:
    assert "mcp_world/engines/language/prompts/mcp/system_prompt.txt" in zipfile.ZipFile(wheel).namelist()


def test_it_runs_the_demo_from_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "v")], check=True)
    python = tmp_path / "v" / "bin" / "python"
    lock = str(ROOT / "requirements.lock")
    subprocess.run(
        [str(python), "-m", "pip", "install", "-qq", "--constraint", lock, str(wheel)], check=True, cwd=tmp_path
    )
    where = subprocess.run(
        [str(python), "-c", "import mcp_world; print(mcp_world.__file__)"],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert str(tmp_path) in where.stdout
    done = subprocess.run(
        [str(tmp_path / "v" / "bin" / "mcp-world"), "demo"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "9 calls, 2 refused as they should be" in done.stdout
    assert "Issue not found" in done.stdout
