from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from catmem.sessions import rewrite
from catmem.sessions.rewrite import remove_temporaries, replace_file


def test_a_refused_replace_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, replace, refusals = tmp_path / "a.jsonl", os.replace, 3

    def busy(source: Any, target: Any) -> None:
        nonlocal refusals
        refusals -= 1
        if refusals >= 0:
            raise PermissionError(errno.EACCES, "in use")
        replace(source, target)

    monkeypatch.setattr(rewrite, "_PAUSE", 0)
    monkeypatch.setattr(os, "replace", busy)
    replace_file(str(path), [b"new ", "忆".encode()])
    assert path.read_text() == "new 忆" and len(list(tmp_path.iterdir())) == 1


def test_a_replace_that_never_works_leaves_the_old_file_and_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("old")

    def refuse(source: Any, target: Any) -> None:
        raise PermissionError(errno.EACCES, "in use")

    monkeypatch.setattr(rewrite, "_PAUSE", 0)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        replace_file(str(path), [b"new"])
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("short", [False, True])
def test_a_disk_that_is_full_at_any_byte_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: bool
) -> None:
    path, write, room = tmp_path / "a.jsonl", os.write, 0
    path.write_text("old")
    pieces = ["忆".encode() * 40, b"", b"second " * 20]
    whole = b"".join(pieces)

    def limited(descriptor: int, data: Any) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        most = min(room, max(1, len(data) // 3)) if short else room
        done = write(descriptor, memoryview(data)[:most])
        room -= done
        return done

    monkeypatch.setattr(os, "write", limited)
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    for size in range(len(whole)):
        room = size
        with pytest.raises(OSError, match="No space"):
            replace_file(str(path), pieces)
        assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
    room = len(whole)
    replace_file(str(path), pieces)
    assert path.read_bytes() == whole


def test_only_the_temporaries_of_a_file_are_removed(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.12-ab.tmp", "b.jsonl.12-ab.tmp", "a.jsonl.bak"):
        (tmp_path / name).write_text("x")
    assert remove_temporaries(str(tmp_path), "a.jsonl") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "a.jsonl.bak", "b.jsonl.12-ab.tmp"]
