"""Appending to a session and reading its tail: the byte level that hooks use (hot path).

Records are plain dicts (records.py) that have passed the door (door.py): what is handed in here is stored.
"""

from __future__ import annotations

import os

from catmem.sessions.header import short_title
from catmem.sessions.locks import LOCK_WAIT, session_lock
from catmem.sessions.open_session import OpenSession
from catmem.sessions.present import Present, newest_mark, remember, remembered
from catmem.sessions.records import is_message, is_record, mark_record, scan, stored
from catmem.sessions.refusals import read_failed, storage_failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypedDict

    from catmem.sessions.census import Census
    from catmem.sessions.names import Place
    from catmem.sessions.records import Record

    class Listing(TypedDict, total=False):
        """What line 1 says of a session that its messages do not."""

        project: str
        cwd: str
        client: str
        title: str

    class Outcome(TypedDict):
        """`new`: the ids given; `written`: the message records as they are in the file; `known`: how many were there.

        `healed`: what was found damaged and put right on the way (words of open_session.py).
        """

        new: list[int]
        written: list[Record]
        known: int
        healed: list[str]


# How far back a hook looks for a message it may have appended already, in bytes: the same event delivered twice comes
# within seconds, and no record is longer than 64 KB.
WINDOW = 256 * 1024

# So many bytes are searched for a few uids in less time than it takes to read every record of them.
_SEARCHED = 16 << 20

# After these the user has an answer, which must survive a power loss with `durability: turn`.
_TURN_MARKS = frozenset({"turn", "end"})


def append(
    place: Place,
    key: str,
    records: Sequence[Record],
    *,
    listing: Listing | None = None,
    durability: str = "turn",
    whole_file_dedupe: bool = False,
    keep_ids: bool = False,
    skip_ids: int = 0,
    wait: float = LOCK_WAIT,
) -> Outcome:
    """Appends messages and marks to the session `key`, all or none of them, in one write.

    Messages get the next ids; those whose uid is in the session already are left out (looked up in the last 256 KB, or
    everywhere with `whole_file_dedupe`), and so is a mark that repeats the last of its name.
    Marks alone begin no session.
    durability  when to wait for the disk: `none`, `turn` (an answer or the end of a turn is among them), `message`
    keep_ids    an import's own ids stay, as far as they are higher than all that are there
    skip_ids    leaves a gap for messages that could not be written before, so that their absence shows

    Raises LockBusy after `wait` seconds, StorageFailed if the disk refuses (nothing is left behind then), DataDamaged
    if the file is another session's.
    """
    if not records or (not _begins(records) and not os.path.exists(place.file)):
        return {"new": [], "written": [], "known": 0, "healed": []}
    try:
        with session_lock(place.lock, wait):
            session = OpenSession(place, key)
            try:
                return _add(session, records, listing or {}, durability, whole_file_dedupe, keep_ids, skip_ids)
            finally:
                session.close()
    except OSError as error:
        raise storage_failed(place.file, error) from error


def heal(place: Place, wait: float = 0.0) -> tuple[Record, list[str]]:
    """Brings a session's file in order as an append would: its header then, and what was put right."""
    try:
        with session_lock(place.lock, wait):
            session = OpenSession(place, "", create=False)
            try:
                session.patch()
                return session.header, session.healed
            finally:
                session.close()
    except OSError as error:
        raise storage_failed(place.file, error) from error


def last_mark(path: str, name: str) -> Record | None:
    """The newest mark of a name: from the tail of the file if it is there, else from the whole. Takes no lock."""
    return newest_mark(_tail_bytes(path, WINDOW), name) or newest_mark(_tail_bytes(path, 0), name)


def tail(path: str, limit: int = WINDOW) -> list[Record]:
    """The whole records within the last `limit` bytes, oldest first; [] if there is no such file. Takes no lock."""
    found = [record for _, _, records, _ in scan(_tail_bytes(path, limit)) for _, record in records]
    return [record for record in found if is_record(record)]


def _add(
    session: OpenSession,
    records: Sequence[Record],
    listing: Listing,
    durability: str,
    whole_file_dedupe: bool,
    keep_ids: bool,
    skip_ids: int,
) -> Outcome:
    created = session.size == 0
    # What a session inherits may stand anywhere in it.
    whole = whole_file_dedupe or any(record.get("mark") == "inherited" for record in records)
    present = _present(session, whole)
    outcome: Outcome = {"new": [], "written": [], "known": 0, "healed": session.healed}
    # In the order given: a mark that says how far a source was read must not outlive the messages before it.
    lines = _listing_marks(session, listing, records)
    last_id = 0 if "adopted" in session.header["metadata"] else session.header["metadata"]["last_id"]
    last_id += skip_ids
    for record in records:
        if not is_message(record):
            lines.append(record)
        elif present.has(record.get("uid", "")):
            outcome["known"] += 1
        else:
            present.add(record.get("uid", ""))
            last_id = record["id"] if keep_ids and record["id"] > last_id else last_id + 1
            outcome["new"].append(last_id)
            lines.append(stored({"id": last_id, "sessionKey": session.key, **_without_name(record, "id")}))
            outcome["written"].append(lines[-1])
    # A session that goes on after its end ends once more, be it for the same reason.
    ends_again = bool(outcome["new"]) or "ended" not in session.header["metadata"]
    lines = [line for line in (_news(session.key, line, present, ends_again) for line in lines) if line]
    if lines:
        session.write(lines, sync=_must_sync(durability, records))
        if not (whole and isinstance(present, Present)):  # which holds the bytes of the whole file
            remember(session, present, lines)
        if created and durability != "none":
            session.sync_folder()
    else:
        session.patch()
        # Who asks again may never have heard that it was stored: then it must be on the disk now.
        if outcome["known"] and _must_sync(durability, records):
            session.sync()
    return outcome


def _present(session: OpenSession, whole: bool) -> Present | Census:
    """What to look records up in: the last WINDOW, or everything that the session ever had."""
    known = remembered(session, whole)
    if known:
        return known
    if not whole:
        return Present(session.read(max(session.room, session.size - WINDOW), session.size))
    if session.size > session.room and session.size <= _SEARCHED and not os.path.exists(session.place.archive):
        return Present(session.read(session.room, session.size))
    from catmem.sessions.census import Census  # no hook that is waited for looks that far

    return Census(session)


def _begins(records: Sequence[Record]) -> bool:
    """Marks alone begin no session, unless one is the listing of an export: nobody has said anything yet."""
    return any(is_message(record) or record["mark"] == "listing" for record in records)


def _must_sync(durability: str, records: Sequence[Record]) -> bool:
    if durability == "turn":
        return any(record.get("role") == "assistant" or record.get("mark") in _TURN_MARKS for record in records)
    return durability == "message"


def _listing_marks(session: OpenSession, listing: Listing, records: Sequence[Record]) -> list[Record]:
    """The marks that carry what line 1 says besides the messages: written when it is first known, or changes."""
    metadata = session.header["metadata"]
    now = str(records[0].get("timestamp", ""))
    marks = []
    texts = {name: str(listing.get(name, "")) for name in ("project", "cwd", "client")}
    missing = {name: text for name, text in texts.items() if text and not metadata[name]}
    if missing and not any(record.get("mark") == "listing" for record in records):
        marks.append(mark_record("listing", now, header={"metadata": missing}))
    title = short_title(listing.get("title", ""))
    if title and title != session.header["title"]:
        marks.append(mark_record("title", now, value=title))
    return marks


def _news(key: str, given: Record, present: Present | Census, ends_again: bool) -> Record | None:
    """A mark as it is to be written; None if it says nothing new. A message passes."""
    if is_message(given):
        return given
    mark: Record = stored({"mark": given["mark"], "sessionKey": key, **_without_name(given, "mark")})
    if mark["mark"] == "inherited":
        # Each message once, and only those that are here: so the count of line 1 is a plain difference.
        mark["uids"] = [uid for uid in dict.fromkeys(mark.get("uids", ())) if present.may_inherit(uid)]
        return mark if mark["uids"] else None
    if mark["mark"] == "end" and ends_again:
        return mark
    last = present.last_mark(mark["mark"])
    return None if last and {**last, "timestamp": ""} == {**mark, "timestamp": ""} else mark


def _without_name(record: Record, name: str) -> Record:
    return {field: value for field, value in record.items() if field not in (name, "sessionKey")}


def _tail_bytes(path: str, limit: int) -> bytes:
    """The last `limit` bytes of a file from the start of a line on; all of it if limit is 0, b"" if it is missing."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = file.seek(0, 2)
            start = max(0, size - limit) if limit else 0
            file.seek(start)
            data = file.read(size - start) or b""
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise read_failed(path, error) from error
    return data[data.find(b"\n") + 1 :] if start else data
