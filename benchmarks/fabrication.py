"""Fabrication alone: valid answers/s over the recorded servers' specs (the shipped ones, where those are not there)."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import jsonschema
from rich.console import Console
from rich.table import Table

from benchmarks.process import ROOT
from mcp_world import load_one
from mcp_world.engines.procedural.fabricate import Fabricator
from mcp_world.engines.procedural.values import Values

ROUNDS = 40


def run(console: Console) -> None:
    """Print answers/s, and how the two validators compare on them."""
    recorded = sorted((ROOT.parent / "shared" / "real" / "specs").glob("*.json"))
    paths = recorded or sorted((ROOT / "tool_specs").glob("*.json"))
    values = Values()
    now = datetime(2025, 5, 1, tzinfo=UTC)
    schemas = [tool.output for path in paths for tool in load_one(str(path)).tools if tool.output is not None]
    begun = time.perf_counter()
    fabricators = [Fabricator(schema, values) for schema in schemas]
    compiling = (time.perf_counter() - begun) / len(fabricators)
    begun = time.perf_counter()
    answers = [fabricator.root(key, now=now) for key in range(ROUNDS) for fabricator in fabricators]
    making = time.perf_counter() - begun
    pairs = list(zip(schemas, answers, strict=False))[: len(schemas)]
    begun = time.perf_counter()
    for schema, answer in pairs:
        assert schema.is_valid(answer)
    fast = time.perf_counter() - begun
    validators = [jsonschema.Draft202012Validator(schema.checked) for schema, _ in pairs]
    begun = time.perf_counter()
    for validator, (_, answer) in zip(validators, pairs, strict=True):
        assert validator.is_valid(answer)
    slow = time.perf_counter() - begun
    table = Table(title=f"fabrication over {len(schemas)} output schemas of {len(paths)} servers", title_justify="left")
    for column in ("answers/s", "to read a schema", "jsonschema-rs to jsonschema"):
        table.add_column(column, justify="right")
    table.add_row(f"{len(answers) / making:,.0f}", f"{compiling * 1e6:,.0f} µs", f"{slow / fast:,.0f} times faster")
    console.print(table)
