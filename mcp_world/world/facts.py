"""Facts: the records that a world starts with."""

from __future__ import annotations

from pathlib import Path

from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.spec.files import read_data


def load_facts(path: Path) -> dict[str, list[dict[str, Json]]]:
    """Read records by kind from a YAML or JSON file.

    Raises:
        BadInput: It is not a map of lists of records.
    """
    data = read_data(path)
    if isinstance(data, dict) and isinstance(data.get("facts"), dict):
        data = data["facts"]
    if not isinstance(data, dict):
        raise BadInput(
            "facts are a map of kinds to lists of records",
            where=str(path),
            do='Write it like `issue: [{number: 1, title: "…"}]`.',
        )
    for kind, records in data.items():
        if not isinstance(records, list):
            raise BadInput("a kind has a list of records", where=f"{path}#/{kind}")
        for index, record in enumerate(records):
            if not isinstance(record, dict):
                raise BadInput("a record is a map of fields", where=f"{path}#/{kind}/{index}")
    return data
