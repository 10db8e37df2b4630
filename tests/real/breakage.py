"""Ways in which our program can be broken while an assistant calls it. Each is a step that breaks a machine."""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.real.machine import Machine

GARBAGE = b"\x00\xff\xfe not what you expect \x80" * 400


@dataclass(frozen=True, slots=True)
class Breakage:
    """`apply` breaks the machine while its context lasts; `mount` gives shell for the run's own mount namespace."""

    name: str
    apply: Callable[[Machine], contextlib.AbstractContextManager[None]]
    mount: Callable[[Machine], str] | None = None
    # Where the command of the hook itself is gone, its exit code is the shell's or the interpreter's.
    command_gone: bool = False


def _once(break_it: Callable[[Machine], object]) -> Callable[[Machine], contextlib.AbstractContextManager[None]]:
    @contextlib.contextmanager
    def apply(machine: Machine) -> Iterator[None]:
        break_it(machine)
        yield

    return apply


def _nothing(machine: Machine) -> None:
    """The mount does it."""


def _garble(paths: Iterator[Path]) -> None:
    garbled = 0
    for path in paths:
        if path.is_file():
            path.write_bytes(GARBAGE)
            garbled += 1
    assert garbled, "there was nothing to break"


def _read_only(folder: Path) -> str:
    return f"mount --bind '{folder}' '{folder}'\nmount -o remount,bind,ro '{folder}'"


def _full_disk(machine: Machine) -> str:
    """The data on a small disk of its own, filled to the last byte."""
    kept = machine.data.with_name("kept")
    return "\n".join(
        (
            f"cp -a '{machine.data}' '{kept}'",
            f"mount -t tmpfs -o size=8m tmpfs '{machine.data}'",
            f"cp -a '{kept}/.' '{machine.data}'",
            f"rm -r '{kept}'",
            f"dd if=/dev/zero of='{machine.data}/filler' bs=4k 2>/dev/null || true",
        )
    )


@contextlib.contextmanager
def _locked_database(machine: Machine) -> Iterator[None]:
    holder = sqlite3.connect(machine.data / "memories.db", isolation_level=None)
    try:
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
        yield
    finally:
        holder.close()


@contextlib.contextmanager
def _held_locks(machine: Machine) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for path in (machine.data / "run" / "locks").rglob("*"):
            if path.is_file():
                fcntl.flock(stack.enter_context(path.open("rb")), fcntl.LOCK_EX)
        yield


def _newer_database(machine: Machine) -> None:
    with contextlib.closing(sqlite3.connect(machine.data / "memories.db")) as database:
        database.execute("PRAGMA user_version = 9999")


def _file_for_folder(machine: Machine) -> None:
    shutil.rmtree(machine.data)
    machine.data.write_text("not a folder")


BREAKAGES = (
    Breakage(
        "no data directory, and a parent that cannot be written",
        _once(lambda machine: shutil.rmtree(machine.data)),
        lambda machine: _read_only(machine.data.parent),
    ),
    Breakage("a read-only data directory", _once(_nothing), lambda machine: _read_only(machine.data)),
    Breakage("a full disk", _once(_nothing), _full_disk),
    Breakage("a file where the data directory should be", _once(_file_for_folder)),
    Breakage("a corrupt memories.db", _once(lambda machine: _garble(machine.data.glob("memories.db*")))),
    Breakage("a locked memories.db", _locked_database),
    Breakage("a memories.db of a newer program", _once(_newer_database)),
    Breakage("locks that nobody releases", _held_locks),
    Breakage(
        "an invalid config.yaml",
        _once(lambda machine: (machine.data / "config.yaml").write_text("language: [zh\nbrief_token_limit: much\n")),
    ),
    Breakage("a corrupt search index", _once(lambda machine: _garble(machine.data.glob("search/**/*")))),
    Breakage("broken session files", _once(lambda machine: _garble(machine.data.glob("messages/**/*.jsonl")))),
    Breakage("a broken ledger", _once(lambda machine: _garble(machine.data.glob("ledger/*")))),
    Breakage(
        "a missing module",
        _once(lambda machine: shutil.rmtree(machine.installation.package / "capture")),
    ),
    Breakage(
        "a module cut short by a failed upgrade",
        _once(lambda machine: _cut_short(machine.installation.package / "inject")),
    ),
    Breakage(
        "a package that is gone",
        _once(lambda machine: shutil.rmtree(machine.installation.package)),
        command_gone=True,
    ),
    Breakage(
        "an executable that is gone", _once(lambda machine: machine.installation.program.unlink()), command_gone=True
    ),
    Breakage(
        "an interpreter that is gone", _once(lambda machine: machine.installation.python.unlink()), command_gone=True
    ),
)


def _cut_short(folder: Path) -> None:
    for path in folder.glob("*.py"):
        path.write_text("from __future__ import annotations\n\n\ndef run(arguments: list[")
