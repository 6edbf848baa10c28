"""A stop loses nothing: calls in flight finish, the journal is whole; a kill loses no answered step."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from mcp_world.world.journal import read_journal
from tests.conftest import ROOT, running
from tests.serve.wire import Http, stdio

CALL = {"name": "get_contact", "arguments": {"contact_id": 1}}


@pytest.mark.anyio
async def test_a_kill_in_a_run_of_10_000_calls_loses_no_answered_step(tmp_path: Path) -> None:
    answered = 0
    journal = tmp_path / "j.db"
    with running("crm", "--journal", str(journal), log=tmp_path / "log") as server:

        async def client() -> None:
            nonlocal answered
            async with Http(server.agents + "/mcp", "2025-11-25") as http:
                for _ in range(2_500):
                    try:
                        answer = await http.request("tools/call", CALL)
                    except httpx2.HTTPError:
                        return
                    assert answer["result"]["structuredContent"]["id"] == 1
                    answered += 1
                    if answered == 4_000:
                        os.kill(server.process.pid, signal.SIGKILL)

        async with anyio.create_task_group() as tg:
            for _ in range(4):
                tg.start_soon(client)
    steps = [row["step"] for row in read_journal(journal)]
    assert answered >= 4_000
    assert answered <= len(steps) <= answered + 4
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.anyio
async def test_a_kill_over_stdio_loses_no_answered_step(tmp_path: Path) -> None:
    journal = tmp_path / "j.db"
    with stdio("2025-11-25", "crm", "--journal", str(journal)) as client:
        for _ in range(500):
            assert "result" in client.request("tools/call", CALL)
        client.process.kill()
    assert len(list(read_journal(journal))) == 500


SLOW = """
import sys
import anyio
from mcp_world.engines.procedural.engine import ProceduralEngine
real = ProceduralEngine.predict
async def slow(self, request):
    await anyio.sleep(1.0)
    return await real(self, request)
ProceduralEngine.predict = slow
from mcp_world.cli import main
main(sys.argv[1:])
"""


@pytest.mark.anyio
@pytest.mark.parametrize("transport", ["mcp", "sse"])
async def test_a_stop_over_http_lets_calls_in_flight_finish(tmp_path: Path, transport: str) -> None:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    journal, log = tmp_path / "j.db", tmp_path / "log"
    with log.open("w") as stderr:
        command = [
            sys.executable,
            str(script),
            "serve",
            "crm",
            "--http",
            "--port",
            "0",
            "--control-port",
            "0",
            "--journal",
            str(journal),
        ]
        process = subprocess.Popen(command, stderr=stderr, cwd=ROOT)
    while "control API" not in log.read_text():
        assert process.poll() is None
        time.sleep(0.05)
    url = log.read_text().split("tools at ")[1].split("/mcp")[0]
    answers: list[Any] = []

    async def call() -> None:
        if transport == "mcp":
            async with Http(url + "/mcp", "2025-11-25") as client:
                answers.append(await client.request("tools/call", CALL))
        else:
            from tests.serve.wire import sse

            async with sse(url + "/sse", "2025-11-25") as request:
                answers.append(await request("tools/call", CALL))

    async with anyio.create_task_group() as tg:
        tg.start_soon(call)
        await anyio.sleep(0.7)
        process.send_signal(signal.SIGTERM)
    assert answers[0]["result"]["structuredContent"]["id"] == 1
    assert await anyio.to_thread.run_sync(lambda: process.wait(20)) == 0
    assert not journal.with_name("j.db-wal").exists()
    assert [row["step"] for row in read_journal(journal)] == [1]


@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
def test_a_stop_over_stdio_answers_what_was_asked(tmp_path: Path, how: str) -> None:
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    journal = tmp_path / "j.db"
    command = [sys.executable, str(script), "serve", "crm", "--journal", str(journal)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdin and process.stdout and process.stderr
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
    ]
    messages += [{"id": n, "method": "tools/call", "params": CALL} for n in (2, 3)]
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()
    process.stdout.readline()
    time.sleep(0.5)
    if how == "end of input":
        process.stdin.close()
    else:
        process.send_signal(getattr(signal, how))
    lines = [json.loads(line) for line in process.stdout]
    assert {line["id"] for line in lines} == {2, 3}
    assert process.wait(20) == 0
    assert "Traceback" not in process.stderr.read()
    assert len(list(read_journal(journal))) == 2


def test_nothing_at_stdin_is_the_end_of_input() -> None:
    command = [sys.executable, "-m", "mcp_world", "serve", "crm", "--journal", "none"]
    assert (
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=30, check=False).returncode
        == 0
    )


def test_stdin_and_stdout_may_be_files(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": CALL},
    ]
    source = tmp_path / "in"
    source.write_text("".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines) + "no json\n")
    with source.open() as stdin, (tmp_path / "out").open("w") as stdout:
        subprocess.run(
            [sys.executable, "-m", "mcp_world", "serve", "crm", "--journal", "none"],
            stdin=stdin,
            stdout=stdout,
            timeout=30,
            check=True,
            cwd=ROOT,
        )
    answers = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert {answer.get("id") for answer in answers} >= {1, 2}


@pytest.mark.anyio
async def test_a_journal_that_fails_under_a_server_is_an_internal_error_and_the_reason_is_in_the_log(
    tmp_path: Path,
) -> None:
    import sqlite3

    journal = tmp_path / "j.db"
    with running("crm", "--journal", str(journal), log=tmp_path / "log") as server:
        async with Http(server.agents + "/mcp", "2025-11-25") as client:
            assert "result" in await client.request("tools/call", CALL)
            lock = sqlite3.connect(journal)
            lock.execute("BEGIN IMMEDIATE")
            answer = await client.request("tools/call", CALL)
            lock.rollback()
            assert answer["error"] == {"code": -32603, "message": "Internal error"}
            assert "result" in await client.request("tools/call", CALL)
        assert "database is locked; the step was not taken" in server.log.read_text()
    assert [row["step"] for row in read_journal(journal)] == [1, 2]
