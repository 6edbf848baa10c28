"""Whatever the schema, the fabricated value is valid, by two validators, and the same for the same seed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_world.core.seed import Rng
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.pattern import string_for
from mcp_world.engines.procedural.values import Values
from mcp_world.spec.schema import Schema
from tests.conftest import case
from tests.fabrication import schemas

NOW = datetime(2025, 5, 1, tzinfo=UTC)
VALUES = Values()
THOROUGH = settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def second_opinion(schema: Any, value: Any) -> None:
    """The value by `jsonschema`, formats asserted, in the draft that the schema names."""
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    ours = "\\p{" in repr(schema)  # Python's `re`, which `jsonschema` matches with, does not know these
    if not ours:
        validator(schema, format_checker=validator.FORMAT_CHECKER).validate(value)


@given(schemas.documents(), st.integers(0, 2**64 - 1))
@THOROUGH
def test_a_value_for_any_schema_satisfies_both_validators(schema: Any, key: int) -> None:
    compiled = Schema(schema)
    value = Fabricator(compiled, VALUES).root(key, now=NOW)
    assert compiled.is_valid(value)
    second_opinion(schema, value)


@given(schemas.old_documents(), st.integers(0, 1000))
@THOROUGH
def test_a_value_for_drafts_7_and_4_satisfies_both_validators(schema: Any, key: int) -> None:
    compiled = Schema(schema)
    assert compiled.mended == []
    value = Fabricator(compiled, VALUES).root(key, now=NOW)
    assert compiled.is_valid(value)
    second_opinion(schema, value)


@given(schemas.documents(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
def test_the_same_key_gives_the_same_value(schema: Any, key: int) -> None:
    one, two = (Fabricator(Schema(schema), Values()).root(key, now=NOW) for _ in range(2))
    assert one == two


def test_fabricating_again_and_again_takes_no_more_memory() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "contains": {"const": 1}, "items": {"type": "integer"}},
            "b": {"type": "object", "propertyNames": {"pattern": "^[a-z]{3,5}$"}, "minProperties": 2},
            "c": {
                "allOf": [
                    {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    {"oneOf": [{"minLength": 2}, {"type": "boolean"}]},
                ]
            },
            "d": True,
            "e": {"type": "array", "items": True, "minItems": 1},
        },
    }
    fabricator = Fabricator(Schema(schema), VALUES)
    for key in range(50):
        fabricator.root(key, now=NOW)
    before = len(fabricator.flattener)
    for key in range(50, 300):
        fabricator.root(key, now=NOW)
    assert len(fabricator.flattener) == before


def test_different_keys_give_different_values() -> None:
    fabricator = Fabricator(
        Schema({"type": "object", "properties": {"title": {"type": "string"}, "n": {"type": "integer"}}}), VALUES
    )
    assert len({repr(fabricator.root(key, now=NOW)) for key in range(50)}) > 40


@pytest.mark.parametrize("key", range(20))
def test_a_length_beside_a_pattern_or_a_format_is_kept(key: int) -> None:
    schema = case("length_beside_pattern")["schema"]
    value = Fabricator(Schema(schema), VALUES).root(key, now=NOW)
    second_opinion(schema, value)


def test_a_recursive_tree_is_finite_valid_and_not_always_empty() -> None:
    schema = case("recursive_output_schema")["tool"]["outputSchema"]
    fabricator = Fabricator(Schema(schema), VALUES)
    trees = [fabricator.root(key, now=NOW) for key in range(30)]
    for tree in trees:
        second_opinion(schema, tree)
    assert any(tree["root"]["children"] for tree in trees)
    assert max(len(repr(tree)) for tree in trees) < 50_000


PATTERNS = [
    ("^[A-Z]{3}-\\d{4}$", 8, 8), ("^\\S+@\\S+$", 5, 30), ("^(?:\\d{3}|[a-z]{5})$", 0, None), ("^a+b*c?$", 10, 12), ("\\bfoo\\b", 0, None),
    ("^[^a-z]+$", 3, 6), ("^(?<year>\\d{4})-\\k<year>$", 0, None), ("^\\u{41}\\cI?$", 0, None), ("^[\\d\\-/]+$", 4, 4), ("^[^]$", 1, 1), ("^\\p{L}+$", 5, 5),
    ("^[[]$", 0, None),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "low", "high"), PATTERNS)
def test_a_string_for_an_ecma_pattern_has_the_length_asked_for(pattern: str, low: int, high: int | None) -> None:
    for seed in range(20):
        text = string_for(pattern, Rng(seed), low, high)
        assert low <= len(text) <= (high if high is not None else 100)
        if "\\c" not in pattern and "[^]" not in pattern and "(?<" not in pattern:
            assert Schema({"pattern": pattern}).is_valid(text), text
