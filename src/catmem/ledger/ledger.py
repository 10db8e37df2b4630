"""The ledgers: every change of memory, one a line, append-only; each device writes its own file alone.

Line 1 names the file: {"format", "device", "machine"}. `machine` is how a device knows its own file again in a data
directory that several machines share. Two directories on one machine are two devices: where ledgers were copied from
one to the other, a note under run/ tells which is this directory's own.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.clock import Clock, now, system_clock
from catmem.domain.errors import DataDamaged, LockBusy, StorageFailed
from catmem.settings.paths import FILE_MODE, Paths, write_private
from catmem.text.encoding import clean

FORMAT = "catmem-ledger/1"
# Longer than any fold and write of ours; whoever waits longer is told so.
LOCK_SECONDS = 20.0
# An append holds the lock for some milliseconds; a waiter that slept longer would mostly sleep.
_POLL_SECONDS = 0.01
# A rewritten ledger differs in its words or, behind them, in where its lines end: some lines tell.
_MARK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a ledger: where it ends, and its change; `problem` says why there is none."""

    start: int
    end: int
    change: Change | None
    problem: str = ""


# As every line of a change begins, whatever became of the rest of it.
_NUMBERED = re.compile(rb'\{"seq":\s*([0-9]{1,15}),')


class Ledger:
    """All ledgers of a data directory; appends go to this device's own."""

    def __init__(self, paths: Paths, clock: Clock = system_clock) -> None:
        self._paths = paths
        self._clock = clock
        self._device = ""
        self._lock: FileLock | None = None

    @property
    def device(self) -> str:
        """This device's name; its ledger is created when first asked for."""
        if not self._device:
            with self.locked():
                self._device = self._own_device() or self._create()
        return self._device

    def files(self) -> list[Path]:
        """The ledgers of all devices, in the order of their names; neither copies nor ruins."""
        return [path for path in self._all() if _names(path) == path.stem]

    def copies(self) -> list[Path]:
        """Files that name another file's device: conflict copies of a synced folder, which nobody writes or folds."""
        return [path for path in self._all() if _names(path) not in ("", path.stem)]

    def unreadable(self) -> list[Path]:
        """Files in which nothing is a ledger's: something wrote over them. Nobody reads or appends to them."""
        return [path for path in self._all() if not _names(path)]

    def _all(self) -> list[Path]:
        return sorted(self._paths.ledger.glob("*.jsonl"))

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """The right to append, for one process at a time; may be nested. Raises LockBusy after LOCK_SECONDS."""
        self._paths.make(self._paths.locks)
        if self._lock is None:
            self._lock = FileLock(self._paths.locks / "ledger.lock", mode=FILE_MODE)
        try:
            self._lock.acquire(timeout=LOCK_SECONDS, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise LockBusy(
                "another catmem process is writing memories; try again in a moment",
                "另一个 catmem 进程正在写入记忆；请稍后再试",
            ) from error
        except OSError as error:
            raise _storage(self._paths.locks, error) from error
        try:
            yield
        finally:
            self._lock.release()

    def append(self, changes: list[Change]) -> list[Change]:
        """Writes changes as one commit, numbered and stamped; call it under `locked()`. Durable when it returns."""
        path = self._path(self.device)
        try:
            seq = self._last_seq(path)
            stamped = [
                replace(change, seq=seq + n, device=self.device, at=change.at or now(self._clock))
                for n, change in enumerate(changes, 1)
            ]
            data = b"".join(encode(change) for change in stamped)
            _append_whole(path, data)
        except OSError as error:
            raise _storage(path, error) from error
        return stamped

    def read(self, path: Path, start: int = 0, holding: bytes = b"") -> Iterator[Line]:
        """The complete lines of a ledger from byte `start` on; a torn last line is left for later.

        Lines without the bytes `holding` are passed over unread.
        """
        try:
            with path.open("rb") as file:
                file.seek(start)
                for raw in file:
                    if not raw.endswith(b"\n"):
                        return
                    end = start + len(raw)
                    if holding in raw:
                        yield _line(raw, start, end)
                    start = end
        except FileNotFoundError:
            return
        except OSError as error:
            raise _storage(path, error) from error

    def mark(self, path: Path, end: int) -> str:
        """A hash of what stands before byte `end`: where it differs, the file was rewritten since."""
        try:
            with path.open("rb") as file:
                file.seek(max(0, end - _MARK_BYTES))
                return hashlib.blake2b(file.read(min(end, _MARK_BYTES)), digest_size=8).hexdigest()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise _storage(path, error) from error

    def rewrite(self, edit: Callable[[Change], Change], gone: Sequence[str] = ()) -> None:
        """Replaces each line of this device's own ledger by `edit` of it (forgetting removes words); under `locked()`.

        Lines that cannot be read are kept as they are, unless one holds a text of `gone`: the torn end of an append
        that was never acknowledged may.
        """
        path = self._path(self.device)
        phrases = [json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "replace") for text in gone if text]
        try:
            raw = path.read_bytes()
            out = []
            for piece in raw.split(b"\n"):
                line = _line(piece, 0, 0)
                if line.change is None:
                    out.append(b"" if line.problem and any(phrase in piece for phrase in phrases) else piece)
                    continue
                edited = edit(line.change)
                # What a later version wrote beside our fields stays, where nothing has to change.
                out.append(piece if edited is line.change else encode(edited).rstrip(b"\n"))
            if (data := b"\n".join(out)) != raw:
                write_private(path, data)
        except OSError as error:
            raise _storage(path, error) from error

    def put_back(self, path: Path, changes: Iterable[Change]) -> None:
        """Writes an unreadable ledger anew from changes known of it; what stood there goes to quarantine first."""
        head = json.dumps({"format": FORMAT, "device": path.stem, "machine": ""}).encode() + b"\n"
        try:
            self._paths.make(self._paths.quarantine)
            aside = self._paths.quarantine / f"ledger-{path.stem}-{now(self._clock).replace(':', '')}.jsonl"
            write_private(aside, path.read_bytes())
            write_private(path, head + b"".join(encode(change) for change in changes))
        except OSError as error:
            raise _storage(path, error) from error

    def _path(self, device: str) -> Path:
        return self._paths.ledger / f"{device}.jsonl"

    def _own_device(self) -> str:
        machine = _machine()
        ours = [path.stem for path in self.files() if _json(_first_line(path)).get("machine") == machine]
        note = self._note(machine)
        noted = _first_line(note).decode("utf-8", "replace").strip()
        if noted in ours:
            return noted
        # Without a note two candidates cannot be told apart, and to write into another's ledger is the worse error.
        if len(ours) != 1:
            return ""
        _write_note(note, ours[0])
        return ours[0]

    def _create(self) -> str:
        self._paths.make(self._paths.ledger)
        device, machine = secrets.token_hex(4), _machine()
        head = json.dumps({"format": FORMAT, "device": device, "machine": machine}).encode() + b"\n"
        try:
            write_private(self._path(device), head)
        except OSError as error:
            raise _storage(self._paths.ledger, error) from error
        _write_note(self._note(machine), device)
        return device

    def _note(self, machine: str) -> Path:
        return self._paths.run / f"device.{machine}"

    def _last_seq(self, path: Path) -> int:
        """The number of the last change; read from the tail, so that an append costs the same in a long ledger.

        That of a damaged line is not given again: another device may have read it while it was whole. A torn end is no
        line: nobody was told of it.
        """
        size = path.stat().st_size
        with path.open("rb") as file:
            for length in (1 << 16, 1 << 22, size):
                start = max(0, size - length)
                file.seek(start)
                lines = file.read().split(b"\n")
                damaged = 0
                for place, raw in reversed(list(enumerate(lines))[1 if start else 0 :]):
                    seq = _json(raw).get("seq")
                    if isinstance(seq, int) and not isinstance(seq, bool):
                        return max(seq, damaged)
                    begun = _NUMBERED.match(raw)
                    if begun and place < len(lines) - 1:
                        damaged = max(damaged, int(begun[1]))
                if not start:
                    return damaged
        return 0


def encode(change: Change) -> bytes:
    """A change as its line; what UTF-8 cannot say becomes U+FFFD."""
    return clean(json.dumps(change_to_record(change), ensure_ascii=False, separators=(",", ":"))).encode() + b"\n"


def _line(raw: bytes, start: int, end: int) -> Line:
    record = _json(raw)
    if record.get("format") == FORMAT or not raw.strip():
        return Line(start, end, None)
    if not record:
        return Line(start, end, None, "not JSON")
    try:
        return Line(start, end, change_from_record(record))
    except DataDamaged as error:
        return Line(start, end, None, str(error))


def _json(raw: bytes) -> dict[str, object]:
    try:
        record = json.loads(raw)
        if b"\\u" in raw:
            # An escaped lone surrogate is JSON, but no text that can be stored.
            record = json.loads(clean(json.dumps(record, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


# Where line 1 is damaged, the changes after it still make the file a ledger.
_HEAD_BYTES = 1 << 16


def _names(path: Path) -> str:
    """The device that a file's first line names; its own name if it has changes only; "" if it is no ledger at all."""
    try:
        with path.open("rb") as file:
            first, *rest = (_json(line) for line in file.read(_HEAD_BYTES).split(b"\n"))
    except OSError:
        return ""
    if first.get("format") == FORMAT:
        return str(first.get("device", ""))
    return path.stem if any("op" in record for record in (first, *rest)) else ""


def _write_note(note: Path, device: str) -> None:
    # Only needed where ledgers of two directories meet; the name in the ledger itself serves elsewhere.
    with contextlib.suppress(OSError):
        write_private(note, device.encode())


def _first_line(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.readline(1 << 12)
    except OSError:
        return b""


def _append_whole(path: Path, data: bytes) -> None:
    """One write and one fsync; a write cut short by a full disk is taken back whole."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # A kill tore the last line: it was never acknowledged, and must not fuse with this one.
            data = b"\n" + data
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _machine() -> str:
    """A stable fingerprint of this machine and user, as a hash: the ledger may be synced to other people's disks."""
    parts = [str(getattr(os, "getuid", lambda: 0)())]
    for source in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        with contextlib.suppress(OSError):
            parts.append(Path(source).read_text("utf-8").strip())
            break
    else:
        parts.append(socket.gethostname())
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()


def _storage(path: Path, error: OSError) -> StorageFailed:
    reason = error.strerror or str(error)
    return StorageFailed(
        f"cannot use {path}: {reason}; free space or mend its permissions",
        f"无法使用 {path}：{reason}；请检查磁盘空间和权限",
    )
