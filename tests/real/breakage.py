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
    # What it strikes: files of the data directory, a lock that others hold, our program, or even the hook's command,
    # whose exit code then is the shell's or the interpreter's.
    of_the_data: bool = False
    busy: bool = False
    of_the_program: bool = False
    command_gone: bool = False


def _once(break_it: Callable[[Machine], object]) -> Callable[[Machine], contextlib.AbstractContextManager[None]]:
    @contextlib.contextmanager
    def apply(machine: Machine) -> Iterator[None]:
        break_it(machine)
        yield

    return apply


def _nothing(machine: Machine) -> None:
    """The mount does it."""


def _garbled(pattern: str) -> Callable[[Machine], contextlib.AbstractContextManager[None]]:
    def garble(machine: Machine) -> None:
        files = [path for path in machine.data.glob(pattern) if path.is_file()]
        assert files, "there is nothing to break"
        for path in files:
            path.write_bytes(GARBAGE)

    return _once(garble)


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
    # Each worker would wait for half a minute, and that is not what is broken.
    database = machine.installation.package / "store" / "database.py"
    database.write_text(database.read_text().replace("BUSY_SECONDS = 30.0", "BUSY_SECONDS = 1.0"))
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


def _invalid_config(machine: Machine) -> None:
    (machine.data / "config.yaml").write_text("language: [zh\nbrief_token_limit: much\n")


def _program_without(part: str) -> Callable[[Machine], contextlib.AbstractContextManager[None]]:
    return _once(lambda machine: shutil.rmtree(machine.installation.package / part))


def _cut_short(machine: Machine) -> None:
    for path in (machine.installation.package / "inject").glob("*.py"):
        path.write_text("from __future__ import annotations\n\n\ndef run(arguments: list[")


BREAKAGES = (
    Breakage(
        "no data directory, and a parent that cannot be written",
        _once(lambda machine: shutil.rmtree(machine.data)),
        lambda machine: _read_only(machine.data.parent),
    ),
    Breakage("a read-only data directory", _once(_nothing), lambda machine: _read_only(machine.data)),
    Breakage("a full disk", _once(_nothing), _full_disk),
    Breakage("a file where the data directory should be", _once(_file_for_folder), of_the_data=True),
    Breakage("a corrupt memories.db", _garbled("memories.db*"), of_the_data=True),
    Breakage("a memories.db of a newer program", _once(_newer_database), of_the_data=True),
    Breakage("a corrupt search index", _garbled("search/**/*"), of_the_data=True),
    Breakage("broken session files", _garbled("messages/**/*.jsonl"), of_the_data=True),
    Breakage("a broken ledger", _garbled("ledger/*"), of_the_data=True),
    Breakage("an invalid config.yaml", _once(_invalid_config), of_the_data=True),
    Breakage("a locked memories.db", _locked_database, busy=True),
    Breakage("locks that nobody releases", _held_locks, busy=True),
    Breakage("a missing module", _program_without("capture"), of_the_program=True),
    Breakage("a module cut short by a failed upgrade", _once(_cut_short), of_the_program=True),
    Breakage("a package that is gone", _program_without(""), of_the_program=True, command_gone=True),
    Breakage(
        "an executable that is gone",
        _once(lambda machine: machine.installation.program.unlink()),
        of_the_program=True,
        command_gone=True,
    ),
    Breakage(
        "an interpreter that is gone",
        _once(lambda machine: machine.installation.python.unlink()),
        of_the_program=True,
        command_gone=True,
    ),
)
