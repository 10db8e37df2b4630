"""An account's export as it is downloaded: `conversations.json`, numbered parts of it, or the ZIP that holds them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from catmem.clients.whole_file import refuse_encodings
from catmem.domain.errors import BadInput

_ZIP = b"PK\x03\x04"
_MEMBER = re.compile(r"(?:.*/)?conversations[^/]*\.json\Z", re.IGNORECASE)
_HEAD_BYTES = 1 << 16


def export_knows(path: Path, head: bytes, *fields: bytes) -> bool:
    """True if the first conversation of an export has fields of these names."""
    if head.startswith(_ZIP):
        try:
            with _opened(path) as archive:
                return any(_has(_head_of(archive, name), fields) for name in _members(archive))
        except BadInput:
            return False
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") and _has(head, fields)


def _has(head: bytes, fields: tuple[bytes, ...]) -> bool:
    return all(field in head for field in fields)


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise BadInput(
            f"{path}: the archive cannot be read ({error}). Download it again, or unpack it and import the folder.",
            f"{path}：无法读取该压缩包（{error}）。请重新下载，或解压后导入文件夹。",
        ) from error


def _members(archive: zipfile.ZipFile) -> list[str]:
    return sorted(name for name in archive.namelist() if _MEMBER.match(name))


def _head_of(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as member:
        return member.read(_HEAD_BYTES)


def documents(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The JSON documents of an export, each open, with the name to report. Raises BadInput, OSError."""
    with path.open("rb") as file:
        head = file.read(512)
        if not head.startswith(_ZIP):
            refuse_encodings(path, head)
            file.seek(0)
            yield str(path), file
            return
    with _opened(path) as archive:
        for name in _members(archive):
            with archive.open(name) as member:
                yield f"{path}/{name}", member
