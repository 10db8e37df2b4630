"""What every command owes whoever gives it something wrong: a clear sentence, and nothing lost."""

from __future__ import annotations

import re
import subprocess
import sys

from catmem.domain.errors import CatmemError
from tests.cli.shell import LOCALES, Ended, Shell

DOCUMENTED = {0, 1, 130, CatmemError.exit_code, *(kind.exit_code for kind in CatmemError.__subclasses__())}
GARBAGE = b"\x00\xff\xfe not what you expect \x80\n" * 200
CHINESE = re.compile("[\u4e00-\u9fff]")
# Reading and writing, shallow and deep.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("init",), ("recall", "pnpm", "--project", "shop"), ("recall", "--save", "I read first"), ("brief",),
    ("log",), ("forget", "pnpm", "--yes"), ("sessions",), ("sessions", "show", "monday"), ("import", "new.jsonl"),
    ("export",), ("work",), ("status",), ("stats",), ("doctor",), ("config", "get"), ("config", "set", "max_recall_items", "9"),
)  # fmt: skip


def kept(shell: Shell) -> dict[str, bytes]:
    """What cannot be made again."""
    return {
        str(path.relative_to(shell.data)): path.read_bytes()
        for place in ("config.yaml", "ledger", "messages", "secrets.key")
        for path in [shell.data / place, *(shell.data / place).rglob("*")]
        if path.is_file()
    }


def is_clear(shell: Shell, done: Ended, *codes: int) -> None:
    """One sentence of ours, in the user's language, and one of the exit codes (any documented one if none is named)."""
    told = f"exited {done.code}: {done.out}{done.err}"
    assert "Traceback" not in done.out + done.err, told
    assert done.code in (codes or DOCUMENTED - {CatmemError.exit_code}), told
    if done.code not in (0, 1):
        last = done.err.splitlines()[-1]
        assert last.startswith("mem: "), told
        assert bool(CHINESE.search(last)) == (shell.environment["LANG"] == LOCALES["zh"]), told


def started(shell: Shell, *arguments: str, **how: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "catmem", *arguments],
        cwd=shell.folder,
        env=shell.environment,
        stderr=subprocess.PIPE,
        **how,  # type: ignore[call-overload]
    )
