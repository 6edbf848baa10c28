"""The journal: every step, committed before its answer leaves; no half step, whatever happens to the file."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import anyio
import pytest

from mcp_world import Action, BadInput, Journal, JournalError, World
from mcp_world.world.journal import read_journal
from tests.conftest import mcp_world

pytestmark = pytest.mark.anyio


async def a_run(path: Path, calls: int = 3) -> World:
    journal = Journal(path)
    world = World("crm", seed=4, journal=journal)
    for n in range(calls):
        await world.step(Action("get_contact", {"contact_id": n + 1}))
    journal.close()
    return world


async def test_a_step_is_there_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    world = await a_run(tmp_path / "j.db")
    rows = list(read_journal(tmp_path / "j.db"))
    assert [row["step"] for row in rows] == [1, 2, 3]
    first = rows[0]
    assert first["arguments"] == {"contact_id": 1}
    assert first["committed"] == first["sent"] == world.steps[0].committed.to_json()
    assert (first["engine"], first["seed"], first["spec"], first["protocol"], first["attempts"]) == (
        "procedural",
        4,
        "crm",
        "2026-07-28",
        1,
    )
    assert first["micros"] > 0 and first["time"] < rows[1]["time"]


async def test_a_step_is_committed_when_its_answer_leaves(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    for n in range(1, 6):
        await world.step(Action("get_contact", {"contact_id": 1}))
        assert len(list(read_journal(tmp_path / "j.db"))) == n
    journal.close()


async def test_steps_of_many_worlds_share_a_transaction(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    worlds = [World("crm", seed=n, journal=journal, id=f"w{n}") for n in range(10)]
    for world in worlds:
        await world.step(Action("get_contact", {"contact_id": 1}))
    before = journal.transactions
    async with anyio.create_task_group() as tg:
        for world in worlds:
            tg.start_soon(world.step, Action("get_contact", {"contact_id": 2}))
    assert journal.transactions - before <= 5
    journal.close()
    assert len(list(read_journal(tmp_path / "j.db"))) == 20
    assert len(list(read_journal(tmp_path / "j.db", "w3"))) == 2


async def test_a_reset_begins_another_episode(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    await world.step(Action("get_contact", {"contact_id": 1}))
    await world.reset(seed=9)
    await world.step(Action("get_contact", {"contact_id": 1}))
    journal.close()
    assert [(row["episode"], row["seed"], row["step"]) for row in read_journal(tmp_path / "j.db")] == [
        (1, 0, 1),
        (2, 9, 1),
    ]


async def test_a_locked_file_is_waited_for_and_then_is_an_error_without_a_half_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    await world.step(Action("get_contact", {"contact_id": 1}))
    other = sqlite3.connect(tmp_path / "j.db")
    other.execute("BEGIN IMMEDIATE")
    ledger = world.ledger.to_json()
    monkeypatch.setattr("mcp_world.world.journal._PATIENCE", 0.2)
    with pytest.raises(JournalError, match="j.db: database is locked"):
        await world.step(Action("create_contact", {"first_name": "A", "last_name": "B", "email": "a@example.com"}))
    assert len(world.steps) == 1 and world.ledger.to_json() == ledger
    other.rollback()
    made = await world.step(Action("create_contact", {"first_name": "A", "last_name": "B", "email": "a@example.com"}))
    assert made.structured["first_name"] == "A"
    journal.close()
    assert [row["step"] for row in read_journal(tmp_path / "j.db")] == [1, 2]


async def test_a_lock_that_ends_in_time_is_not_noticed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    await world.step(Action("get_contact", {"contact_id": 1}))
    other = sqlite3.connect(tmp_path / "j.db")
    other.execute("BEGIN IMMEDIATE")

    async def let_go() -> None:
        await anyio.sleep(0.3)
        other.rollback()

    async with anyio.create_task_group() as tg:
        tg.start_soon(let_go)
        assert not (await world.step(Action("get_contact", {"contact_id": 1}))).is_error
    journal.close()


async def test_a_step_whose_caller_goes_away_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    await world.step(Action("get_contact", {"contact_id": 1}))
    other = sqlite3.connect(tmp_path / "j.db")
    other.execute("BEGIN IMMEDIATE")
    async with anyio.create_task_group() as tg:
        tg.start_soon(world.step, Action("get_contact", {"contact_id": 2}))
        await anyio.sleep(0.2)
        tg.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.1)
            other.rollback()
    await world.step(Action("get_contact", {"contact_id": 3}))
    journal.close()
    assert [row["step"] for row in read_journal(tmp_path / "j.db")] == [step.number for step in world.steps]


async def test_a_really_full_disk_is_a_clear_error_and_the_world_goes_on_once_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        journal = Journal(disk / "j.db")
        world = World("crm", journal=journal)
        (disk / "ballast").write_bytes(b"x" * 300_000)
        with pytest.raises(JournalError, match=r"j\.db: (database or disk is full|disk I/O error)"):
            for _ in range(500):
                await world.step(Action("list_contacts", {"limit": 50}))
        steps = len(world.steps)
        assert steps > 0
        (disk / "ballast").unlink()
        await world.step(Action("get_contact", {"contact_id": 2}))
        journal.close()
        assert [row["step"] for row in read_journal(disk / "j.db")] == list(range(1, steps + 2))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


async def test_a_full_disk_is_a_clear_error_without_a_half_step(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    world = World("crm", journal=journal)
    await world.step(Action("get_contact", {"contact_id": 1}))
    pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
    journal._db.execute(f"PRAGMA max_page_count={pages}")  # SQLite's own way to run out of room
    with pytest.raises(JournalError, match=r"j\.db: database or disk is full"):
        for _ in range(200):
            await world.step(Action("list_contacts", {"limit": 50}))
    steps = len(world.steps)
    journal._db.execute("PRAGMA max_page_count=1000000")
    await world.step(Action("get_contact", {"contact_id": 2}))
    journal.close()
    assert [row["step"] for row in read_journal(tmp_path / "j.db")] == list(range(1, steps + 2))


async def test_the_log_command_prints_a_table_and_json_lines(tmp_path: Path) -> None:
    await a_run(tmp_path / "j.db")
    lines = mcp_world("log", str(tmp_path / "j.db"), "--json").stdout.splitlines()
    assert [json.loads(line)["tool"] for line in lines] == ["get_contact"] * 3
    assert json.loads(lines[0]) == next(read_journal(tmp_path / "j.db"))
    table = mcp_world("log", str(tmp_path / "j.db"), "--world", "default").stdout
    assert table.count("get_contact") == 3
    assert "get_contact" not in mcp_world("log", str(tmp_path / "j.db"), "--world", "other").stdout


@pytest.mark.parametrize("kind", ["missing", "text", "other sqlite", "newer", "folder"])
async def test_what_is_no_journal_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    if kind == "text":
        path.write_text("hello " * 1000)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("other sqlite", "newer"):
        await a_run(path) if kind == "newer" else None
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version=99") if kind == "newer" else db.execute("CREATE TABLE a (b)")
        db.close()
    if kind != "missing":
        with pytest.raises(BadInput, match=r"x\.db"):
            Journal(path)
    if kind != "newer":
        done = mcp_world("log", str(path))
        assert done.returncode == 2 and done.stderr.count("\n") == 1
