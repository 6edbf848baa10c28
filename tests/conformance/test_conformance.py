"""MCP's official conformance suite, against a server that is described by `everything.yaml` alone.

No failure is expected or excused; a check that warns counts as failed. What the suite skips of itself is named here.
"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, running

HERE = Path(__file__).parent
NODE = HERE / "node_modules" / ".bin" / "node"

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(not NODE.exists(), reason="`make conformance` installs the suite"),
]

SKIPPED_BY_THE_SUITE = {"tasks-status-notifications"}
"""The suite has no harness for it yet."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("server") / "log"
    with running(str(HERE / "everything.yaml"), "--journal", "none", log=log) as at:
        yield f"{at.agents}/mcp"


def run_suite(version: str, url: str, out: Path, *options: str) -> dict[str, list[dict[str, str]]]:
    """The checks of each scenario."""
    suite = HERE / "node_modules" / f"conformance-{version}" / "dist" / "index.js"
    done = subprocess.run(
        [NODE, suite, "server", "--url", url, "--output-dir", out, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    summary = done.stdout.partition("=== SUMMARY ===")[2].strip()
    print(summary or done.stdout[-2000:], done.stderr[-2000:])
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(out.rglob("checks.json"))}


def judge(scenarios: dict[str, list[dict[str, str]]], wanted: int) -> Counter[str]:
    """How many checks have which status; fails on any that did not succeed."""
    assert len(scenarios) == wanted, sorted(scenarios)
    bad = [
        (name, check["id"], check["status"], check.get("errorMessage"))
        for name, checks in scenarios.items()
        for check in checks
        if check["status"] not in ("SUCCESS", "INFO")
        and not (check["status"] == "SKIPPED" and check["id"] in SKIPPED_BY_THE_SUITE)
    ]
    assert not bad, bad
    return Counter(check["status"] for checks in scenarios.values() for check in checks)


def test_the_active_suite_of_0_1_16(server: str, tmp_path: Path) -> None:
    statuses = judge(run_suite("0.1", server, tmp_path), 30)
    assert statuses["SUCCESS"] >= 40


def test_what_2025_11_25_requires(server: str, tmp_path: Path) -> None:
    scenarios = run_suite("0.2", server, tmp_path, "--requirements", "2025-11-25")
    judge(scenarios, 33)


def test_what_2026_07_28_requires_and_its_tasks(server: str, tmp_path: Path) -> None:
    scenarios = run_suite("0.2", server, tmp_path, "--requirements", "2026-07-28")
    statuses = judge(scenarios, 50)
    assert statuses["SUCCESS"] >= 190
    assert sum(name.startswith("server-tasks") for name in scenarios) == 10
