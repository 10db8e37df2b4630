"""A backup that was put back: memory and the progress of distilling are of one instant, so the rest is made up for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from catmem.domain.session import SessionRef
from catmem.wiring import Catmem
from tests.distil.talks import PROJECT, talk

SESSIONS = (
    ("U: we use npm as the package manager in this project", "A: OK."),
    ("U: 记住，我们的数据库统一用 Postgres。", "A: 好的。"),
    ("U: Remember: our releases are tagged by the bot, never by hand.", "A: Noted."),
    ("U: we moved from npm to pnpm in this project last week", "A: OK."),
    ("U: 记住，我们的数据库统一用 Postgres。", "A: 我知道。"),
    ("U: 以后提交信息都用英文写。", "A: 好的。"),
    ("U: Scratch that about releases tagged by the bot, forget it.", "A: All right."),
)


def memories(catmem: Catmem) -> list[tuple[Any, ...]]:
    catmem.store.catch_up()
    return sorted(
        (m.id, m.now.status, m.now.scope, m.now.confirmations, tuple(revision.text for revision in m.revisions))
        for m in catmem.store.all()
    )


def test_whatever_line_the_ledger_is_put_back_to_the_same_memory_comes_of_it(tmp_path: Path) -> None:
    """Also to none at all, which is the cursor put back to the start; and once more changes nothing."""
    catmem = Catmem(tmp_path / "whole")
    for number, lines in enumerate(SESSIONS, 1):
        key = f"chat:{number}"
        catmem.history.append(SessionRef(PROJECT, key), talk(*lines, day=number, session=key))
        catmem.distiller.run(everything=True)
    expected = memories(catmem)
    assert b'"op":"retire"' in (tmp_path / "whole" / "ledger" / catmem.ledger.files()[0].name).read_bytes()
    assert len(expected) >= 4 and any(len(memory[-1]) > 1 for memory in expected)
    (ledger,) = catmem.ledger.files()
    lines = ledger.read_bytes().splitlines(keepends=True)
    catmem.close()
    for kept in range(1, len(lines) + 1):
        for database in (True, False):  # put back alone, or with the database of today
            root = tmp_path / f"{kept}{database}"
            shutil.copytree(tmp_path / "whole", root)
            (root / "ledger" / ledger.name).write_bytes(b"".join(lines[:kept]))
            if not database:
                for path in root.glob("memories.db*"):
                    path.unlink()
            restored = Catmem(root)
            restored.store.catch_up()
            restored.distiller.run(everything=True)
            assert memories(restored) == expected, (kept, database)
            size = sum(path.stat().st_size for path in restored.ledger.files())
            restored.distiller.run(everything=True)
            assert sum(path.stat().st_size for path in restored.ledger.files()) == size
            restored.close()
