"""The key of the keyed hash that stands for a redacted secret; made on first use, never leaves the machine."""

from __future__ import annotations

import os

from catmem.domain.errors import StorageFailed
from catmem.settings.paths import FILE_MODE, Paths

KEY_BYTES = 32


def load_key(paths: Paths) -> bytes:
    """The key of a data directory, created if it has none. Raises StorageFailed if it can be neither read nor made."""
    try:
        return _read(paths)
    except FileNotFoundError:
        pass
    try:
        paths.make(paths.root)
        # Whole from the first moment: two first writers must not see half a key.
        temporary = paths.key.with_name(f".{paths.key.name}.{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            os.write(descriptor, os.urandom(KEY_BYTES).hex().encode())
        finally:
            os.close(descriptor)
        try:
            os.link(temporary, paths.key)
        except FileExistsError:
            pass
        finally:
            os.unlink(temporary)
        return _read(paths)
    except OSError as error:
        raise StorageFailed(
            f"cannot make {paths.key}: {error.strerror}; check the data directory",
            f"无法创建 {paths.key}：{error.strerror}；请检查数据目录",
        ) from error


def _read(paths: Paths) -> bytes:
    with open(paths.key, "rb") as file:
        return file.read(4 * KEY_BYTES)
