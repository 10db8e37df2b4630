"""What can be wrong with a session's file, and putting it right: what is taken out is in the quarantine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from catmem.sessions import header as line1
from catmem.sessions.file import storage_failed
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import LINE1, OpenSession
from catmem.sessions.reading import bytes_of, parse
from catmem.sessions.records import encode, is_message, mark_record
from catmem.sessions.rewrite import remove_temporaries

Problem = Literal["line1", "line", "ids-missing", "ids-repeated"]
"""line1         line 1 is missing, damaged, behind, or says what the body does not
line          a line that is no record of this session, in whole or in part
ids-missing   ids that no message has: their messages could not be written, or were lost with a line
ids-repeated  an id that does not rise: two files were put together by hand"""

LINES, LOST = "lines", "lost"
"""What `repair` reports besides the words of open_session.py: damaged lines moved out; missing ids written down."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a file: of bytes `offset` and `length`, of ids `first_id` to `last_id`."""

    file: str
    problem: Problem
    detail: str
    offset: int = 0
    length: int = 0
    first_id: int = 0
    last_id: int = 0


def check(place: Place) -> list[Finding]:
    """What is wrong with a session's file, in the order of the file."""
    with session_lock(place.lock):
        data = bytes_of(place.file)
    parsed = parse(data)
    found = [Finding(place.file, "line", reason, offset, len(raw)) for offset, raw, reason in parsed.bad if offset > 0]
    fault = _fault_of_line1(data, parsed.header)
    if fault:
        found.insert(0, Finding(place.file, "line1", fault, 0, data.find(b"\n") + 1))
    for first, last in _missing(parsed.records):
        found.append(Finding(place.file, "ids-missing", "no message has these ids", first_id=first, last_id=last))
    found += [
        Finding(place.file, "ids-repeated", "the id does not rise", first_id=id, last_id=id)
        for id in _repeated(parsed.records)
    ]
    return found


def repair(place: Place, now: str) -> list[str]:
    """Puts right what `check` finds, except repeated ids: evidence may name them. One word for each thing done."""
    file = Path(place.file)
    try:
        with session_lock(place.lock):
            removed = remove_temporaries(str(file.parent), file.name)
            parsed = parse(bytes_of(place.file))
            session = OpenSession(place, parsed.header["key"], create=False)
            try:
                done = _repair(session, now)
            finally:
                session.close()
            return [*(["temporaries"] if removed else []), *done]
    except OSError as error:
        raise storage_failed(place.file, error) from error


def _repair(session: OpenSession, now: str) -> list[str]:
    session.patch()
    if session.size == 0:
        return session.healed
    data = session.read(0, session.size)
    parsed = parse(data)
    done = []
    if any(offset > 0 for offset, _, _ in parsed.bad):
        done.append(LINES)
    elif _fault_of_line1(data, parsed.header):
        done.append(LINE1)
    if done:
        session.header = parsed.header
        session.replace([encode(record) for record in parsed.records])
    missing = _missing(parsed.records)
    if missing:
        session.write(
            [mark_record("lost", now, key=session.key, first_id=first, last_id=last) for first, last in missing],
            sync=True,
        )
        done.append(LOST)
    return list(dict.fromkeys([*session.healed, *done]))


def _fault_of_line1(data: bytes, derived: Mapping[str, Any]) -> str:
    line = data[: data.find(b"\n") + 1]
    header, fault = line1.unpack(line)
    if header is None:
        return fault
    if header["metadata"]["bytes"] != len(data):
        return "line 1 is behind"
    # Where the room is small the texts of line 1 are shortened.
    texts = {"title": "", "preview": ""}
    said, meant = {**header, **texts}, {**derived, **texts}
    return "" if line1.pack(said, 0, len(line)) == line1.pack(meant, 0, len(line)) else "line 1 differs from the body"


def _missing(records: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """The ranges of ids between messages that no message has and no mark accounts for."""
    ids: set[int] = set()
    last = 0
    for record in records:
        if is_message(record):
            ids.add(record["id"])
            last = max(last, record["id"])
        elif record["mark"] in ("lost", "archived"):
            first, final = record.get("first_id"), record.get("last_id")
            # A garbled mark must not make us count to it.
            if isinstance(first, int) and isinstance(final, int) and final - first < 1_000_000:
                ids.update(range(first, final + 1))
    ranges: list[tuple[int, int]] = []
    previous = 0
    for id in sorted(ids):
        if previous < id - 1 < last:
            ranges.append((previous + 1, id - 1))
        previous = max(previous, id)
    return ranges


def _repeated(records: Iterable[Mapping[str, Any]]) -> list[int]:
    repeated, previous = [], 0
    for record in records:
        if is_message(record):
            if record["id"] <= previous:
                repeated.append(record["id"])
            previous = max(previous, record["id"])
    return repeated
