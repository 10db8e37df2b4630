"""A session file as `reading.parse` gives it, without its words: what a check looks at, of files of any size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catmem.domain.errors import NotFound
from catmem.sessions import body
from catmem.sessions import header as line1
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.outline import without_words
from catmem.sessions.reading import Damage
from catmem.sessions.records import is_message
from catmem.sessions.refusals import read_failed
from catmem.sessions.uids import Uids
from catmem.sessions.walking import Live


@dataclass(frozen=True, slots=True)
class Survey:
    """`records` are messages as pairing.py asks for them, and marks whole; `header` is what the body makes.

    `line1` and `size` are of the file as it was when nobody wrote.
    """

    header: dict[str, Any]
    records: tuple[Mapping[str, Any], ...]
    damage: tuple[Damage, ...]
    line1: bytes
    size: int


def survey(place: Place) -> Survey:
    """Looks a live file through. Raises NotFound, LockBusy, StorageFailed."""
    try:
        with open(place.file, "rb", buffering=0) as file:
            with session_lock(place.lock):  # not for as long as the reading takes: what is appended then is left out
                first = file.read(line1.LONGEST_ROOM)
                session = Live(file, first[: first.find(b"\n") + 1])
            return _surveyed(session)
    except FileNotFoundError as error:
        raise NotFound(
            f"no session in {place.file}; it was deleted meanwhile", f"{place.file} 中没有会话；它已被删除"
        ) from error
    except OSError as error:
        raise read_failed(place.file, error) from error


def _surveyed(session: Live) -> Survey:
    made = line1.rebuild(session.key, ())
    records: list[Mapping[str, Any]] = []
    damage: list[Damage] = []
    said: dict[str, str] = {}
    uids = Uids()
    for number, piece in enumerate(session.pieces()):
        offset, raw, found, reason = piece
        if number == 0:
            has_line1, said = body.line1_of(piece)
            if has_line1:
                fault = reason or line1.unpack(raw)[1]
                damage += [Damage(offset, len(raw), fault)] if fault else []
                continue
        mine, foreign = body.own(found, session.key)
        if reason or foreign:
            damage.append(Damage(offset, len(raw), reason or foreign))
        for _, record in mine:
            uid = record.get("uid", "") if is_message(record) else ""
            if not uid or uids.add(uid):
                line1.advance(made, (record,))
                records.append(without_words(record) if is_message(record) else record)
    line1.fill(made, said)
    return Survey(made, tuple(records), tuple(damage), session.line1, session.size)
