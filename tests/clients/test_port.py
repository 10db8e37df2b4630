from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from catmem.clients import port
from catmem.clients.catalogue import CLIENTS
from catmem.clients.fake import FakeHistory, FakeHooks, FakeInstaller
from catmem.clients.port import HookEvent, Position, TranscriptChunk


@pytest.mark.parametrize("name", list(CLIENTS))
def test_every_row_names_what_exists(name: str) -> None:
    row = CLIENTS[name]
    assert import_module(row["history"]).READER.recognises([]) is False
    for side in ("hooks", "reply", "install"):
        if row[side]:  # type: ignore[literal-required]
            import_module(row[side])  # type: ignore[literal-required]
    assert bool(row["hooks"]) == bool(row["events"]) == bool(row["reply"])


def test_the_fake_is_a_client(tmp_path: Path) -> None:
    history: port.History = FakeHistory(
        TranscriptChunk("s", position=Position(3)), TranscriptChunk("s", position=Position(9), at_end=True)
    )
    assert [c.position.offset for c in history.chunks(tmp_path)] == [3, 9]
    assert [c.position.offset for c in history.chunks(tmp_path, Position(3))] == [9]
    hooks: port.Hooks = FakeHooks()
    assert HookEvent(**hooks.parse("Stop", {"session": "s", "reply": "x"})).reply == "x"
    installer: port.Installer = FakeInstaller()
    assert [bool(installer.install()), bool(installer.install()), bool(installer.uninstall())] == [True, False, True]
