"""Statements that are no longer so, for a question about the past: with what took their place (hot path)."""

from __future__ import annotations

from catmem.brief.contrary import Sense, say_the_same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader

# What replaced a statement may have been replaced. Who goes further reads a history, for which there is `mem log`.
_MOST_STEPS = 4


def is_past(record: Record) -> bool:
    """True for a memory that was superseded, or an earlier statement of one."""
    return record.get("status") == "superseded"


def with_successors(reader: SearchReader, records: Sequence[Record]) -> list[Record]:
    """The records, each past one with `now`, the statement that holds in its place; "" if none does.

    Without those that were only worded anew.
    """
    return list(_marked(records, _followed(reader, {r["successor"] for r in records if is_past(r)})))


def _followed(reader: SearchReader, ids: Collection[str]) -> dict[str, Record]:
    """What holds today, by the id of the memory that led there."""
    present: dict[str, Record] = {}
    leads = {id: id for id in ids}
    for _ in range(_MOST_STEPS):
        found = reader.memories(leads.values())
        live = {record["id"]: record for record in found if not is_past(record)}
        further = {record["id"]: record["successor"] for record in found if is_past(record)}
        present.update((start, live[id]) for start, id in leads.items() if id in live)
        leads = {start: further[id] for start, id in leads.items() if id not in live and further.get(id, id) != id}
        if not leads:
            break
    return present


def _marked(records: Sequence[Record], present: dict[str, Record]) -> Iterator[Record]:
    for record in records:
        if is_past(record):
            now = present.get(record["successor"])
            record["now"] = now["text"] if now else ""
            if now and say_the_same(Sense(record["sense"]), Sense(now["sense"])):
                continue
        yield record
