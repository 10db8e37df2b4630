"""What the lines of a session file are: its line 1, its own records, or neither (hot path)."""

from __future__ import annotations

from catmem.sessions.header import salvaged
from catmem.sessions.records import is_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from catmem.sessions.records import Piece, Record


def line1_of(piece: Piece) -> tuple[bool, dict[str, str]]:
    """Tells of the first line whether it is, or was, a line 1; and the texts it still says.

    A line that holds a message is none, damaged or not: then line 1 is missing, or grown together with it.
    """
    _, raw, records, reason = piece
    if records:
        header = records[0][1]
        return is_header(header), salvaged(header) if is_header(header) else {}
    return bool(reason) or not raw.strip(), {}


def owner(pieces: Iterable[Piece], key: str) -> str:
    """Whose the records are: `key` if any says so, else the key that most of them have, "" if there are none.

    So one garbled key is one damaged record, and does not turn the file into another session's.
    """
    votes: dict[str, int] = {}
    for _, _, records, _ in pieces:
        for _, record in records:
            if not is_header(record) and record.get("sessionKey"):
                votes[record["sessionKey"]] = votes.get(record["sessionKey"], 0) + 1
    if key in votes or not votes:
        return key if votes else ""
    return max(votes, key=votes.__getitem__)


def own(records: list[tuple[bytes, Record]], key: str) -> tuple[list[tuple[bytes, Record]], str]:
    """The records of a line that belong to the session, and why others do not ("" if all do)."""
    mine = [
        (raw, record)
        for raw, record in records
        if not is_header(record) and record.get("sessionKey") in (key, "", None)
    ]
    if len(mine) == len(records):
        return mine, ""
    return mine, "a second line 1" if any(is_header(record) for _, record in records) else "another session's record"
