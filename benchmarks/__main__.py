"""Run all benchmarks, or those that are named."""

from __future__ import annotations

import platform
import sys

from rich.console import Console

from benchmarks import calls, fabrication, language, load, where, worlds

ALL = {
    "calls": calls.run,
    "load": load.run,
    "worlds": worlds.run,
    "fabrication": fabrication.run,
    "where": where.run,
    "language": language.run,
}


def main() -> None:
    console = Console(width=120)
    console.print(f"Python {platform.python_version()} on {platform.machine()}, {platform.system()}")
    unknown = [name for name in sys.argv[1:] if name not in ALL]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]!r}; use: {', '.join(ALL)}")
    for name in sys.argv[1:] or ALL:
        ALL[name](console)


main()
