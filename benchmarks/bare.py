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

from mcp_world import Action, World, load_one

TOOL = "get_issue"
ARGUMENTS = {"owner": "acme", "repo": "web", "issue_number": 2}


def answer() -> dict[str, Any]:
    """What our own server answers to the call: the constant, so that both send and check the same payload."""
    observation = anyio.run(World("source-hosting").step, Action(TOOL, ARGUMENTS))
    assert observation.structured is not None
    return dict(observation.structured)


ANSWER = answer()


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
