from __future__ import annotations

import os

import pytest


@pytest.fixture
def no_disk_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where thousands of files are written and no power is lost."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr("catmem.sessions.open_session._sync_data", lambda descriptor: None)
