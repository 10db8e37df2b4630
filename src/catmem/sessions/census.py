"""What a whole session has: asked before an import appends to it. In memory are 20 bytes a message, not the file."""

from __future__ import annotations

import os

from catmem.sessions.blocks import blocks, scan_blocks
from catmem.sessions.records import is_message
from catmem.sessions.uids import Uids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from catmem.sessions.open_session import OpenSession
    from catmem.sessions.records import Record


class Census:
    """Answers what `Present` answers, of everything that the session ever had, its archive included."""

    __slots__ = ("_inherited", "_marks", "_uids")

    def __init__(self, session: OpenSession) -> None:
        self._uids = Uids()
        self._inherited = Uids()
        self._marks: dict[str, Record] = {}
        if os.path.exists(session.place.archive):
            from catmem.sessions.archive import archived_lines  # zstd is loaded only where there is one

            self.wrote(record for _, record in archived_lines(session.place))
        for _, _, found, _ in scan_blocks(blocks(session.read, session.room, session.size)):
            self.wrote(record for _, record in found if "metadata" not in record)

    def has(self, uid: str) -> bool:
        """True if a message with this uid is there; a message without one is always new."""
        return bool(uid) and uid in self._uids

    def add(self, uid: str) -> None:
        """Tells of a message that is about to be written."""
        self._uids.add(uid)

    def may_inherit(self, uid: object) -> bool:
        """True for the uid of a message that is there and was not called inherited yet."""
        return isinstance(uid, str) and self.has(uid) and uid not in self._inherited

    def last_mark(self, name: str) -> Record | None:
        """The newest mark of that name."""
        return self._marks.get(name)

    def wrote(self, records: Iterable[Record]) -> None:
        """Tells of records that stand in the file now, so that the next append may ask this census again."""
        for record in records:
            if is_message(record):
                self._uids.add(record.get("uid", ""))
            else:
                self._marks[record["mark"]] = record
                if record["mark"] == "inherited" and isinstance(record.get("uids"), list):
                    self._inherited.update(uid for uid in record["uids"] if isinstance(uid, str))
