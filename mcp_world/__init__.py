"""mcp-world: an MCP server that impersonates any tool.

A world without a transport, in five lines:

    import asyncio
    from mcp_world import Action, World

    world = World("source-hosting", seed=7)
    print(asyncio.run(world.step(Action("search_repositories", {"query": "billing"}))).text)
"""

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Action, Observation
from mcp_world.spec.load import load, load_one, parse
from mcp_world.spec.model import ServerSpec
from mcp_world.world.journal import Journal, JournalError
from mcp_world.world.world import World

__version__ = "0.1.0"
__all__ = [
    "Action",
    "BadInput",
    "Journal",
    "JournalError",
    "Observation",
    "ServerSpec",
    "World",
    "load",
    "load_one",
    "parse",
]
