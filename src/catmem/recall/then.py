"""What was said in a time, whatever it is about (hot path)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader


def said_then(
    reader: SearchReader, within: tuple[int, int], *, homes: Sequence[str | None], kinds: Sequence[str] = (), limit: int
) -> list[Record]:
    """The memories in force of a time, newest first, as hits that no word has matched.

    `within` is in milliseconds, both included; `homes` are projects, "" for the profile, None for all.
    """
    found = [
        record for home in homes for record in reader.newest(project=home, kinds=kinds, limit=limit, within=within)
    ]
    for record in found:
        record.update(matched=[], score=1.0, relevance=1.0, recency=1.0)
    return sorted(found, key=lambda record: (-max(record["instants"]), record["id"]))[:limit]
