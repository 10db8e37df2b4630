"""The key of the keyed hash that stands for a redacted secret; made on first use, never leaves the machine (hot path)."""

from __future__ import annotations

import os

from catmem.domain.errors import StorageFailed
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

KEY_BYTES = 32


def load_key(places: Places | Paths) -> bytes:
    """The key of a data directory, created if it has none. Raises StorageFailed if it can be neither read nor made."""
    key = str(places.key)
    try:
        try:
            return _read(key)
        except FileNotFoundError:
            os.makedirs(places.root, mode=DIRECTORY_MODE, exist_ok=True)
            return _create(key)
    except OSError as error:
        raise StorageFailed(
            f"cannot use {key}: {error.strerror}; check the data directory",
            f"无法使用 {key}：{error.strerror}；请检查数据目录",
        ) from error


def _create(key: str) -> bytes:
    """Whole from the first moment: two first writers must not see half a key, and agree on one."""
    temporary = f"{key}.{os.getpid()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        os.write(descriptor, os.urandom(KEY_BYTES).hex().encode())
    finally:
        os.close(descriptor)
    try:
        os.link(temporary, key)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
    return _read(key)


def _read(key: str) -> bytes:
    with open(key, "rb") as file:
        return file.read(4 * KEY_BYTES)
