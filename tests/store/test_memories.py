"""The store: derived from the ledger whatever happens to it, one winner of every race, no byte left of the forgotten."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from catmem.domain.change import Change
from catmem.domain.errors import BadInput, LockBusy, NotFound, SchemaTooNew, StorageFailed, VersionConflict
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store import database, folding, memories
from catmem.store.memories import MemoryStore
from tests.domain.samples import claim_about, distilled, said

WORDS = ("zebra-marker 喜欢深色主题", "we deploy with quokka-marker")


def new(paths: Paths) -> MemoryStore:
    return MemoryStore(paths, Ledger(paths))


def learn(store: MemoryStore, text: str = "", **about: object) -> str:
    claim = claim_about(text=text, **about)  # type: ignore[arg-type]
    store.commit([distilled(claim, 70)])
    return claim.id


def fill(store: MemoryStore) -> None:
    learn(store, slot=0, object="yarn", at=10)
    learn(store, slot=0, object="pnpm", at=30, session="s2")
    learn(store, WORDS[0], slot=1, object="深色", at=12)
    store.commit([said("remember", claim_about(2, "npm", 40), 40)])


def files_with(paths: Paths, text: str) -> list[str]:
    words = text.encode()
    return [str(p.relative_to(paths.root)) for p in paths.root.rglob("*") if p.is_file() and words in p.read_bytes()]


# -- derived ---------------------------------------------------------------------------------------------------------


def test_a_deleted_database_comes_back_the_same(store, paths):
    fill(store)
    before = store.all()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{paths.database}{suffix}").unlink(missing_ok=True)
    assert store.all() == before, "the store that had it open"
    assert new(paths).all() == before, "another process"
    for gone in (("",), ("", "-wal"), ("", "-shm")):
        for suffix in gone:
            Path(f"{paths.database}{suffix}").unlink(missing_ok=True)
        assert new(paths).all() == before


def _random_page(data: bytes) -> bytes:
    return data[:4096] + bytes(range(1, 256)) * 20 + data[4096 + 5100 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"\x07" * len(data),
        lambda data: data[: len(data) // 2],
        lambda data: data[:50],
        lambda data: b"",
        lambda data: b"\0" * len(data),
        _random_page,
        lambda data: data[:4096] + b"\xff" * (len(data) - 4096),
    ],
    ids=["noise", "half", "torn header", "empty", "zeros", "a page of noise", "all but the first page"],
)
def test_a_damaged_database_is_set_aside_and_made_anew(store, paths, damage):
    fill(store)
    before = store.all()
    store.rebuild()
    store.close()
    paths.database.write_bytes(damage(paths.database.read_bytes()))
    again = new(paths)
    again.catch_up()
    learn(again, slot=1, object="other", at=50)
    assert [m for m in again.all() if m.id != claim_about(1).id] == [m for m in before if m.id != claim_about(1).id]
    again.rebuild()
    assert len(again.all()) == len(before)


def test_damage_that_is_met_while_reading_is_mended_and_kept_in_quarantine(store, paths):
    fill(store)
    before = store.all()
    store.connection.execute("UPDATE memories SET record = substr(record, 1, 40)")
    assert store.all() == before
    assert list(paths.quarantine.glob("memories-*.db"))


def test_a_fault_of_ours_is_not_taken_for_damage(store, paths):
    fill(store)
    with pytest.raises(sqlite3.ProgrammingError):
        store.using(lambda connection: connection.execute("SELECT ?", (1, 2)))
    assert not paths.quarantine.exists()


def test_catching_up_twice_does_nothing_and_turns_only_rise(store, paths):
    fill(store)
    turn = store.turn()
    assert new(paths).catch_up() == 0 and store.catch_up() == 0 and store.turn() == turn
    store.rebuild()
    assert store.turn() > turn, "an index must see that everything is new"
    assert {memory.id for _, memory in store.changed_since(turn)} == {memory.id for memory in store.all()}


def test_only_what_changed_is_folded_anew(store):
    fill(store)
    turn = store.turn()
    id = learn(store, slot=1, object="浅色", at=60)
    assert [memory.id for _, memory in store.changed_since(turn)] == [id]


# -- races -----------------------------------------------------------------------------------------------------------


def test_a_line_about_many_memories_is_read_once(store, monkeypatch):
    """An import, or the first reading of another device's ledger, is one line about thousands."""
    read = []
    real = folding.change_of
    monkeypatch.setattr(folding, "change_of", lambda record: read.append(record) or real(record))
    claims = tuple(claim_about(object=f"object {number}", many=True) for number in range(200))
    store.commit([replace(distilled(claims[0], 70), claims=claims)])
    assert store.counts()["live"] == 200 and len(read) == 1


def test_the_loser_of_a_race_writes_nothing(store, paths):
    id = learn(store)
    lines = paths.ledger.joinpath(f"{new(paths)._ledger.device}.jsonl").read_bytes()
    with pytest.raises(VersionConflict) as caught:
        store.commit([Change(0, "", "", "pin", "user", ids=(id,))], {id: 7})
    assert caught.value.exit_code == 5
    assert paths.ledger.joinpath(f"{store._ledger.device}.jsonl").read_bytes() == lines
    with pytest.raises(VersionConflict):
        store.commit([Change(0, "", "", "pin", "user", ids=(id,))], {"m000000000000": 1})


def _race(root: str, number: int, rounds: int) -> None:
    store = new(Paths(Path(root)))
    for turn in range(rounds):

        def propose(turn: int = turn) -> tuple[list[Change], dict[str, int]]:
            slot = turn % 3
            claim = claim_about(slot, "pnpm", 1, session=f"s-{number}-{turn}")
            memory = store.get(claim.id)
            return [distilled(claim, 2)], {claim.id: memory.version if memory else 0}

        store.commit_retrying(propose)
    store.close()


def test_eight_processes_lose_nothing_and_versions_rise(paths):
    processes, rounds = 8, 50
    context = multiprocessing.get_context("fork")
    new(paths).catch_up()
    workers = [context.Process(target=_race, args=(str(paths.root), n, rounds)) for n in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * processes
    store = new(paths)
    assert store.problems() == [] and len(store._ledger.files()) == 1
    changes = store.changes()
    assert sorted(change.seq for change in changes) == list(range(1, processes * rounds + 1))
    for memory in store.live():
        said_in = [c for c in changes if c.claims[0].id == memory.id]
        # Each new session is one version: a lost race that was not retried would leave a gap.
        assert memory.version == memory.now.confirmations == len(said_in)
    assert sum(memory.version for memory in store.live()) == processes * rounds


# -- locks -----------------------------------------------------------------------------------------------------------


def test_a_reader_does_not_block_writers_and_sees_its_own_moment(store, paths):
    id = learn(store)
    reader = sqlite3.connect(paths.database, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memories").fetchone()[0] == 1
    learn(store, slot=1, object="x")
    assert store.get(id) and len(store.all()) == 2
    assert reader.execute("SELECT count(*) FROM memories").fetchone()[0] == 1
    reader.close()


def test_a_locked_database_is_lock_busy_and_loses_nothing(paths, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    store = new(paths)
    learn(store)
    ledger = paths.ledger / f"{store._ledger.device}.jsonl"
    before = ledger.read_bytes()
    other = sqlite3.connect(paths.database, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(LockBusy) as caught:
        learn(store, slot=1, object="x")
    assert caught.value.exit_code == 6 and caught.value.said("zh") != caught.value.said("en")
    assert ledger.read_bytes() == before, "nothing was promised"
    other.execute("ROLLBACK")
    assert learn(store, slot=1, object="x") and len(store.all()) == 2


def test_a_fold_that_fails_after_the_append_is_made_up_for(store, monkeypatch):
    real, calls = memories.fold_news, []

    def failing(connection, ledger):
        calls.append(1)
        if len(calls) == 2:
            raise sqlite3.OperationalError("database or disk is full")
        return real(connection, ledger)

    monkeypatch.setattr(memories, "fold_news", failing)
    id = learn(store)
    monkeypatch.undo()
    assert store.catch_up() == 1 and store.get(id)


def test_a_ledger_that_cannot_be_written_is_storage_failed_and_nothing_is_folded(store, paths, monkeypatch):
    learn(store)

    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StorageFailed) as caught:
        learn(store, slot=1, object="x")
    monkeypatch.undo()
    assert caught.value.exit_code == 8 and len(store.all()) == 1 and store.problems() == []


# -- schema ----------------------------------------------------------------------------------------------------------


def test_a_newer_schema_is_refused_and_nothing_is_changed(store, paths):
    fill(store)
    store.connection.execute("PRAGMA user_version = 99")
    store.close()
    before = {p: p.read_bytes() for p in paths.root.rglob("*") if p.is_file()}
    for work in (
        lambda s: s.catch_up(),
        lambda s: s.all(),
        lambda s: learn(s, slot=1, object="x"),
        lambda s: s.forget([claim_about().id]),
        lambda s: s.rebuild(),
    ):
        refused = new(paths)
        with pytest.raises(SchemaTooNew) as caught:
            work(refused)
        assert caught.value.exit_code == 9 and "99" in caught.value.said("zh")
    after = {p: p.read_bytes() for p in paths.root.rglob("*") if p.is_file()}
    assert after == before
    with pytest.raises(SchemaTooNew):
        MemoryStore(paths, Ledger(paths), readonly=True).all()


# -- forgetting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", WORDS)
def test_forget_leaves_no_byte_of_the_text(store, paths, text):
    fill(store)
    id = learn(store, text, slot=1, object="主题", at=45)
    store.commit([said("edit", claim_about(1, "主题", 50, text=text + "!"), 50)])
    assert files_with(paths, text)
    store.forget([id], "asked")
    assert files_with(paths, text) == []
    memory = store.get(id)
    assert memory and memory.now.status == "forgotten" and store.counts()["forgotten"] == 1
    before = store.all()
    store.rebuild()
    assert store.all() == before and files_with(paths, text) == []


def test_forget_takes_the_digest_and_the_torn_line_too(store, paths):
    id = learn(store, WORDS[1], at=10)
    assert WORDS[1] in store.digests("shop", 5)[0]["text"]
    ledger = paths.ledger / f"{store._ledger.device}.jsonl"
    with ledger.open("ab") as file:
        file.write(b'{"seq":9,"text":"' + WORDS[1].encode())
    store.forget([id])
    assert store.digests("shop", 5) == [] and files_with(paths, WORDS[1]) == []
    assert store.from_session("shop", "s1") == []


@pytest.mark.parametrize("reading", ["FROM memories", "FROM changes"])
def test_forget_leaves_no_byte_while_another_reads(store, paths, monkeypatch, reading):
    monkeypatch.setattr(memories, "_WIPE_SECONDS", 0.05)
    fill(store)
    id = learn(store, WORDS[1], slot=1, object="x", at=60)
    reader = sqlite3.connect(paths.database, isolation_level=None)
    reader.execute("BEGIN")
    count = reader.execute(f"SELECT count(*) {reading}").fetchone()
    store.forget([id])
    assert files_with(paths, WORDS[1]) == []
    assert reader.execute(f"SELECT count(*) {reading}").fetchone() == count, "the reader keeps its moment"
    reader.close()
    assert len(store.live()) == len(new(paths).live()) == 2


def test_forget_takes_damaged_databases_and_what_was_merged_away(store, paths):
    kept, other = claim_about(0, "pnpm", 10, text=WORDS[0]), claim_about(2, "pnpm", 12, text=WORDS[1])
    store.commit([distilled(kept, 20), distilled(other, 20), said("merge", kept, 40, absorbed=(other.id,))])
    store.close()
    database.set_aside(paths, lambda: 0.0)
    assert files_with(paths, WORDS[0])
    store.forget([kept.id])
    assert files_with(paths, WORDS[0]) == files_with(paths, WORDS[1]) == []
    assert [m.now.status for m in store.all()] == ["forgotten", "forgotten"]


def test_forgetting_works_as_the_first_thing_a_process_does_and_twice_changes_nothing(store, paths):
    id = learn(store)
    new(paths).forget([id])
    before = store.all(), store.changes()
    new(paths).forget([id])
    assert (store.all(), store.changes()) == before
    with pytest.raises(NotFound):
        store.forget(["m000000000000"])


def test_a_kill_between_the_forget_and_its_wiping_is_made_up_for(store, paths, monkeypatch):
    id = learn(store, WORDS[1])

    def killed(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(MemoryStore, "_wipe", killed)
    with pytest.raises(KeyboardInterrupt):
        store.forget([id])
    monkeypatch.undo()
    store.close()
    assert files_with(paths, WORDS[1])
    new(paths).catch_up()
    assert files_with(paths, WORDS[1]) == []


def test_a_job_cannot_write_the_forgotten_again(store, paths):
    id = learn(store, WORDS[1])
    store.forget([id])
    learn(store, WORDS[1], session="s2")
    learn(store, WORDS[1], session="s3", many=True)
    assert files_with(paths, WORDS[1]) == [] and store.live() == []
    assert {row[0] for row in store.connection.execute("SELECT session FROM distilled")} == {"s1", "s2", "s3"}
    store.commit([said("remember", claim_about(text=WORDS[1], at=90), 0)])
    assert [m.now.text for m in store.live()] in ([], [WORDS[1]])


# -- reading ---------------------------------------------------------------------------------------------------------


def test_ids_may_be_shortened_but_wildcards_are_nothing_special(store):
    fill(store)
    id = claim_about().id
    assert store.require(id[:8]).id == id
    for wrong in ("%", "m%", "_" * 13, "", "m", id[:3]):
        with pytest.raises((NotFound, BadInput)):
            store.require(wrong)


def test_what_a_project_sees(store):
    fill(store)
    assert {m.project for m in store.live("shop")} == {"shop"}
    wide = claim_about(2, "npm", 50, scope="global")
    store.commit([said("promote", wide, 70)])
    assert any(m.now.scope == "global" for m in store.live("shop"))
    assert all(m.now.scope == "project" for m in store.live("shop", with_global=False))
    assert store.counts()["live"] == len(store.live())


def test_a_change_that_could_not_be_read_back_is_refused(store):
    store.catch_up()
    bad = Change(0, "", "", "import", "import", records=({"id": "m1", "version": 1, "valid_from": None},))
    with pytest.raises(BadInput) as caught:
        store.commit([bad])
    assert caught.value.exit_code == 2 and store.changes() == []


if sys.platform == "win32":
    pytest.skip("folders are copied by rename there", allow_module_level=True)


def test_a_copied_folder_has_the_same_memories(store, paths, tmp_path):
    fill(store)
    store.close()
    shutil.copytree(paths.root, tmp_path / "copy")
    assert new(Paths(tmp_path / "copy")).all() == store.all()
