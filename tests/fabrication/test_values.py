"""Values fit their names, types, formats, units, and each other."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_world import BadInput, World
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.schema import Schema
from tests.conftest import thing

NOW = datetime(2025, 5, 1, tzinfo=UTC)
TEXT = {"type": "string"}
KEYS = range(25)


def made(properties: dict[str, Any], key: int, kind: str = "item", locale: str = "en_US") -> dict[str, Any]:
    out = Fabricator(Schema(thing(**properties)), Values(locale)).root(key, now=NOW, kind=kind)
    assert isinstance(out, dict)
    return out


@pytest.mark.parametrize(
    ("name", "looks_like"),
    [
        ("email", r"^[^@\s]+@[^@\s]+\.[a-z]+$"),
        ("created_at", r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"),
        ("sha", r"^[0-9a-f]{40}$"),
        ("html_url", r"^https://"),
        ("ip_address", r"^\d+\.\d+\.\d+\.\d+$"),
        ("color", r"^#[0-9a-f]{6}$"),
        ("currency", r"^[A-Z]{3}$"),
        ("version", r"^\d+\.\d+\.\d+$"),
        ("filename", r"^\S+\.[a-z]+$"),
        ("orderId", r"^orde?r?_[a-z0-9]{12}$"),
        ("country_code", r"^[A-Z]{2}$"),
        ("mimeType", r"^\w+/[\w-]+$"),
    ],
)
def test_a_string_looks_like_its_name_says(name: str, looks_like: str) -> None:
    for key in KEYS:
        assert re.match(looks_like, made({name: TEXT}, key)[name])


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("latitude", -90, 90), ("humidity", 0, 100), ("price", 0, 1000), ("rating", 0, 5), ("month", 1, 12)],
)
def test_a_number_lies_where_its_name_says(name: str, low: float, high: float) -> None:
    values = [made({name: {"type": "number"}}, key)[name] for key in KEYS]
    assert all(low <= value <= high for value in values)
    assert len(set(values)) > 3


def test_later_times_are_not_before_first_ones() -> None:
    for key in KEYS:
        record = made({"created_at": TEXT, "updated_at": TEXT, "closed_at": TEXT}, key)
        assert record["created_at"] <= record["updated_at"]
        assert record["created_at"] <= record["closed_at"]


def test_an_end_is_not_before_its_start() -> None:
    time = {"type": "string", "format": "date-time"}
    for key in KEYS:
        record = made({"start": time, "end": time}, key, kind="event")
        assert record["start"] <= record["end"]


def test_a_total_is_the_sum_of_its_lines() -> None:
    line = thing(quantity={"type": "integer"}, unit_price={"type": "number"})
    for key in KEYS:
        record = made(
            {
                "lines": {"type": "array", "items": line, "minItems": 1},
                "tax": {"type": "number"},
                "subtotal": {"type": "number"},
                "total": {"type": "number"},
            },
            key,
        )
        lines = sum(entry["quantity"] * entry["unit_price"] for entry in record["lines"])
        assert record["subtotal"] == pytest.approx(lines, abs=0.01)
        assert record["total"] == pytest.approx(lines + record["tax"], abs=0.01)


def test_a_count_counts_the_list_beside_it() -> None:
    for key in KEYS:
        record = made({"members": {"type": "array", "items": TEXT}, "member_count": {"type": "integer"}}, key)
        assert record["member_count"] == len(record["members"])


def test_a_size_is_that_of_the_content_beside_it() -> None:
    for key in KEYS:
        record = made({"content": TEXT, "size": {"type": "integer"}}, key, kind="file")
        assert record["size"] == len(record["content"].encode())


def test_an_address_belongs_to_the_name_beside_it() -> None:
    record = made({"name": TEXT, "email": TEXT}, 3, kind="contact")
    assert record["email"].split("@")[0].split(".")[0] == record["name"].split()[0].lower()


def test_what_the_schema_pins_is_not_moved_to_agree() -> None:
    record = made({"items": {"type": "array", "items": TEXT, "minItems": 2}, "total_count": {"const": 99}}, 1)
    assert record["total_count"] == 99


@pytest.mark.anyio
async def test_another_locale_gives_other_names() -> None:
    from mcp_world.core.types import Action
    from mcp_world.engines import engine_for
    from mcp_world.spec.load import load_one

    spec = load_one("crm")
    names = {}
    for locale in ("en_US", "ja_JP"):
        world = World(spec, engine=engine_for(spec, locale=locale), seed=3)
        contacts = (await world.step(Action("list_contacts", {"limit": 5}))).structured["contacts"]
        names[locale] = "".join(contact["first_name"] for contact in contacts)
    assert names["en_US"].isascii() and not names["ja_JP"].isascii()


def test_a_locale_that_does_not_exist_is_bad_input() -> None:
    with pytest.raises(BadInput, match="no locale 'xx_YY'"):
        Values("xx_YY")
