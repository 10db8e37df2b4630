"""Everything that can go wrong, as one tree.

    CatmemError                 70  a fault of ours: please report it
    ├── BadInput                 2  the command or its input is not understood
    ├── SettingsInvalid          3  config.yaml cannot be used as it stands
    ├── NotFound                 4  no such session, memory, project or file
    ├── VersionConflict          5  the memory changed since it was read
    ├── LockBusy                 6  another process holds the lock for too long
    ├── DataDamaged              7  a file of ours cannot be read whole
    ├── StorageFailed            8  the disk refused: full, read-only, gone
    ├── SchemaTooNew             9  the data was written by a newer catmem
    ├── ImportFailed            10  nothing in the given files could be imported
    ├── ModelFailed             11  the configured model did not answer usefully
    └── NotConfirmed            12  a destructive command was not confirmed

The exit codes are stable. 0 is success; 1 is kept for `mem doctor` with findings and
`mem models check` without a model that works.
An error's message says what happened and what to do next, in one or two sentences, in both languages:
`NotFound("no session s9; list them with `mem sessions`", "没有会话 s9；用 `mem sessions` 查看")`.
"""

from __future__ import annotations


class CatmemError(Exception):
    """A fault of catmem itself."""

    exit_code = 70

    def __init__(self, en: str, zh: str = "") -> None:
        super().__init__(en)
        self.en, self.zh = en, zh or en

    def said(self, language: str) -> str:
        """The message in `zh` or `en`."""
        return self.zh if language == "zh" else self.en


class BadInput(CatmemError):
    """The command line, a payload or a file is not understood."""

    exit_code = 2


class SettingsInvalid(CatmemError):
    """config.yaml has a value that cannot be used."""

    exit_code = 3


class NotFound(CatmemError):
    """No session, memory, project or file of that name."""

    exit_code = 4


class VersionConflict(CatmemError):
    """The memory changed between reading and writing; read it again and retry."""

    exit_code = 5


class LockBusy(CatmemError):
    """Another process held a lock longer than we may wait."""

    exit_code = 6


class DataDamaged(CatmemError):
    """A file of ours cannot be read whole; `mem doctor` says where."""

    exit_code = 7


class StorageFailed(CatmemError):
    """The disk refused to read or write."""

    exit_code = 8

    @classmethod
    def writing(cls, path: object, error: OSError) -> StorageFailed:
        """What is told where one of our own files cannot be written."""
        return cls(
            f"cannot write {path}: {error.strerror}; free space or mend its permissions",
            f"无法写入 {path}：{error.strerror}；请检查磁盘空间和权限",
        )


class SchemaTooNew(CatmemError):
    """The data directory was written by a newer catmem."""

    exit_code = 9


class ImportFailed(CatmemError):
    """Not one record of the given files could be imported."""

    exit_code = 10


class ModelFailed(CatmemError):
    """The configured model could not be reached or gave nothing of use."""

    exit_code = 11


class NotConfirmed(CatmemError):
    """A destructive command was declined, or could not ask."""

    exit_code = 12
