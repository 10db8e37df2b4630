"""Listing sessions by line 1 alone: 2,048 bytes of each file, however long it is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from catmem.domain.errors import CatmemError, LockBusy, StorageFailed
from catmem.domain.session import SessionHeader
from catmem.sessions import header as line1
from catmem.sessions.file import heal
from catmem.sessions.locks import session_lock
from catmem.sessions.names import ARCHIVE, COMPRESSED, ENDING, Place, file_name, place_of_file
from catmem.sessions.reading import header_of, read_file
from catmem.sessions.refusals import read_failed
from catmem.sessions.rewrite import TEMPORARY, remove_temporaries


class Listing:
    """The sessions of a data directory. `bytes_read` counts what listing them has cost so far."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._messages = root / "messages"
        self.bytes_read = 0

    def headers(self, project: str | None = None) -> Iterator[SessionHeader]:
        """The header of each session, by the name of its file; of all projects, or of one.

        Line 1 is enough where it is sound. A stale or damaged one is derived from the body, and put right if nobody
        is writing just then. A file that cannot be read at all is left out here: `strays` and `check` name it.
        """
        for folder in self._folders() if project is None else [file_name(project)]:
            for file in self._files(folder):
                header = self._header(place_of_file(self._root, folder, file))
                if header and _belongs(header, folder, file):
                    yield header

    def projects(self) -> list[str]:
        """The keys of all projects that have a session."""
        found = set()
        for folder in self._folders():
            # A folder named by a hash says its project only inside.
            header = next(self._headers_of(folder), None)
            if header:
                found.add(header.ref.project)
        return sorted(found)

    def strays(self) -> Iterator[Path]:
        """Session files that are not where their session belongs: copies, conflict copies of a synced folder."""
        for folder in self._folders():
            for file in self._files(folder):
                path = self._messages / folder / file
                header = self._header(place_of_file(self._root, folder, file))
                # An empty one is a session whose making was killed: the next append begins it.
                if path.stat().st_size and (header is None or not _belongs(header, folder, file)):
                    yield path

    def lost(self) -> Iterator[Place]:
        """The places of archives whose live file is gone: a hand's doing, since no step of ours removes it first."""
        for folder in self._folders():
            for file in _names(self._messages / folder / ARCHIVE, folders=False):
                if file.endswith(ENDING + COMPRESSED):
                    place = place_of_file(self._root, folder, file.removesuffix(COMPRESSED))
                    if not os.path.exists(place.file):
                        yield place

    def _headers_of(self, folder: str) -> Iterator[SessionHeader]:
        for file in self._files(folder):
            header = self._header(place_of_file(self._root, folder, file))
            if header and _belongs(header, folder, file):
                yield header

    def _header(self, place: Place) -> SessionHeader | None:
        try:
            descriptor = os.open(place.file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except OSError:
            return None
        try:
            first = os.read(descriptor, line1.ROOM)
            self.bytes_read += len(first)
            while first and not first.endswith(b"\n") and b"\n" not in first and len(first) < line1.LONGEST_ROOM:
                more = os.read(descriptor, line1.ROOM)
                self.bytes_read += len(more)
                if not more:
                    break
                first += more
            size = os.fstat(descriptor).st_size
        except OSError:
            return None
        finally:
            os.close(descriptor)
        header, _ = line1.unpack(first[: first.find(b"\n") + 1])
        if header and header["metadata"]["bytes"] == size:
            return header_of(header)
        return self._derived(place, size) if size else None

    def _derived(self, place: Place, size: int) -> SessionHeader | None:
        self.bytes_read += size
        try:
            return header_of(heal(place)[0])
        except (LockBusy, StorageFailed):
            pass  # busy, or a read-only disk: then it is only read
        except CatmemError:
            return None
        try:
            return read_file(place).header
        except CatmemError:
            return None

    def _folders(self) -> list[str]:
        return _names(self._messages, folders=True)

    def _files(self, folder: str) -> list[str]:
        names = _names(self._messages / folder, folders=False)
        for name in names:
            if name.endswith(TEMPORARY):
                self._remove_temporary(folder, name)
        return [name for name in names if name.endswith(ENDING)]

    def _remove_temporary(self, folder: str, name: str) -> None:
        """What a killed rewrite left. If its session is being written just now, it may be in use: next time then."""
        file = name.rsplit(".", 2)[0]
        try:
            with session_lock(place_of_file(self._root, folder, file).lock, 0):
                remove_temporaries(str(self._messages / folder), file)
        except (LockBusy, StorageFailed, OSError):
            return


def _belongs(header: SessionHeader, folder: str, file: str) -> bool:
    return file_name(header.key) + ENDING == file and file_name(header.ref.project) == folder


def _names(folder: Path, *, folders: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() == folders)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise read_failed(str(folder), error) from error
