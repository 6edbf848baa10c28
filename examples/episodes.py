"""Many episodes at once over HTTP, each in a world of its own, as an RL trainer runs them.

Start the server first: `mcp-world serve issue-tracker --http --control-token s3cret`, then
`python examples/episodes.py http://127.0.0.1:8000 http://127.0.0.1:8001 s3cret`.
"""

import asyncio
import sys

import httpx2
from mcp import Client


async def episode(agents: str, control: httpx2.AsyncClient, seed: int) -> int:
    """One episode in a fresh world: make a ticket, finish it, look; the reward is 1 where the ledger agrees."""
    world = (await control.post("/worlds", json={"seed": seed})).json()
    async with Client(agents + world["mcp"]) as client:
        made = await client.call_tool("create_ticket", {"project_key": "WEB", "title": f"Episode {seed}"})
        key = made.structured_content["key"]
        await client.call_tool("update_ticket", {"ticket_key": key, "status": "done"})
    entities = (await control.get(f"/worlds/{world['id']}/ledger")).json()["entities"]
    await control.delete(f"/worlds/{world['id']}")
    return int(any(e["id"] == key and e["fields"].get("status") == "done" for e in entities))


async def main(agents: str, control: str, token: str, episodes: int = 20) -> None:
    """Run the episodes side by side and print the mean reward."""
    async with httpx2.AsyncClient(base_url=control, headers={"Authorization": f"Bearer {token}"}) as http:
        rewards = await asyncio.gather(*(episode(agents, http, seed) for seed in range(episodes)))
    print(f"{episodes} episodes, mean reward {sum(rewards) / episodes:.2f}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
