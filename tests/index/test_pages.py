"""Pages of mapped files leave the memory while an index is written, and nothing is lost by it."""

from __future__ import annotations

import mmap
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.index import pages

SIZE = 8 << 20

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux is asked to")


@pytest.fixture
def mapped(tmp_path: Path) -> Iterator[mmap.mmap]:
    file = tmp_path / "a segment.store"
    file.write_bytes(bytes(range(256)) * (SIZE // 256))
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        with mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as found:
            yield found


def test_only_files_of_the_folder_are_found(mapped: mmap.mmap, tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    assert [length for _, length in pages._mapped(str(tmp_path))] == [SIZE]
    assert list(pages._mapped(str(tmp_path / "beside"))) == []
    assert list(pages._mapped(str(tmp_path.parent))) == []


def test_what_is_mapped_can_be_read_all_the_while(mapped: mmap.mmap, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(pages, "_SECONDS", 0.001)
    with pages.given_back(tmp_path):
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            assert mapped[:256] == mapped[-256:] == bytes(range(256))


def test_nothing_runs_on_afterwards(tmp_path: Path) -> None:
    before = threading.active_count()
    with pytest.raises(ValueError, match="failed"), pages.given_back(tmp_path):
        raise ValueError("failed")
    assert threading.active_count() == before
