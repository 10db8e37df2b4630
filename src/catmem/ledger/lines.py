"""The lines of a ledger: written whole or not at all, read one by one, each numbered."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.errors import DataDamaged
from catmem.settings.paths import FILE_MODE
from catmem.text.encoding import clean

FORMAT = "catmem-ledger/1"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a ledger: where it ends, and its change; `problem` says why there is none."""

    start: int
    end: int
    change: Change | None
    problem: str = ""


# As every line of a change begins, whatever became of the rest of it.
_NUMBERED = re.compile(rb'\{"seq":\s*([0-9]{1,15}),')


def encode(change: Change) -> bytes:
    """A change as its line; what UTF-8 cannot say becomes U+FFFD."""
    return clean(json.dumps(change_to_record(change), ensure_ascii=False, separators=(",", ":"))).encode() + b"\n"


def read_line(raw: bytes, start: int, end: int) -> Line:
    record = record_of(raw)
    if record.get("format") == FORMAT or not raw.strip():
        return Line(start, end, None)
    if not record:
        return Line(start, end, None, "not JSON")
    try:
        return Line(start, end, change_from_record(record))
    except DataDamaged as error:
        return Line(start, end, None, str(error))


def record_of(raw: bytes) -> dict[str, object]:
    try:
        record = json.loads(raw)
        if b"\\u" in raw:
            # An escaped lone surrogate is JSON, but no text that can be stored.
            record = json.loads(clean(json.dumps(record, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def last_seq(path: Path) -> int:
    """The number of the last change; read from the tail, so that an append costs the same in a long ledger.

    That of a damaged line is not given again: another device may have read it while it was whole. A torn end is no
    line: nobody was told of it.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        for length in (1 << 16, 1 << 22, size):
            start = max(0, size - length)
            file.seek(start)
            lines = file.read().split(b"\n")
            damaged = 0
            for place, raw in reversed(list(enumerate(lines))[1 if start else 0 :]):
                seq = record_of(raw).get("seq")
                if isinstance(seq, int) and not isinstance(seq, bool):
                    return max(seq, damaged)
                begun = _NUMBERED.match(raw)
                if begun and place < len(lines) - 1:
                    damaged = max(damaged, int(begun[1]))
            if not start:
                return damaged
    return 0


def append_whole(path: Path, data: bytes) -> None:
    """One write and one fsync; a write cut short by a full disk is taken back whole."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE_MODE)
    try:
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":
            # A kill tore the last line: it was never acknowledged, and must not fuse with this one.
            data = b"\n" + data
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
            os.fsync(descriptor)
        except BaseException:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
