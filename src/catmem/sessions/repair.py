"""What can be wrong with a session's file, and putting it right: what is taken out is in the quarantine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from catmem.sessions import header as line1
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import LINE1, OpenSession
from catmem.sessions.outline import without_words
from catmem.sessions.pairing import pair
from catmem.sessions.reading import bytes_of, parse
from catmem.sessions.records import encode, is_message, mark_record, stored
from catmem.sessions.refusals import storage_failed
from catmem.sessions.rewrite import remove_temporaries, temporaries
from catmem.sessions.survey import survey

Problem = Literal[
    "line1", "line", "ids-missing", "ids-repeated", "result-alone", "call-open", "archive", "in-both", "temporary"
]
"""line1         line 1 is missing, damaged, behind, or says what the body does not
line          a line that is no record of this session, in whole or in part
ids-missing   ids that no message has: their messages could not be written, or were lost with a line
ids-repeated  an id that does not rise: two files were put together by hand
result-alone  a tool's result whose call is not there
call-open     calls that are over and have no result (interruption.py)
archive       a part of the archive that cannot be read
in-both       a message that a killed compaction left in the live file and in the archive
temporary     what a killed write left beside a file"""

LINES, LOST, RENUMBERED, ALONE, ARCHIVE, BOTH = "lines", "lost", "renumbered", "alone", "archive", "in-both"
CLOSED = "interrupted"
"""What `repair` reports besides the words of open_session.py: damaged lines moved out; missing ids written down;
repeated ids given anew; results without a call written down; the damaged part of an archive moved out; a compaction
finished or taken back; open calls given a result (interruption.py)."""


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
        left = [path for file in (place.file, place.archive) for path in temporaries(*os.path.split(file))]
    parsed = survey(place)
    found = [Finding(place.file, "line", bad.reason, bad.offset, bad.length) for bad in parsed.damage if bad.offset > 0]
    fault = _fault_of_line1(parsed.line1, parsed.size, parsed.header)
    if fault:
        found.insert(0, Finding(place.file, "line1", fault, 0, len(parsed.line1)))
    for first, last in missing(parsed.records):
        found.append(Finding(place.file, "ids-missing", "no message has these ids", first_id=first, last_id=last))
    found += [
        Finding(place.file, "ids-repeated", "the id does not rise", first_id=id, last_id=id)
        for id in _repeated(parsed.records)
    ]
    found += [
        Finding(place.file, "result-alone", "no call has this result", first_id=id, last_id=id)
        for id in _alone(place, parsed.records)
    ]
    found += [
        Finding(place.archive, "archive", "the archive is gone", first_id=first, last_id=last)
        for first, last in _gone(place, parsed.records)
    ]
    found += [Finding(path, "temporary", "left by a killed write", 0, os.path.getsize(path)) for path in left]
    return [*found, *_check_archive(place, parsed.records)]


def repair(place: Place, now: str) -> list[str]:
    """Puts right what `check` finds. One word for each thing done.

    The first message with an id keeps it, as evidence may name it; one that repeats it gets the next free id, and the
    mark `renumbered` tells which.
    """
    try:
        done = _repair_live(place, now)
        archive = _repair_archive(place, now)
        # What the damaged part of an archive had is missing from now on, which the live file says.
        done += [*archive, *(_repair_live(place, now) if ARCHIVE in archive else [])]
        return list(dict.fromkeys(done))
    except OSError as error:
        raise storage_failed(place.file, error) from error


def _repair_live(place: Place, now: str) -> list[str]:
    with session_lock(place.lock):
        removed = [remove_temporaries(*os.path.split(file)) for file in (place.file, place.archive)]
        parsed = parse(bytes_of(place.file))
        session = OpenSession(place, parsed.header["key"], create=False)
        try:
            return [*(["temporaries"] if any(removed) else []), *_repair(session, now)]
        finally:
            session.close()


def _repair(session: OpenSession, now: str) -> list[str]:
    session.patch()
    if session.size == 0:
        return session.healed
    data = session.read(0, session.size)
    parsed = parse(data)
    done = []
    records = _renumbered(parsed.records, session.key, now)
    if records is not None:
        parsed = replace(parsed, records=tuple(records), header=line1.rebuild(session.key, records))
        line1.fill(parsed.header, line1.salvaged(session.header))
        done.append(RENUMBERED)
    if any(offset > 0 for offset, _, _ in parsed.bad):
        done.append(LINES)
    elif _fault_of_line1(data[: data.find(b"\n") + 1], len(data), parsed.header):
        done.append(LINE1)
    if done:
        session.header = parsed.header
        session.replace([encode(record) for record in parsed.records])
    gaps = [*missing(parsed.records), *_gone(session.place, parsed.records)]
    alone = _alone(session.place, parsed.records)
    marks = [mark_record("lost", now, key=session.key, first_id=first, last_id=last) for first, last in gaps]
    marks += [mark_record("alone", now, key=session.key, ids=alone)] if alone else []
    if marks:
        session.write(marks, sync=True)
        done += [*([LOST] if gaps else []), *([ALONE] if alone else [])]
    return list(dict.fromkeys([*session.healed, *done]))


def _fault_of_line1(line: bytes, size: int, derived: Mapping[str, Any]) -> str:
    header, fault = line1.unpack(line)
    if header is None:
        return fault
    if header["metadata"]["bytes"] != size:
        return "line 1 is behind"
    # Where the room is small the texts of line 1 are shortened.
    texts = {"title": "", "preview": ""}
    said, meant = {**header, **texts}, {**derived, **texts}
    return "" if line1.pack(said, 0, len(line)) == line1.pack(meant, 0, len(line)) else "line 1 differs from the body"


def missing(records: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """The ranges of ids between messages that no message has and no mark accounts for."""
    ids: set[int] = set()
    last = 0
    for record in records:
        if is_message(record):
            ids.add(record["id"])
            last = max(last, record["id"])
        elif record["mark"] in ("lost", "archived", "trimmed"):
            also = record.get("also")
            ids.update(id for id in (also if isinstance(also, list) else ()) if isinstance(id, int))
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


def _renumbered(records: Sequence[dict[str, Any]], key: str, now: str) -> list[dict[str, Any]] | None:
    """The records with ids that rise; None if they do. What does not rise comes last: it was put there from elsewhere."""
    rising, others, highest = list[dict[str, Any]](), list[dict[str, Any]](), 0
    for record in records:
        if is_message(record) and record["id"] <= highest:
            others.append(record)
        else:
            rising.append(record)
            highest = record["id"] if is_message(record) else highest
    if not others:
        return None
    new = [stored({**record, "id": highest + number}) for number, record in enumerate(others, 1)]
    ids = [[old["id"], record["id"]] for old, record in zip(others, new, strict=True)]
    return [*rising, *new, mark_record("renumbered", now, key=key, ids=ids)]


def _alone(place: Place, records: Sequence[Mapping[str, Any]]) -> list[int]:
    """Ids of results that answer no call, and of which no mark speaks yet."""
    messages = [record for record in records if is_message(record)]
    alone = {messages[at]["id"] for at in pair(messages).orphans}
    if alone and os.path.exists(place.archive):
        # The pair may have been parted by a hand; compaction never does.
        whole = dict(_archived(place))
        whole.update({message["id"]: message for message in messages})
        joined = [whole[id] for id in sorted(whole)]
        alone &= {joined[at]["id"] for at in pair(joined).orphans}
    known = {
        id for r in records if r.get("mark") == "alone" for id in (r["ids"] if isinstance(r.get("ids"), list) else ())
    }
    return sorted(alone - known)


def _gone(place: Place, records: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """The range of the messages that the archive should have, if there is none and no mark says so."""
    if os.path.exists(place.archive) and os.path.getsize(place.archive):
        return []
    lost = [record for record in records if record.get("mark") == "lost"]
    return [
        (mark["first_id"], mark["last_id"])
        for mark in records
        if mark.get("mark") == "trimmed" and _is_range(mark) and not any(_covers(record, mark) for record in lost)
    ]


def _is_range(mark: Mapping[str, Any]) -> bool:
    return isinstance(mark.get("first_id"), int) and isinstance(mark.get("last_id"), int)


def _covers(lost: Mapping[str, Any], mark: Mapping[str, Any]) -> bool:
    return _is_range(lost) and lost["first_id"] <= mark["first_id"] and mark["last_id"] <= lost["last_id"]


def _check_archive(place: Place, live: Sequence[Mapping[str, Any]]) -> list[Finding]:
    if not os.path.exists(place.archive):
        return []
    from catmem.sessions.archive import damage  # zstd is loaded only where there is one
    from catmem.sessions.overlap import in_both

    bad = damage(place)
    found = [Finding(place.archive, "archive", reason, offset, len(raw)) for offset, raw, reason in bad]
    both = in_both(place, live)
    if both:
        found.append(Finding(place.file, "in-both", "live and archived", first_id=both[0], last_id=both[-1]))
    return found


def _repair_archive(place: Place, now: str) -> list[str]:
    if not os.path.exists(place.archive):
        return []
    from catmem.sessions.overlap import drop_damage, in_both, mend_both

    done = [ARCHIVE] if drop_damage(place, now) else []
    if in_both(place, survey(place).records):
        mend_both(place, now)
        done.append(BOTH)
    return done


def _archived(place: Place) -> Iterator[tuple[int, Mapping[str, Any]]]:
    from catmem.sessions.archive import archived_lines

    return ((record["id"], without_words(record)) for _, record in archived_lines(place))
