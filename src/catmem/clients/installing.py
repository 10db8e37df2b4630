"""What every installer shares: configuration files of an assistant, changed together and put back byte for byte.

What an install found is not copied, since such files may hold the user's keys: taking our part out gives it again, but
for a few bytes that are kept.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from catmem.domain.errors import BadInput, StorageFailed
from catmem.settings.paths import Paths, write_private


@dataclass(frozen=True, slots=True)
class Program:
    """How an assistant starts us: `start` is absolute, `options` follow the command ("--dir", "/home/u/memory")."""

    start: tuple[str, ...]
    options: tuple[str, ...] = ()

    def hook_words(self, client: str, event: str) -> list[str]:
        return [*self.start, "hook", client, event, *self.options]

    def hook(self, client: str, event: str) -> str:
        """A hook's command as a shell reads it."""
        words = self.hook_words(client, event)
        if sys.platform == "win32":
            # Git Bash runs it: forward slashes need no quoting there.
            words = [word.replace("\\", "/") for word in words]
        return " ".join(map(shlex.quote, words))

    def server_words(self) -> list[str]:
        return [*self.start, "mcp", *self.options]

    def server(self) -> dict[str, object]:
        """Our MCP server as most hosts want it named."""
        command, *arguments = self.server_words()
        return {"command": command, "args": arguments}


class Edit(Protocol):
    """Our part of one file, as steps on its bytes; b"" stands for no file. Each raises BadInput for what is not understood."""

    def has(self, data: bytes) -> bool:
        """True if exactly our part of today is in, and none of an earlier version."""

    def put(self, data: bytes) -> bytes:
        """With our part, and no other of ours."""

    def take(self, data: bytes) -> bytes:
        """Without our part; the very same bytes if there is none."""

    def is_empty(self, data: bytes) -> bool:
        """True if nothing stands in it that anybody would miss."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file of an assistant, and our part of it. Links are followed: a file kept among dotfiles stays there."""

    path: Path
    edit: Edit

    @property
    def file(self) -> Path:
        return Path(os.path.realpath(self.path))


class _Patch(NamedTuple):
    """How two texts differ: they share `head` bytes at the beginning, `tail` at the end, and one has `middle` between."""

    head: int
    tail: int
    middle: bytes

    @classmethod
    def between(cls, before: bytes, after: bytes) -> _Patch:
        """What makes `after` of `before`."""
        head = _shared(before, after)
        tail = _shared(before[head:][::-1], after[head:][::-1])
        return cls(head, tail, after[head : len(after) - tail])

    def applied(self, before: bytes) -> bytes:
        return before[: self.head] + self.middle + before[len(before) - self.tail :]


@dataclass(frozen=True, slots=True)
class _Backup:
    """What we found and what we wrote.

    `patch` makes of the file without our part the one that was found; `was_there`: there was one; `made`: how many
    folders above it were made.
    """

    patch: _Patch
    was_there: bool
    written: str
    made: int

    def encode(self) -> bytes:
        head, tail, middle = self.patch
        patch = [head, tail, base64.b64encode(middle).decode()]
        return json.dumps(
            {"patch": patch, "was_there": self.was_there, "written": self.written, "made": self.made}
        ).encode()

    @classmethod
    def decode(cls, data: bytes) -> _Backup | None:
        try:
            record = json.loads(data)
            head, tail, middle = record["patch"]
            patch = _Patch(int(head), int(tail), base64.b64decode(middle))
            return cls(patch, bool(record["was_there"]), str(record["written"]), int(record["made"]))
        except (ValueError, KeyError, TypeError):
            return None


class FileInstaller:
    """The Installer of a client whose configuration is files. All of them are understood before one is changed."""

    def __init__(self, paths: Paths, client: str, targets: Sequence[Target]) -> None:
        self._paths = paths
        self._client = client
        self._targets = tuple(targets)

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(target.file for target in self._targets)

    def install(self) -> tuple[str, ...]:
        """Puts our part into each file. Returns those that were changed.

        Raises BadInput, and changes nothing, if a file cannot be understood; StorageFailed if the disk refuses.
        """
        with _disk():
            found = [(target, _read(target.file)) for target in self._targets]
            wanted = [(t, data, t.edit.put(data or b"")) for t, data in found if not t.edit.has(data or b"")]
            planned = [(target, self._backup_of(target, data, new), new) for target, data, new in wanted]
            for target, backup, new in planned:
                self._keep(target, backup)
                target.file.parent.mkdir(parents=True, exist_ok=True)
                _write(target.file, new)
            return tuple(str(target.file) for target, _, _ in planned)

    def uninstall(self) -> tuple[str, ...]:
        """Takes our part out of each file: that of before, byte for byte, if only we changed it."""
        with _disk():
            found = [(target, _read(target.file), self._backup(target)) for target in self._targets]
            former = [(target, data, _former(target, data, backup), backup) for target, data, backup in found]
            for target, data, before, backup in former:
                if data is not None and before is None:
                    _remove(target.file, backup.made if backup else 0)
                elif before is not None and before != data:
                    _write(target.file, before)
                self._backup_file(target).unlink(missing_ok=True)
            return tuple(str(target.file) for target, data, before, _ in former if before != data)

    def is_installed(self) -> bool:
        """True if every file has what would be put in now."""
        with _disk():
            return all(target.edit.has(_read(target.file) or b"") for target in self._targets)

    def is_known(self) -> bool:
        """True if anything of ours is in a file, of whichever version, or was when we last changed it."""
        with _disk():
            return any(map(self._is_in, self._targets))

    def _is_in(self, target: Target) -> bool:
        data = _read(target.file)
        if data is None:
            return False
        try:
            return target.edit.take(data) != data
        except BadInput:  # said by the uninstall that follows, if we ever were in it
            return self._backup(target) is not None

    def _backup_of(self, target: Target, found: bytes | None, new: bytes) -> _Backup:
        """Of the file before our first change, as far as nobody else changed it since."""
        earlier = self._backup(target)
        if found is None:
            return _Backup(_Patch(0, 0, b""), False, _digest(new), _missing_folders(target.file))
        before = target.edit.take(found)
        if earlier is not None and _digest(found) == earlier.written:
            before = earlier.patch.applied(before)
        was_there, made = (earlier.was_there, earlier.made) if earlier else (True, 0)
        return _Backup(_Patch.between(target.edit.take(new), before), was_there, _digest(new), made)

    def _backup_file(self, target: Target) -> Path:
        name = hashlib.blake2b(str(target.file).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return self._paths.run / "installs" / f"{self._client}-{name}.json"

    def _backup(self, target: Target) -> _Backup | None:
        data = _read(self._backup_file(target))
        return None if data is None else _Backup.decode(data)

    def _keep(self, target: Target, backup: _Backup) -> None:
        file = self._backup_file(target)
        self._paths.make(file.parent)
        write_private(file, backup.encode())


def decoded(data: bytes, path: object, understand: Callable[[str], object]) -> str:
    """The text of a file, without a BOM, if `understand` takes it. Raises BadInput where it raises ValueError."""
    try:
        text = data.decode("utf-8-sig")
        understand(text)
    except (ValueError, RecursionError) as error:
        raise refused(path, str(error)) from error
    return text


def refused(path: object, why: str) -> BadInput:
    return BadInput(
        f"{path} cannot be understood ({why}); it was left untouched. Correct it and run the command again.",
        f"无法理解 {path}（{why}）；文件未作任何改动。请修正后重新运行。",
    )


def _former(target: Target, data: bytes | None, backup: _Backup | None) -> bytes | None:
    """The file without us; None if there should be none."""
    if data is None:
        return None
    before = target.edit.take(data)
    if backup is not None and backup.was_there and _digest(data) == backup.written:
        return backup.patch.applied(before)
    ours_alone = before != data and not (backup.was_there if backup else before)
    return None if ours_alone and target.edit.is_empty(before) else before


def _remove(file: Path, made: int) -> None:
    file.unlink()
    with contextlib.suppress(OSError):  # not empty: others use it by now
        for folder in list(file.parents)[:made]:
            folder.rmdir()


def _missing_folders(file: Path) -> int:
    return sum(not folder.is_dir() for folder in file.parents)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _write(file: Path, data: bytes) -> None:
    """Whole or not at all, with the rights that the file had."""
    mode = file.stat().st_mode & 0o777 if file.exists() else None
    write_private(file, data)
    if mode is not None:
        file.chmod(mode)


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with alike."""
    alike = (number for number, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(alike, min(len(one), len(other)))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@contextlib.contextmanager
def _disk() -> Iterator[None]:
    """Translates what the disk refuses."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StorageFailed(
            f"{error.filename}: {why}. Check the folder and its permissions, then try again.",
            f"{error.filename}：{why}。请检查目录及其权限后重试。",
        ) from error
