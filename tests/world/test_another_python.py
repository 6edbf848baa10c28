"""Seed in, bytes out, on another Python too."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.world.test_world import ERRAND, SCRIPT


def other_python() -> str | None:
    """An interpreter of another version than ours that can run the project, on the PATH or among pyenv's."""
    names = [f"python3.{minor}" for minor in (11, 12, 13) if minor != sys.version_info.minor]
    for folder in [
        *os.environ["PATH"].split(os.pathsep),
        *map(str, (Path.home() / ".pyenv" / "versions").glob("3.*/bin")),
    ]:
        for name in names:
            found = shutil.which(name, path=folder)
            works = (
                found
                and subprocess.run(
                    [found, "-c", "import ensurepip, sqlite3"], capture_output=True, check=False
                ).returncode
                == 0
            )
            if found and works:
                return found
    return None


def test_the_same_errand_gives_the_same_bytes_on_another_python(tmp_path: Path) -> None:
    python = other_python()
    if python is None:
        pytest.skip("there is no other Python of 3.11 to 3.13 here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "v")], check=True)
    theirs = str(tmp_path / "v" / "bin" / "python")
    subprocess.run(
        [theirs, "-m", "pip", "install", "-qq", "--constraint", str(ROOT / "requirements.lock"), str(ROOT)], check=True
    )
    for seed in ("5", "6"):
        answers = {
            subprocess.run(
                [interpreter, "-c", SCRIPT, seed, json.dumps(ERRAND)],
                capture_output=True,
                text=True,
                check=True,
                cwd=tmp_path,
            ).stdout
            for interpreter in (sys.executable, theirs)
        }
        assert len(answers) == 1
