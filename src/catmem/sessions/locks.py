"""The kernel's lock of one session: free at once when its holder dies, never waited for without a bound (hot path)."""
# No pathlib here: it would cost the hook 4 ms.

from __future__ import annotations

import errno
import os
import sys
import time

from catmem.domain.errors import LockBusy, StorageFailed

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, 0, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(descriptor: int) -> None:
        # Explicitly, although closing frees it: a forked child may still hold a copy of the descriptor.
        fcntl.flock(descriptor, fcntl.LOCK_UN)


# An append holds the lock for well under a millisecond, a rewrite of a full session for a few hundred.
LOCK_WAIT = 5.0
# Between two attempts, in seconds: short at first, since most holders are appends.
_FIRST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02

_TAKEN = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK})


class SessionLock:
    """Held between `with` and its end. Not reentrant: taking it twice in one thread ends in LockBusy.

    The lock file is never replaced, since two lock files would be two locks. Only the clean-up after a session that is
    gone removes it, and holds it meanwhile; whoever was waiting finds that and takes the file that is there now.
    """

    __slots__ = ("_descriptor", "_path", "_wait")

    def __init__(self, path: str, wait: float) -> None:
        self._path = path
        self._wait = wait
        self._descriptor = -1

    def __enter__(self) -> SessionLock:
        while True:
            descriptor = _open(self._path)
            try:
                _take(descriptor, self._path, self._wait)
                if os.fstat(descriptor).st_nlink:
                    self._descriptor = descriptor
                    return self
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)

    def __exit__(self, *_: object) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        try:
            _unlock(descriptor)
        finally:
            os.close(descriptor)


def session_lock(path: str, wait: float = LOCK_WAIT) -> SessionLock:
    """`with session_lock(place.lock):` waits up to `wait` seconds. Raises LockBusy, or StorageFailed."""
    return SessionLock(path, wait)


def make_folder(folder: str) -> bool:
    """Creates a folder and those above it, private to the user. Tells whether it was missing."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        return False
    except FileNotFoundError:
        above = os.path.dirname(folder)
        if above in ("", folder):
            raise
        make_folder(above)
        return make_folder(folder)
    return True


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC if sys.platform != "win32" else os.O_RDWR | os.O_CREAT
    try:
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            make_folder(os.path.dirname(path))
            return os.open(path, flags, 0o600)
    except OSError as error:
        raise StorageFailed(
            f"cannot open the lock {path}: {error.strerror}; check that the disk is not full or read-only",
            f"无法打开锁文件 {path}：{error.strerror}；请检查磁盘是否已满或只读",
        ) from error


def _take(descriptor: int, path: str, wait: float) -> None:
    deadline = time.monotonic() + wait
    pause = _FIRST_PAUSE
    while True:
        try:
            _try_lock(descriptor)
            return
        except OSError as error:
            if error.errno not in _TAKEN:
                raise StorageFailed(
                    f"cannot lock {path}: {error.strerror}; the data directory must be on a file system with locks",
                    f"无法锁定 {path}：{error.strerror}；数据目录必须位于支持文件锁的文件系统上",
                ) from error
        if time.monotonic() >= deadline:
            raise LockBusy(
                f"another process has held this session for over {wait:g} s ({path}); try again when it is done",
                f"另一个进程占用该会话已超过 {wait:g} 秒（{path}）；请待其结束后重试",
            )
        time.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
