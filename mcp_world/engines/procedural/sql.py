"""Tools that take SQL: their statements run on an in-memory database that the ledger's statements make.

Nothing is read from or written to disk: the database has no file, and attaching one is refused.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mcp_world.core.ledger import Ledger
from mcp_world.core.types import Json
from mcp_world.engines.procedural.model import Plan
from mcp_world.engines.procedural.voice import Refusal
from mcp_world.spec.names import words

_KIND = "sql statement"
_ARGUMENTS = ("query", "sql", "statement")
_STATEMENT = re.compile(
    r"(?is)^\s*(?:--[^\n]*\n\s*)*(select|with|insert|update|delete|replace|create|alter|drop|pragma|explain)\b"
)
_READS = ("select", "with", "pragma", "explain")
_MOST_ROWS = 10_000
_MOST_STEPS = 2_000_000
_DENIED = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}


@dataclass(frozen=True)
class Table:
    """What a statement gave.

    Args:
        rows: Of a query, each by column.
        changed: How many rows a change touched, or -1 where it was none.
    """

    rows: list[dict[str, Json]]
    changed: int = -1


_open: WeakKeyDictionary[Ledger, tuple[int, sqlite3.Connection]] = WeakKeyDictionary()


def is_statement(text: str) -> bool:
    """Whether a text begins like an SQL statement."""
    return _STATEMENT.match(text) is not None


def statement_of(plan: Plan, arguments: Mapping[str, Json], ledger: Ledger) -> str | None:
    """The SQL of a call, or None where there is none: an argument of that name that begins like a statement.

    Once there is a database, whatever stands there is taken for SQL, so that what is none is refused as such.

    Raises:
        Refusal: The tool's name says that it only reads, or only writes, and the statement does the other.
    """
    for name in _ARGUMENTS:
        value = arguments.get(name)
        if name not in plan.reading.properties or not isinstance(value, str):
            continue
        if not is_statement(value) and not ledger.of(_KIND):
            continue
        parts = set(words(plan.tool.own_name))
        reads = _reads(value)
        if parts & {"read", "select"} and not reads:
            raise Refusal(f"Only SELECT queries are allowed for {plan.tool.name}", "statement", value)
        if parts & {"write", "insert", "update"} and reads:
            raise Refusal(f"SELECT queries are not allowed for {plan.tool.name}", "statement", value)
        return value
    return None


def _reads(statement: str) -> bool:
    found = _STATEMENT.match(statement)
    return found is not None and found[1].lower() in _READS


def table_asked(plan: Plan, arguments: Mapping[str, Json], ledger: Ledger) -> str | None:
    """The query behind a tool that lists or describes tables, where there is a database; None for other tools."""
    parts = words(plan.tool.own_name)
    if not ledger.of(_KIND) or not {"table", "tables"} & set(parts):
        return None
    if parts[0] in ("list", "show", "get") and parts[-1] == "tables":
        return "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    named = next((v for k, v in arguments.items() if "table" in words(k) and isinstance(v, str)), None)
    if parts[0] in ("describe", "get", "show") and named is not None:
        quoted = named.replace('"', '""')
        return f'PRAGMA table_info("{quoted}")'
    return None


def run(statement: str, ledger: Ledger) -> Table:
    """Run a statement; one that changes something is kept in the ledger.

    Raises:
        Refusal: The database says no; its message is in the refusal.
    """
    database = _database(ledger)
    try:
        cursor = database.execute(statement)
        rows = [dict(row) for row in cursor.fetchmany(_MOST_ROWS)]
    except sqlite3.Error as error:
        database.rollback()
        raise Refusal(str(error), "sql", statement) from None
    if _reads(statement):
        return Table(rows)
    ledger.add(_KIND, len(ledger.of(_KIND)) + 1, fields={"sql": statement})
    _open[ledger] = (len(ledger.of(_KIND)), database)
    return Table(rows, max(cursor.rowcount, -1))


def _database(ledger: Ledger) -> sqlite3.Connection:
    """The database as the ledger's statements make it; made anew where the ledger has gone another way."""
    done = [str(entity.fields["sql"]) for entity in ledger.of(_KIND)]
    known = _open.get(ledger)
    if known is not None and known[0] == len(done):
        return known[1]
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.row_factory = sqlite3.Row
    database.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _DENIED else sqlite3.SQLITE_OK)
    steps = 0

    def bound() -> int:
        nonlocal steps
        steps += 1_000
        return int(steps > _MOST_STEPS)

    database.set_progress_handler(bound, 1_000)
    for statement in done:
        database.execute(statement)
    steps = 0
    _open[ledger] = (len(done), database)
    return database
