"""Servers in processes of their own, on free loopback ports, stopped by their own pid."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def listening(port: int, *command: str) -> Iterator[str]:
    """A command that listens on a port, for as long as the context is open; gives its origin."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    try:
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if process.poll() is not None:
                raise RuntimeError(f"{command} ended at once")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def ours() -> Iterator[str]:
    """Our server with everything on: arguments, engine, verify, journal."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        journal = str(Path(folder) / "j.db")
        command = [
            sys.executable,
            "-m",
            "mcp_world",
            "serve",
            "source-hosting",
            "--http",
            "--port",
            str(port),
            "--control-port",
            "0",
        ]
        with listening(port, *command, "--journal", journal) as origin:
            yield origin


@contextmanager
def bare() -> Iterator[str]:
    """The bare SDK server."""
    port = free_port()
    with listening(port, sys.executable, "-m", "benchmarks.bare", "http", str(port)) as origin:
        yield origin
