"""The ledger: an acknowledged line is there after any kill, a failed append leaves nothing, and each device writes its own."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from catmem.domain.change import Change
from catmem.domain.errors import LockBusy, StorageFailed
from catmem.ledger import device
from catmem.ledger import ledger as ledgers
from catmem.ledger import lines as room
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore
from tests.domain.samples import claim_about, distilled

TEXTS = ("we use pnpm for packages", "包管理一律用 pnpm")


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data")


@pytest.fixture
def ledger(paths: Paths) -> Ledger:
    return Ledger(paths)


def line(text: str = TEXTS[0], number: int = 1) -> Change:
    return distilled(claim_about(text=text, session=f"s{number}"), 70)


def append(ledger: Ledger, *changes: Change) -> list[Change]:
    with ledger.locked():
        return ledger.append(list(changes))


def own(paths: Paths, ledger: Ledger) -> Path:
    return paths.ledger / f"{ledger.device}.jsonl"


def read(paths: Paths) -> list[Change]:
    ledger = Ledger(paths)
    return [found.change for path in ledger.files() for found in ledger.read(path) if found.change]


# -- kills -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_a_kill_at_any_byte_of_an_append_costs_only_that_line(paths, ledger, text):
    pin = Change(0, "", "", "pin", "user", ids=("m1",), why=text)
    kept = append(ledger, pin, pin)
    path = own(paths, ledger)
    size = path.stat().st_size
    append(ledger, pin)
    whole = path.read_bytes()
    for cut in range(size, len(whole)):
        path.write_bytes(whole[:cut])
        assert read(paths) == kept
        after = append(Ledger(paths), pin)
        found = read(paths)
        # Without its last byte, the newline, the unacknowledged line is whole: it may count, it may not be half.
        assert [c.seq for c in found] == ([1, 2, 3] if cut == size or cut < len(whole) - 1 else [1, 2, 3, 4])
        assert found[:2] == kept and found[-1] == after[0]


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_torn_line_is_reported_and_kept(paths, ledger, cut):
    store = MemoryStore(paths, ledger)
    store.commit([line(number=1)])
    path = own(paths, ledger)
    torn = room.encode(line(number=2))[:cut]
    with path.open("ab") as file:
        file.write(torn)
    assert store.problems() == [], "a line that is still being written is no problem"
    store.commit([line(number=3)])
    problems = store.problems()
    assert len(problems) == 1 and problems[0][0] == ledger.device
    assert path.read_bytes()[problems[0][1] :].startswith(torn + b"\n")
    assert store.get(claim_about().id).now.confirmations == 2


@pytest.mark.parametrize("junk", [b"\0" * 300, b"\xff\xfe\n", b'{"op":"fly"}', b"[1,2]", b'{"seq":1e999}', b"[" * 5000])
def test_an_unreadable_line_costs_one_line_and_survives_every_rewrite(paths, ledger, junk):
    store = MemoryStore(paths, ledger)
    store.commit([line(number=1)])
    path = own(paths, ledger)
    with path.open("ab") as file:
        file.write(junk + b"\n")
    written = store.commit([line(number=2)])
    assert written[0].seq == 2 and len(store.problems()) == junk.count(b"\n") + 1 - (b"\n" in junk)
    store.forget([claim_about().id])
    assert junk in path.read_bytes() and len(store.problems()) >= 1
    store.rebuild()
    assert store.get(claim_about().id).now.status == "forgotten"


BAD = {
    "claims": [7, [None], [{"id": 1}], "abc"],
    "ids": [[1], "abc"],
    "at": [None, 5],
    "by": ["nobody", None],
    "job": [[1], "x", {"project": "p"}],
    "digest": [[1], "x"],
    "seq": [-1, 1.5, True, 10**30, "7"],
    "records": [[1], [{}]],
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in BAD.items() for value in values])
def test_a_line_with_a_wrong_field_is_reported_and_stops_nothing(paths, ledger, field, value):
    store = MemoryStore(paths, ledger)
    store.commit([line(number=1)])
    record = json.loads(room.encode(line(number=2))) | {"seq": 9, field: value}
    other = paths.ledger / "0badc0de.jsonl"
    other.write_text(json.dumps(record) + "\n", "utf-8")
    store.catch_up()
    assert [problem[0] for problem in store.problems()] == ["0badc0de"] and len(store.all()) == 1


def test_escaped_halves_of_characters_from_elsewhere_can_be_stored(paths, ledger):
    store = MemoryStore(paths, ledger)
    store.commit([line(number=1)])
    record = json.loads(room.encode(line(number=2)))
    record["claims"][0]["text"] = "broken \ud83d half"
    (paths.ledger / "0badc0de.jsonl").write_text(json.dumps(record | {"seq": 9}) + "\n", "utf-8")
    store.catch_up()
    assert store.problems() == [] and len(store.all()) == 1
    store.commit([line("mine \udc00 too", 3)])
    assert store.problems() == []


# -- a disk that refuses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_a_write_cut_short_at_any_byte_is_taken_back(paths, ledger, monkeypatch, text):
    append(ledger, line(text, 1))
    path = own(paths, ledger)
    before = path.read_bytes()
    real = os.write
    for room_left in range(len(room.encode(line(text, 2)))):
        left = [room_left]

        def short(descriptor: int, data: bytes, left: list[int] = left) -> int:
            if left[0] == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            written = real(descriptor, bytes(data)[: left[0]])
            left[0] -= written
            return written

        monkeypatch.setattr(os, "write", short)
        with pytest.raises(StorageFailed) as caught:
            append(ledger, line(text, 2))
        monkeypatch.undo()
        assert path.read_bytes() == before
    assert caught.value.exit_code == 8 and caught.value.said("zh") != caught.value.said("en")
    assert append(ledger, line(text, 2))[0].seq == 2


def test_short_writes_without_an_error_are_finished(paths, ledger, monkeypatch):
    real = os.write
    append(ledger, line(number=1))
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:7]))
    append(ledger, line(number=2), line(number=3))
    assert [c.seq for c in read(paths)] == [1, 2, 3]


def test_a_failed_fsync_or_an_interrupt_is_not_acknowledged(paths, ledger, monkeypatch):
    append(ledger, line(number=1))
    before = own(paths, ledger).read_bytes()
    for error, raised in ((OSError(errno.EIO, "I/O error"), StorageFailed), (KeyboardInterrupt(), KeyboardInterrupt)):

        def failing(descriptor: int, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(os, "fsync", failing)
        with pytest.raises(raised):
            append(ledger, line(number=2))
        monkeypatch.undo()
        assert own(paths, ledger).read_bytes() == before


def test_a_directory_that_cannot_be_made_is_storage_failed(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFailed):
        _ = Ledger(Paths(tmp_path / "file" / "data")).device


# -- numbers and devices -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("filler", [40, 70_000, 5_000_000])
def test_numbers_go_on_from_the_tail_of_a_long_file(paths, ledger, filler):
    append(ledger, line(number=1), line(number=2))
    path = own(paths, ledger)
    with path.open("ab") as file:
        file.write(b"x" * filler + b"\n")
    assert append(Ledger(paths), line(number=3))[0].seq == 3
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kept", [20, 60, -2])
def test_the_number_of_a_damaged_line_is_not_given_again(paths, ledger, kept):
    """Another device has dreamt of what stood there: a new line with its number would count as read."""
    append(ledger, *(line(number=n) for n in range(1, 13)))
    path = own(paths, ledger)
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for ending, number in ((b"\x00\xff\n", 13), (b"\x00\xff", 12)):  # the second was never whole
        path.write_bytes(whole[:last] + whole[last:][:kept] + ending)
        assert append(Ledger(paths), line(number=13))[0].seq == number


def test_an_append_reads_only_the_tail(paths, ledger, monkeypatch):
    append(ledger, *(line(number=n) for n in range(2000)))
    path = own(paths, ledger)
    assert path.stat().st_size > 500_000
    read_bytes = []
    real = Path.open

    def counting(self, *args, **kwargs):
        file = real(self, *args, **kwargs)
        if self == path:
            inner = file.read
            file = _Counting(file, inner, read_bytes)
        return file

    monkeypatch.setattr(Path, "open", counting)
    append(ledger, line(number=1))
    assert 0 < sum(read_bytes) <= 1 << 17


class _Counting:
    def __init__(self, file, inner, counts):
        self.file, self.inner, self.counts = file, inner, counts

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.file.close()

    def seek(self, *args):
        return self.file.seek(*args)

    def read(self, *args):
        data = self.inner(*args)
        self.counts.append(len(data))
        return data


def test_a_device_knows_its_own_file_again(paths, ledger):
    append(ledger, line())
    assert Ledger(paths).device == ledger.device
    shutil.rmtree(paths.run)
    assert Ledger(paths).device == ledger.device, "what runs here can be deleted"


def test_two_directories_on_one_machine_are_two_devices_even_when_ledgers_are_exchanged(paths, ledger, tmp_path):
    other_paths = Paths(tmp_path / "other")
    other = Ledger(other_paths)
    append(ledger, line(number=1))
    append(other, line(number=2))
    assert ledger.device != other.device
    for source, target in ((paths, other_paths), (other_paths, paths)):
        for path in source.ledger.glob("*.jsonl"):
            if not (target.ledger / path.name).exists():
                shutil.copy(path, target.ledger)
    assert Ledger(paths).device == ledger.device and Ledger(other_paths).device == other.device
    shutil.rmtree(paths.run)
    assert Ledger(paths).device not in (other.device,), "in doubt a new one, never another's"


def test_a_conflict_copy_is_neither_ours_nor_folded_but_reported(paths, ledger):
    store = MemoryStore(paths, ledger)
    store.commit([line(number=1)])
    path = own(paths, ledger)
    for name in (".sync-conflict-20260101-120000-ABCDEF", " (conflicted copy 2026-01-01)", "(1)"):
        shutil.copy(path, path.with_name(f"{path.stem}{name}.jsonl"))
    shutil.rmtree(paths.run)
    again = Ledger(paths)
    assert again.device == ledger.device and again.files() == [path] and len(again.copies()) == 3
    before = store.all()
    store.rebuild()
    assert store.all() == before and len(store.problems()) == 3


def test_another_machine_has_its_own_ledger_in_a_shared_folder(paths, ledger, monkeypatch):
    append(ledger, line(number=1))
    monkeypatch.setattr(device, "_machine", lambda: "feedfacefeedface")
    assert Ledger(paths).device != ledger.device
    append(Ledger(paths), line(number=2))
    assert len(read(paths)) == 2


def test_the_lock_may_be_nested_and_is_busy_for_others(paths, ledger, monkeypatch):
    monkeypatch.setattr(ledgers, "LOCK_SECONDS", 0.05)
    with ledger.locked(), ledger.locked(), pytest.raises(LockBusy) as caught, Ledger(paths).locked():
        pass
    assert caught.value.exit_code == 6
    with Ledger(paths).locked():
        pass


def test_a_rewrite_touches_only_what_it_edits(paths, ledger):
    append(ledger, line(number=1))
    path = own(paths, ledger)
    strange = json.dumps(json.loads(room.encode(line(number=2))) | {"seq": 2, "from_a_later_version": 1}).encode()
    with path.open("ab") as file:
        file.write(strange + b"\n")
    before = path.read_bytes()
    with ledger.locked():
        ledger.rewrite(lambda change: change)
    assert path.read_bytes() == before
