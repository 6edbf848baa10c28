"""A world without a transport: what an agent sees of a service that does not exist."""

import asyncio

from mcp_world import Action, World

world = World("source-hosting", seed=7)
print(asyncio.run(world.step(Action("search_repositories", {"query": "billing"}))).text)
