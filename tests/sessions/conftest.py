from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.sessions.damage import put
from tests.sessions.support import place_in, record

MESSAGES = 4


@pytest.fixture
def no_disk_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where thousands of files are written and no power is lost."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr("catmem.sessions.open_session._sync_data", lambda descriptor: None)


@pytest.fixture
def sound(tmp_path: Path) -> bytes:
    """The bytes of a session of four messages, the title and the workspace."""
    place = place_in(tmp_path / "sound")
    for n in range(1, MESSAGES + 1):
        calls = [{"id": "c", "name": "Bash", "arguments": '{"command":"ls"}'}] if n == 2 else ()
        put(place, {**record(n), **({"toolCalls": list(calls)} if calls else {})})
    return Path(place.file).read_bytes()
