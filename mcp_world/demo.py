"""The errand that `mcp-world demo` runs: a real client, over stdio, at a service that does not exist."""

from __future__ import annotations

import json
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from rich.console import Console
from rich.text import Text

from mcp_world.core.types import Json

_SPEC = "source-hosting"


async def demo(seed: int, console: Console) -> None:
    """Start the impersonated server as a child process, do the errand with the official client, print the transcript.

    Args:
        seed: The world's seed.
        console: Where to print.
    """
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "mcp_world", "serve", _SPEC, "--seed", str(seed), "--journal", "none"],
    )
    async with Client(command) as client:
        listed = await client.list_tools()
        info = client.server_info
        console.rule(f"[bold]{info.name if info else _SPEC}[/bold]: {len(listed.tools)} tools over stdio, seed {seed}")
        errand = _Errand(client, console)
        await errand.run()
        console.rule(f"{errand.calls} calls, {errand.refused} refused as they should be; nobody else was there")


class _Errand:
    def __init__(self, client: Client, console: Console) -> None:
        self.client = client
        self.console = console
        self.calls = 0
        self.refused = 0

    async def run(self) -> None:
        """Search, read, create, comment, update, list again; then a missing item and a bad argument."""
        found = await self.call("Find the billing code", "search_repositories", query="billing", per_page=3)
        place = {"owner": found["repositories"][0]["owner"], "repo": found["repositories"][0]["name"]}
        before = await self.call("What is open there?", "list_issues", **place, per_page=2)
        await self.call("Read the newest", "get_issue", **place, issue_number=before["issues"][0]["number"])
        made = await self.call(
            "Report what we saw",
            "create_issue",
            **place,
            title="Invoices are sent twice",
            body="Seen on Friday.",
            labels=["bug"],
            assignees=["ana"],
        )
        number = made["number"]
        await self.call(
            "Add a detail",
            "add_issue_comment",
            **place,
            issue_number=number,
            body="Only with a retry after a timeout.",
        )
        await self.call("Fixed: close it", "update_issue", **place, issue_number=number, state="closed")
        await self.call("List the closed ones again", "list_issues", **place, state="closed", per_page=1)
        await self.call("An issue that is not there", "get_issue", **place, issue_number=number + 1000)
        await self.call("A bad argument", "create_issue", **place, title="", labels="bug")

    async def call(self, why: str, tool: str, **arguments: Json) -> Any:
        """Call a tool, print what went in and came out, and return the structured content."""
        result = await self.client.call_tool(tool, arguments)
        self.calls += 1
        self.console.print()
        self.console.print(Text(f"# {why}", style="dim"))
        shown = ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items())
        self.console.print(Text.assemble(("→ ", "cyan"), (tool, "bold cyan"), f"({shown})"), soft_wrap=True)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error:
            self.refused += 1
            self.console.print(Text.assemble(("✗ ", "red"), text), soft_wrap=True)
            return None
        for line in _brief(result.structured_content):
            self.console.print(Text.assemble(("← ", "green"), line), soft_wrap=True)
        return result.structured_content


def _brief(value: Any) -> list[str]:
    """A result in a few lines: the things one a line, the rest in one."""
    if not isinstance(value, dict):
        return [json.dumps(value)]
    lines: list[str] = []
    rest = {}
    for name, part in value.items():
        if isinstance(part, list) and part and isinstance(part[0], dict):
            lines.extend(_line(item) for item in part)
        else:
            rest[name] = part
    return [*lines, _line(rest)] if rest else lines


def _line(record: dict[str, Json]) -> str:
    keep = (
        "number",
        "full_name",
        "title",
        "state",
        "labels",
        "author",
        "body",
        "comments",
        "language",
        "stars",
        "total_count",
        "closed_at",
    )
    shown = {name: record[name] for name in keep if name in record}
    return "  ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in (shown or record).items())
