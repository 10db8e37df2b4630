"""What a power loss leaves: a disk that forgets whatever was not synced, under every durability."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.errors import StorageFailed
from catmem.sessions import rewrite
from catmem.sessions.names import Place
from catmem.sessions.parts import Part
from catmem.sessions.records import mark_record
from catmem.sessions.repair import check, repair
from catmem.sessions.trim import archive_oldest, consolidate, trim
from tests.sessions.long import NOW, archived_lines, live_lines, put, read_uids, said, talk
from tests.sessions.support import at, place_in


class PageCache:
    """Knows of each file under a folder what a sync of it, and of the folder's names, has brought to the disk."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._root = root
        self._bytes: dict[int, bytes] = {}  # of an inode
        self._names: dict[Path, int] = {}
        monkeypatch.setattr(os, "fsync", self._sync)
        monkeypatch.setattr(os, "fdatasync", self._sync)
        monkeypatch.setattr("catmem.sessions.open_session._sync_data", self._sync)
        self._held: list[Any] = []
        self.flush()

    def flush(self) -> None:
        """Everything reaches the disk, as it does some seconds later."""
        for path in self._files():
            self._keep(path)
            self._names[path] = path.stat().st_ino

    def drop(self, target: Path, *, names_too: bool = False) -> Path:
        """What the disk has after the power went, as a folder of its own.

        A file system may bring a name to the disk before it is told to: `names_too` has all of them there.
        """
        shutil.rmtree(target, ignore_errors=True)
        now = {path: path.stat().st_ino for path in self._files()} if names_too else self._names
        for path, inode in now.items():
            if inode in self._bytes or names_too:
                copy = target / path.relative_to(self._root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(self._bytes.get(inode, b""))
        return target

    def _sync(self, descriptor: int) -> None:
        here = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        if here.is_dir():
            present = {path for path in self._files() if path.parent == here}
            self._names = {p: inode for p, inode in self._names.items() if p.parent != here or p in present}
            self._names |= {path: path.stat().st_ino for path in present}
        else:
            self._keep(here)

    def _keep(self, path: Path) -> None:
        # Held open, so that no other file gets its inode meanwhile.
        file = path.open("rb")
        self._held.append(file)
        self._bytes[os.fstat(file.fileno()).st_ino] = file.read()

    def _files(self) -> list[Path]:
        return [path for path in self._root.rglob("*") if path.is_file() and "locks" not in path.parts]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PageCache:
    (tmp_path / "data").mkdir()
    return PageCache(tmp_path / "data", monkeypatch)


def after_power_loss(tmp_path: Path, cache: PageCache) -> list[str]:
    there = place_in(cache.drop(tmp_path / "after"))
    if not Path(there.file).exists():
        return []
    uids = read_uids(there)
    repair(there, NOW)
    assert check(there) == []
    return uids


def test_message_survives_at_once(tmp_path: Path, cache: PageCache) -> None:
    place = place_in(tmp_path / "data")
    for number in range(1, 9):
        put(place, said(number, "user" if number % 2 else "assistant"), durability="message")
        assert after_power_loss(tmp_path, cache) == [f"u{n}" for n in range(1, number + 1)]


def test_turn_survives_with_its_answer(tmp_path: Path, cache: PageCache) -> None:
    place = place_in(tmp_path / "data")
    put(place, said(1, "user"), durability="turn")
    assert after_power_loss(tmp_path, cache) in ([], ["u1"])
    put(place, said(2, "assistant"), durability="turn")
    assert after_power_loss(tmp_path, cache) == ["u1", "u2"]
    put(place, said(3, "user"), said(4, "tool"), durability="turn")
    assert after_power_loss(tmp_path, cache) == ["u1", "u2"], "the shim drops what was not synced"
    put(place, mark_record("end", at(5), reason="clear"), durability="turn")
    assert after_power_loss(tmp_path, cache) == ["u1", "u2", "u3", "u4"]


def test_none_leaves_it_to_the_system(tmp_path: Path, cache: PageCache) -> None:
    place = place_in(tmp_path / "data")
    put(place, said(1, "user"), said(2, "assistant"))
    assert after_power_loss(tmp_path, cache) == []
    cache.flush()
    put(place, said(3, "user"), said(4, "assistant"))
    assert after_power_loss(tmp_path, cache) == ["u1", "u2"], "and what was there is not hurt"
    cache.flush()
    assert after_power_loss(tmp_path, cache) == ["u1", "u2", "u3", "u4"]


def test_no_step_of_a_compaction_loses_a_line(
    tmp_path: Path, cache: PageCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path / "data")
    put(place, *talk(8), said(90, "user"), said(91, "assistant", calls=["z"]), *talk(2, 95))
    cache.flush()
    lines, uids, losses = live_lines(place), read_uids(place), 0

    def looked(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal losses
            for names_too in (False, True):
                after = place_in(cache.drop(tmp_path / "after", names_too=names_too))
                assert lines.items() <= {**archived_lines(after), **live_lines(after)}.items()
                assert [uid for uid in read_uids(after) if uid in uids] == uids
            losses += 1
            return function(*args, **named)

        return call

    # The power goes before and after each step that changes a name or syncs.
    for name in ("replace", "fsync"):
        monkeypatch.setattr(os, name, looked(getattr(os, name)))
    part = archive_oldest(place, 10, 5, NOW)
    assert isinstance(part, Part)
    consolidate(place, part, NOW)
    trim(place, NOW)
    monkeypatch.undo()
    assert losses >= 6
    after = place_in(cache.drop(tmp_path / "after"))
    assert not set(live_lines(after)) & set(archived_lines(after))
    assert len(read_uids(after)) == len(uids) + 1, "and the call that was broken off has its result"


# -- a disk that refuses, in the midst of a rewrite


def compacted(place: Place) -> None:
    part = archive_oldest(place, 10, 5, NOW)
    if isinstance(part, Part):
        consolidate(place, part, NOW)
    trim(place, NOW)


@pytest.mark.parametrize("short", [False, True])
def test_a_full_disk_at_every_byte_of_a_compaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: bool
) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr("catmem.sessions.open_session._sync_data", lambda descriptor: None)
    write, room = os.write, 1 << 60

    def limited(descriptor: int, data: Any) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(28, "No space left on device")
        # A disk may take less than it is given even while it has room.
        most = min(room, max(1, len(data) // 2)) if short else room
        done = write(descriptor, memoryview(data)[:most])
        room -= done
        return done

    model = place_in(tmp_path / "model")
    put(model, *talk(5), said(30, "user"), said(31, "assistant", calls=["z"]), *talk(3, 40))
    sound = Path(model.file).read_bytes()
    lines, uids = live_lines(model), read_uids(model)
    monkeypatch.setattr(os, "write", limited)
    size, done = 0, False
    while not done:
        place = place_in(tmp_path / f"at{size}")
        Path(place.file).parent.mkdir(parents=True)
        Path(place.file).write_bytes(sound)
        room = size
        try:
            compacted(place)
            done = True
        except StorageFailed as error:
            assert "No space left" in error.en and "重试" in error.zh
        room = 1 << 60
        assert lines.items() <= {**archived_lines(place), **live_lines(place)}.items(), size
        assert [uid for uid in read_uids(place) if uid in uids] == uids, size
        assert not list(Path(place.file).parent.rglob("*.tmp")), size
        compacted(place)
        assert not set(live_lines(place)) & set(archived_lines(place)) and check(place) == [], size
        shutil.rmtree(tmp_path / f"at{size}")
        # Every byte of a rewrite is test_rewrite's.
        size += 1 if size < 12 else 89
    assert size > 3000


def test_a_replace_that_fails_three_times_then_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, refusals, replace = place_in(tmp_path), 3, os.replace
    put(place, *talk(8))
    lines = live_lines(place)

    def busy(source: Any, target: Any) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise PermissionError(13, "in use")
        replace(source, target)

    monkeypatch.setattr(rewrite, "_PAUSE", 0)
    monkeypatch.setattr(os, "replace", busy)
    compacted(place)
    assert refusals < 0 and {**archived_lines(place), **live_lines(place)} == lines


def test_a_replace_that_never_works_is_an_error_and_the_session_lives_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    lines = live_lines(place)

    def refuse(source: Any, target: Any) -> None:
        raise PermissionError(13, "in use")

    with monkeypatch.context() as patched:
        patched.setattr(rewrite, "_PAUSE", 0)
        patched.setattr(os, "replace", refuse)
        with pytest.raises(StorageFailed, match="in use"):
            compacted(place)
        assert put(place, said(99, "user"))["new"] == [33]
    assert live_lines(place).items() >= lines.items() and not list(tmp_path.rglob("*.tmp"))
    put(place, said(100, "assistant"))
    compacted(place)
    assert {**archived_lines(place), **live_lines(place)}.items() >= lines.items() and check(place) == []
