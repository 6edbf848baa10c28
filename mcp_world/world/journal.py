"""The journal: every step in one SQLite file, committed before its answer leaves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel
import orjson

from mcp_world.core.encoding import encode
from mcp_world.core.errors import BadInput
from mcp_world.core.types import Json
from mcp_world.world.step import Step

_APPLICATION_ID = 0x6D637077
_VERSION = 2
_PATIENCE = 5.0
_PROBE = 4
"""A step that came alone waits for others only this often; one that had company always does."""
_SCHEMA = """
CREATE TABLE worlds (
  number INTEGER PRIMARY KEY, world TEXT NOT NULL, spec TEXT NOT NULL, engine TEXT NOT NULL, seed INTEGER NOT NULL, started TEXT NOT NULL
) STRICT;
CREATE TABLE steps (
  id INTEGER PRIMARY KEY, world INTEGER NOT NULL REFERENCES worlds(number), step INTEGER NOT NULL, tool TEXT NOT NULL,
  arguments TEXT NOT NULL, committed TEXT NOT NULL, sent TEXT, engine TEXT NOT NULL, attempts INTEGER NOT NULL,
  protocol TEXT NOT NULL, time TEXT NOT NULL, micros INTEGER NOT NULL, notes TEXT
) STRICT;  -- id counts up over all worlds, so that a step always goes at the end: no page is read or split for it
"""
_INSERT = "INSERT INTO steps VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?)"


class JournalError(Exception):
    """A step could not be written; it did not happen."""


@dataclass
class _Batch:
    rows: list[tuple[object, ...]] = field(default_factory=list)
    done: anyio.Event | None = None
    error: JournalError | None = None


class Journal:
    """Writes steps; those that arrive together are one transaction.

    SQLite in WAL mode with `synchronous=NORMAL`: what is committed outlives the process, also when it is killed; only
    a crash of the whole machine can lose the last transactions.

    Args:
        path: The file; made where there is none.

    Raises:
        BadInput: It cannot be opened, is locked, or is no journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = _open(path)
        except OSError as error:
            raise BadInput(
                error.strerror or str(error), where=str(path), do="Give another file with --journal."
            ) from None
        except sqlite3.Error as error:
            raise BadInput(
                f"the journal cannot be opened: {error}",
                where=str(path),
                do="Give another file with --journal.",
            ) from None
        self._batch: _Batch | None = None
        self._company = False
        self.transactions = 0
        """How many were committed for steps; fewer than the steps, where some arrived together."""

    def world(self, world: str, spec: str, engine: str, seed: int, started: str) -> int:
        """Note a new world, or a reset one; gives the number that its steps go by.

        Raises:
            JournalError: It could not be written.
        """
        try:
            row = self._db.execute(
                "INSERT INTO worlds (world, spec, engine, seed, started) VALUES (?,?,?,?,?)",
                (world, spec, engine, _signed(seed), started),
            )
        except sqlite3.Error as error:
            raise JournalError(f"{self.path}: {error}") from None
        return int(row.lastrowid or 0)

    async def append(self, number: int, step: Step) -> None:
        """Write a step of a world; returns once it is committed, and cannot be cancelled before.

        Raises:
            JournalError: It could not be written: the disk is full, or the file stayed locked.
        """
        row = _row(number, step)
        batch = self._batch
        if batch is None and not self._company and self.transactions % _PROBE:
            try:
                self._insert([row])
                return
            except sqlite3.Error:
                pass  # the patient way below says what it is, or waits until it is over
        if batch is not None:
            batch.rows.append(row)
            batch.done = batch.done or anyio.Event()
            with anyio.CancelScope(shield=True):
                await batch.done.wait()
        else:
            batch = self._batch = _Batch([row])
            try:
                if self._company or self.transactions % _PROBE == 0:
                    await anyio.lowlevel.cancel_shielded_checkpoint()  # steps that are ready now join in
            finally:
                self._batch = None
                self._company = len(batch.rows) > 1
                await self._commit(batch)
                if batch.done is not None:
                    batch.done.set()
        if batch.error is not None:
            raise JournalError(str(batch.error))

    async def _commit(self, batch: _Batch) -> None:
        waited = 0.0
        while True:
            try:
                self._insert(batch.rows)
                return
            except sqlite3.Error as error:
                if "locked" not in str(error) or waited >= _PATIENCE:
                    batch.error = JournalError(f"{self.path}: {error}")
                    return
            waited += 0.05
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.05)

    def _insert(self, rows: list[tuple[object, ...]]) -> None:
        """Write rows in one transaction; a single row is one by itself."""
        if len(rows) == 1:
            self._db.execute(_INSERT, rows[0])
        else:
            self._db.execute("BEGIN")
            try:
                self._db.executemany(_INSERT, rows)
                self._db.execute("COMMIT")
            except sqlite3.Error:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        self.transactions += 1

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it."""
        self._db.close()


def _open(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=2.0, check_same_thread=False, isolation_level=None)
    try:
        mark = db.execute("PRAGMA application_id").fetchone()[0]
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not empty and mark != _APPLICATION_ID:
            raise BadInput(
                "it is an SQLite file, but no journal",
                where=str(path),
                do="Give another file with --journal.",
            )
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if not empty and version != _VERSION:
            raise BadInput(
                f"it is a journal of version {version}, and this is version {_VERSION}",
                where=str(path),
                do="Give another file.",
            )
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        if empty:
            db.executescript(
                f"PRAGMA application_id={_APPLICATION_ID}; PRAGMA user_version={_VERSION}; BEGIN; {_SCHEMA} COMMIT;"
            )
        db.execute("PRAGMA wal_autocheckpoint=4000")
        db.execute("PRAGMA busy_timeout=0")
    except BaseException:
        db.close()
        raise
    return db


def _signed(seed: int) -> int:
    return seed - (1 << 64) if seed >= 1 << 63 else seed


def _row(number: int, step: Step) -> tuple[object, ...]:
    return (
        number, step.number, step.action.tool, _text(dict(step.action.arguments)), _text(step.committed.to_json()),
        None if step.sent is step.committed else _text(step.sent.to_json()), step.engine, step.attempts, step.protocol, step.time, step.micros,
        _text(list(step.notes)) if step.notes else None,
    )  # fmt: skip


def _text(value: Json) -> str:
    return encode(value).decode()


def read_journal(path: Path, world: str | None = None) -> Iterator[dict[str, Json]]:
    """The steps of a journal as JSON objects, world by world in the order they began, oldest first.

    Args:
        path: The file; it may be open in a running server.
        world: Only steps of this world.

    Raises:
        BadInput: There is no such file, or it is no journal.
    """
    if not path.is_file():
        raise BadInput("there is no such file", where=str(path))
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=2.0)
        if db.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION_ID:
            raise BadInput("it is no journal", where=str(path))
    except sqlite3.Error as error:
        raise BadInput(f"it is no journal: {error}", where=str(path)) from None
    rows = db.execute(
        "SELECT w.number, w.world, w.spec, w.seed, s.step, s.tool, s.arguments, s.committed, s.sent, s.engine, s.attempts, s.protocol, s.time, s.micros, s.notes"
        " FROM steps s JOIN worlds w ON w.number = s.world WHERE ? IS NULL OR w.world = ? ORDER BY s.world, s.step",
        (world, world),
    )
    for row in rows:
        committed = orjson.loads(row[7])
        yield {
            "episode": row[0], "world": row[1], "spec": row[2], "seed": row[3], "step": row[4], "tool": row[5], "arguments": orjson.loads(row[6]),
            "committed": committed, "sent": committed if row[8] is None else orjson.loads(row[8]), "engine": row[9], "attempts": row[10],
            "protocol": row[11], "time": row[12], "micros": row[13],
            "notes": orjson.loads(row[14]) if row[14] else [],
        }  # fmt: skip
    db.close()
