"""Appending to the small files beside the sessions: digests, and what was set aside."""

from __future__ import annotations

import os

from catmem.sessions.locks import make_folder


def append_line(path: str, data: bytes) -> None:
    """Appends whole lines durably, all or nothing; the folder is made if missing. Raises OSError."""
    make_folder(os.path.dirname(path))
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        size = os.lseek(descriptor, 0, os.SEEK_END)
        if size:
            os.lseek(descriptor, size - 1, os.SEEK_SET)
            if os.read(descriptor, 1) != b"\n":  # a torn line of a kill stays alone
                data = b"\n" + data
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
