"""What a disk refuses, in our terms (hot path)."""

from __future__ import annotations

from catmem.domain.errors import StorageFailed


def storage_failed(path: str, error: OSError) -> StorageFailed:
    """The error of ours for a refusal of the disk."""
    why = error.strerror or str(error)
    return StorageFailed(
        f"cannot write {path}: {why}; free some space or check the permissions, then try again: nothing stored is lost",
        f"无法写入 {path}：{why}；请腾出空间或检查权限后重试：已保存的内容没有丢失",
    )


def read_failed(path: str, error: OSError) -> StorageFailed:
    """The error of ours for a file that is there and cannot be read."""
    return StorageFailed(
        f"cannot read {path}: {error.strerror or error}; check the permissions",
        f"无法读取 {path}：{error.strerror or error}；请检查权限",
    )
