"""The yardstick: a server of the SDK that does nothing but return a constant. `python -m benchmarks.bare stdio|http [PORT]`."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server

from mcp_world import load_one

TOOL = "get_issue"
ARGUMENTS = {"owner": "acme", "repo": "web", "issue_number": 2}
ANSWER = {
    "number": 2, "title": "Search needs a retry", "body": "The sync works times out under load. The import kit needs a retry.",
    "state": "open",
    "labels": ["backend", "urgent"], "author": "hannah58", "assignees": ["ana", "ben"], "milestone": "v1.4", "comments": 3,
    "html_url": "https://source-hosting.example/acme/web/issues/2", "created_at": "2025-04-09T03:54:29Z",
    "updated_at": "2025-08-08T17:00:57Z",
    "closed_at": None,
}  # fmt: skip


def server() -> Server[Any]:
    """The bare server, with the tools of the shipped spec."""
    tools = [types.Tool.model_validate(entry) for entry in load_one("source-hosting").listed]
    result = types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(ANSWER, indent=2))], structured_content=ANSWER
    )

    async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
        return result

    schema = {tool.name: tool.input_schema for tool in tools}
    return Server("bare", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=schema.get)


async def stdio() -> None:
    bare = server()
    async with stdio_server() as (read, write):
        await bare.run(read, write, bare.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(stdio)
    else:
        uvicorn.run(server().streamable_http_app(), port=int(sys.argv[2]), log_level="error")
