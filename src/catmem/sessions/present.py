"""What a session has already: asked before an append, so that nothing is in it twice (hot path)."""

from __future__ import annotations

from catmem.sessions.records import dump, is_message, read_json, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from catmem.sessions.census import Census
    from catmem.sessions.open_session import OpenSession
    from catmem.sessions.records import Record


# A search for one uid costs about a hundredth of reading every record of the same bytes.
_FEW = 50


class Present:
    """The messages and marks within some bytes of a file."""

    __slots__ = ("_added", "_asked", "_bytes", "_inherited", "_marks", "_uids")

    def __init__(self, data: bytes) -> None:
        self._bytes = data
        self._added: set[str] = set()
        self._marks: dict[str, Record] = {}
        self._asked = 0
        self._uids: set[str] | None = None
        self._inherited: set[str] | None = None

    def has(self, uid: str) -> bool:
        """True if a message with this uid is there; a message without one is always new."""
        if not uid or uid in self._added:
            return bool(uid)
        self._asked += 1
        if self._uids is None and self._asked <= _FEW:
            return _has_uid(self._bytes, uid)
        return uid in (self._census()[0] if self._uids is None else self._uids)

    def add(self, uid: str) -> None:
        """Tells of a message that is about to be written."""
        self._added.add(uid)

    def may_inherit(self, uid: object) -> bool:
        """True for the uid of a message that is there and was not called inherited yet."""
        inherited = self._census()[1] if self._inherited is None else self._inherited
        return isinstance(uid, str) and self.has(uid) and uid not in inherited

    def last_mark(self, name: str) -> Record | None:
        """The newest mark of that name."""
        return self._marks.get(name) or newest_mark(self._bytes, name)

    def wrote(self, records: list[Record]) -> None:
        """Tells of records that stand in the file now, so that the next append may ask this census again."""
        for record in records:
            if is_message(record):
                self._added.add(record.get("uid", ""))
            else:
                self._marks[record["mark"]] = record
                if record["mark"] == "inherited" and self._inherited is not None:
                    self._inherited.update(record["uids"])

    def _census(self) -> tuple[set[str], set[str]]:
        uids: set[str] = set()
        inherited: set[str] = set()
        for _, _, records, _ in scan(self._bytes):
            for _, record in records:
                if record.get("mark") == "inherited" and isinstance(record.get("uids"), list):
                    inherited.update(uid for uid in record["uids"] if isinstance(uid, str))
                elif is_message(record) and record.get("uid"):
                    uids.add(record["uid"])
        self._uids, self._inherited = uids, inherited
        return uids, inherited


# A process that stays (a chat, a proxy, an import) appends to few sessions at a time; a hook to one, once.
_REMEMBERED = 8
# So many records, and the memory would be more than the window that it stands for. A census only grows by their hashes.
_LONGEST_MEMORY = 20_000
_memories: dict[str, tuple[tuple[int, ...], Present | Census, int]] = {}


def remember(session: OpenSession, present: Present | Census, records: list[Record]) -> None:
    """Keeps what is known of a session after an append, since looking it up is most of the next one.

    Only while the file is the same and ends where this append ended, so by whoever it was changed meanwhile, the next
    append looks again.
    """
    present.wrote(records)
    known = _memories.pop(session.place.file, None)
    count = len(records) + (known[2] if known and known[1] is present else 0)
    if count <= _LONGEST_MEMORY or not isinstance(present, Present):
        _memories[session.place.file] = (session.identity(), present, count)
        while len(_memories) > _REMEMBERED:
            del _memories[next(iter(_memories))]


def remembered(session: OpenSession, whole: bool) -> Present | Census | None:
    """What this process knows of a session that nobody has touched since; `whole`: if it is everything."""
    known = _memories.get(session.place.file)
    if not known or known[0] != session.identity() or (whole and isinstance(known[1], Present)):
        return None
    return known[1]


def newest_mark(data: bytes, name: str) -> Record | None:
    """The last mark of a name in some lines of a file; None if there is none."""
    needle = f'{{"mark":{dump(name)},'.encode()
    at = data.rfind(needle)
    while at >= 0:
        record = _line_at(data, at) if at == 0 or data[at - 1 : at] == b"\n" else None
        if isinstance(record, dict):
            return record
        at = data.rfind(needle, 0, at)
    return None


def _has_uid(data: bytes, uid: str) -> bool:
    """True if a message has this uid. A mark may name it too, so a find is looked at.

    From the end: CPython's rfind is three times as fast as find for such a needle, and this is most of an append.
    """
    needle = f'"uid":{dump(uid)}'.encode()
    at = data.rfind(needle)
    while at >= 0:
        record = _line_at(data, at)
        if isinstance(record, dict) and record.get("uid") == uid and is_message(record):
            return True
        at = data.rfind(needle, 0, at)
    return False


def _line_at(data: bytes, at: int) -> Any:
    """The value of the line around a position; None if the bytes do not hold it whole."""
    start = data.rfind(b"\n", 0, at) + 1
    stop = data.find(b"\n", at)
    return read_json(data[start:] if stop < 0 else data[start:stop])
