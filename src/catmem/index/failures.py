"""What tantivy raises, in our terms (hot path)."""

from __future__ import annotations

from catmem.domain.errors import DataDamaged, LockBusy, NotFound, StorageFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def translate(error: BaseException) -> NoReturn:
    """Raises NotFound, LockBusy, StorageFailed or DataDamaged for it; what is not tantivy's is raised as it came.

    Tantivy has one ValueError for nearly all of it, and a panic, which is no Exception, for what it did not foresee.
    """
    text = str(error)
    if isinstance(error, ValueError) and "open the directory" in text and "DoesNotExist" in text:
        raise NotFound(
            "there is no search index yet; `mem work` makes it", "还没有搜索索引；`mem work` 会建立它"
        ) from error
    if isinstance(error, ValueError) and "LockBusy" in text:
        raise LockBusy(
            "another catmem process is writing the search index; try again in a moment",
            "另一个 catmem 进程正在更新搜索索引；请稍后再试",
        ) from error
    if isinstance(error, OSError) or "No space left" in text or "Permission denied" in text or "Read-only" in text:
        raise StorageFailed(f"cannot use the search index: {text}", f"无法使用搜索索引：{text}") from error
    if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
        raise DataDamaged(
            "the search index cannot be read; `mem work` makes it anew from the sessions and the ledger",
            "搜索索引无法读取；`mem work` 会由会话和账本重建",
        ) from error
    raise error
