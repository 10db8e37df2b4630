"""The ledgers: every change of memory, one a line, append-only; each device writes its own file alone.

Line 1 names the file: {"format", "device", "machine"}.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from filelock import FileLock, Timeout

from catmem.domain.change import Change
from catmem.domain.clock import Clock, now, system_clock
from catmem.domain.errors import LockBusy, StorageFailed
from catmem.ledger.device import create_ledger, device_of, head_of, own_device
from catmem.ledger.lines import Line, append_whole, encode, last_seq, read_line
from catmem.settings.paths import FILE_MODE, Paths, write_private

# Longer than any fold and write of ours; whoever waits longer is told so.
LOCK_SECONDS = 20.0
# An append holds the lock for some milliseconds; a waiter that slept longer would mostly sleep.
_POLL_SECONDS = 0.01
# A rewritten ledger differs in its words or, behind them, in where its lines end: some lines tell.
_MARK_BYTES = 4096


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
                self._device = own_device(self._paths, self.files()) or self._create()
        return self._device

    def files(self) -> list[Path]:
        """The ledgers of all devices, in the order of their names; neither copies nor ruins."""
        return [path for path in self._all() if device_of(path) == path.stem]

    def copies(self) -> list[Path]:
        """Files that name another file's device: conflict copies of a synced folder, which nobody writes or folds."""
        return [path for path in self._all() if device_of(path) not in ("", path.stem)]

    def unreadable(self) -> list[Path]:
        """Files in which nothing is a ledger's: something wrote over them. Nobody reads or appends to them."""
        return [path for path in self._all() if not device_of(path)]

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
            seq = last_seq(path)
            stamped = [
                replace(change, seq=seq + n, device=self.device, at=change.at or now(self._clock))
                for n, change in enumerate(changes, 1)
            ]
            data = b"".join(encode(change) for change in stamped)
            append_whole(path, data)
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
                        yield read_line(raw, start, end)
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
                line = read_line(piece, 0, 0)
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
        try:
            self._paths.make(self._paths.quarantine)
            aside = self._paths.quarantine / f"ledger-{path.stem}-{now(self._clock).replace(':', '')}.jsonl"
            write_private(aside, path.read_bytes())
            write_private(path, head_of(path.stem) + b"".join(encode(change) for change in changes))
        except OSError as error:
            raise _storage(path, error) from error

    def _create(self) -> str:
        self._paths.make(self._paths.ledger)
        try:
            return create_ledger(self._paths)
        except OSError as error:
            raise _storage(self._paths.ledger, error) from error

    def _path(self, device: str) -> Path:
        return self._paths.ledger / f"{device}.jsonl"


def _storage(path: Path, error: OSError) -> StorageFailed:
    reason = error.strerror or str(error)
    return StorageFailed(
        f"cannot use {path}: {reason}; free space or mend its permissions",
        f"无法使用 {path}：{reason}；请检查磁盘空间和权限",
    )
