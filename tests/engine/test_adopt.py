"""What an observation made elsewhere shows is known afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_world import Action, Observation, World, parse
from tests.conftest import thing, tool

pytestmark = pytest.mark.anyio

TEXT = {"type": "string"}


def shop() -> World:
    item = thing(id=TEXT, name=TEXT, colour=TEXT)
    return World(
        parse(
            [
                tool("create_item", {"name": TEXT}, item),
                tool("get_item", {"id": TEXT}, item),
                tool("update_item", {"id": TEXT, "name": TEXT}, item, required=["id"]),
                tool("list_items", {}, thing(items={"type": "array", "items": item})),
            ],
            name="shop",
        ),
        seed=3,
    )


def seen(value: dict[str, Any]) -> Observation:
    return Observation({"content": [{"type": "text", "text": "seen"}], "structuredContent": value})


async def ask(world: World, name: str, **arguments: Any) -> Any:
    return (await world.step(Action(name, arguments))).structured


async def test_a_thing_that_was_made_is_known_by_the_id_and_the_members_it_was_shown_with() -> None:
    world = shop()
    await world.witness(Action("create_item", {"name": "Lamp"}), seen({"id": "X-7", "name": "Lamp", "colour": "teal"}))
    assert await ask(world, "get_item", id="X-7") == {"id": "X-7", "name": "Lamp", "colour": "teal"}


async def test_the_things_of_a_list_are_known_as_they_were_listed() -> None:
    world = shop()
    await world.witness(Action("list_items"), seen({"items": [{"id": "X-1", "name": "Desk", "colour": "oak"}]}))
    assert await ask(world, "get_item", id="X-1") == {"id": "X-1", "name": "Desk", "colour": "oak"}


async def test_a_change_keeps_what_the_answer_showed_beside_it() -> None:
    world = shop()
    await world.witness(Action("create_item", {"name": "Lamp"}), seen({"id": "X-7", "name": "Lamp", "colour": "teal"}))
    await world.witness(
        Action("update_item", {"id": "X-7", "name": "Torch"}), seen({"id": "X-7", "name": "Torch", "colour": "red"})
    )
    assert await ask(world, "get_item", id="X-7") == {"id": "X-7", "name": "Torch", "colour": "red"}
