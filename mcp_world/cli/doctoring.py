"""`mcp-world doctor`."""

from __future__ import annotations

import anyio
from rich.table import Table
from rich.text import Text

from mcp_world.cli.app import app, out


@app.command
def doctor() -> None:
    """Say what this machine can run: GPUs, engines, weights at hand, servers that answer; and the best command."""
    from mcp_world.engines.language.doctor import examine

    found = anyio.run(examine)
    table = Table(show_header=False)
    for row in found.rows():
        table.add_row(*map(Text, row))
    out.print(table)
    best = found.best()
    out.print(f"Best here: {best.engine}, for {best.why}.", markup=False)
    out.print(f"  {best.command}", markup=False, soft_wrap=True)
    for hint in found.hints():
        out.print(hint, markup=False, soft_wrap=True)
