"""Requests/s under `wrk`, one thread and eight connections, beside the bare SDK and the Node mock `@copilotkit/aimock`.

Servers run one after the other, three rounds each, the best taken. `wrk` comes from Debian; aimock is installed from npm
into a temporary folder; without one of them, its part is left out and said so.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
from rich.console import Console
from rich.table import Table

from benchmarks import bare as yardstick
from benchmarks.process import bare, free_port, listening, ours

SECONDS = 5
ROUNDS = 3
AIMOCK = """
import { MCPMock } from "@copilotkit/aimock/mcp";
const mock = new MCPMock({ port: Number(process.argv[2]), host: "127.0.0.1" });
mock.addTool({ name: "get_issue", description: "Get one issue.", inputSchema: { type: "object" } });
mock.onToolCall("get_issue", () => JSON.stringify(ANSWER));
await mock.start();
setInterval(() => {}, 1e6);
"""


def session(url: str) -> dict[str, str]:
    """Headers of a session that has shaken hands, for a client of 2025-11-25."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "wrk", "version": "1"}}
    answer = httpx2.post(
        url, json={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}, headers=headers
    )
    answer.raise_for_status()
    headers["MCP-Protocol-Version"] = "2025-11-25"
    if "mcp-session-id" in answer.headers:
        headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
    httpx2.post(url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


def drive(url: str) -> float:
    """The best of some rounds of `wrk`, in requests/s; raises where an answer was no success."""
    headers = session(url)
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": yardstick.TOOL, "arguments": yardstick.ARGUMENTS},
        }
    )
    check = httpx2.post(url, content=body, headers=headers)
    assert check.status_code == 200 and '"isError":true' not in check.text, check.text
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        lines = [
            'wrk.method = "POST"',
            f"wrk.body = [==[{body}]==]",
            *(f'wrk.headers["{k}"] = "{v}"' for k, v in headers.items()),
        ]
        script.write("\n".join(lines))
        script.flush()
        best = 0.0
        for _ in range(ROUNDS):
            done = subprocess.run(
                ["wrk", "-t1", "-c8", f"-d{SECONDS}s", "-s", script.name, url],
                capture_output=True,
                text=True,
                check=True,
            )
            assert "Non-2xx" not in done.stdout, done.stdout
            best = max(best, float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)[1]))  # type: ignore[index]
    return best


@contextmanager
def aimock() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "i", "--silent", "--no-audit", "--no-fund", "@copilotkit/aimock"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        script = Path(folder) / "mock.mjs"
        script.write_text(AIMOCK.replace("ANSWER", json.dumps(yardstick.ANSWER)))
        port = free_port()
        with listening(port, "node", str(script), str(port)) as origin:
            yield origin


def run(console: Console) -> None:
    """Print requests/s and their ratio to the bare SDK's."""
    if shutil.which("wrk") is None:
        console.print("load: left out, for `wrk` is not there (apt-get install wrk)")
        return
    rates = {}
    with bare() as origin:
        rates["bare SDK"] = drive(origin + "/mcp")
    with ours() as origin:
        rates["mcp-world, everything on"] = drive(origin + "/mcp")
    try:
        with aimock() as origin:
            rates["@copilotkit/aimock"] = drive(origin)
    except (OSError, subprocess.CalledProcessError, RuntimeError, httpx2.HTTPError) as error:
        console.print(f"load: aimock left out: {error}")
    table = Table(
        title=f"requests/s under wrk -t1 -c8 -d{SECONDS}s, tools/call over one session, best of {ROUNDS}",
        title_justify="left",
    )
    for column in ("server", "requests/s", "to the bare SDK"):
        table.add_column(column, justify="left" if column == "server" else "right")
    for name, rate in rates.items():
        table.add_row(name, f"{rate:,.0f}", f"{rate / rates['bare SDK']:.2f}")
    console.print(table)
