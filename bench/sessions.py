"""Session files: an append to a long session against one to a short and against a rewrite; a listing against reading."""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path

from bench.measure import Bar, paired_ratio
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.names import place
from catmem.settings.paths import Paths

LONG, SHORT = 5000, 10
APPENDS = 200
SESSIONS, MESSAGES = 2000, 1000
# Reading all of it would take minutes; a sample is read, and its time scaled.
READ_SAMPLE = 100


def measure() -> list[Bar]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            *_appends(Path(folder, "appends")),
            *_rewriting(Path(folder, "rewriting")),
            *_listing(Path(folder, "listing")),
        ]


def _history(root: Path) -> History:
    return History(Paths(root), durability="none", redact=lambda text, source: text)


def _message(number: int) -> Message:
    text = f"message {number}: the retry of the upload worker backs off too slowly, 队列积压 {number}"
    role = "user" if number % 2 else "assistant"
    return Message(role, text, "2026-03-01T10:00:00.000Z", f"u{number}")  # type: ignore[arg-type]


def _appends(root: Path) -> list[Bar]:
    history = _history(root)
    for name, count in (("long", LONG), ("short", SHORT)):
        history.append(SessionRef("p", name), [_message(n) for n in range(1, count + 1)])
    counter = iter(range(10**6, 2 * 10**6))

    def burst(name: str) -> float:
        started = time.perf_counter()
        for _ in range(APPENDS // 10):
            history.append(SessionRef("p", name), [_message(next(counter))])
        return time.perf_counter() - started

    # The short session is begun anew for each burst, or it would grow long, too.
    def short() -> float:
        ref = SessionRef("p", f"short-{next(counter)}")
        history.append(ref, [_message(n) for n in range(1, SHORT + 1)])
        return burst(ref.key)

    ratio = paired_ratio(lambda: burst("long"), short, 31)
    return [Bar(f"append to {LONG:,} messages / append to {SHORT}", ratio, 1.5)]


def _rewriting(root: Path) -> list[Bar]:
    """Against the usual way: the whole session is written to a temporary and renamed, for each message."""
    history, ref = _history(root), SessionRef("p", "long")
    history.append(ref, [_message(n) for n in range(1, LONG + 1)])
    header, *lines = Path(place(str(root), "p", "long").file).read_bytes().splitlines(keepends=True)
    counter = iter(range(10**6, 2 * 10**6))
    records = [json.loads(line) for line in lines]
    target, temporary = root / "rewritten.jsonl", root / "rewritten.tmp"

    def rewrite() -> float:
        started = time.perf_counter()
        records.append({**records[-1], "id": len(records) + 1})
        with temporary.open("w", encoding="utf-8") as file:
            file.write(header.decode())
            file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        temporary.replace(target)
        return time.perf_counter() - started

    def append() -> float:
        started = time.perf_counter()
        for _ in range(APPENDS // 10):
            history.append(ref, [_message(next(counter))])
        return (time.perf_counter() - started) / (APPENDS // 10)

    ratio = paired_ratio(rewrite, append, 15)
    linear = _bytes_written(root, LONG) / (10 * _bytes_written(root, LONG // 10))
    return [
        Bar(f"a whole-file rewrite with rename / an append, at {LONG:,} messages", ratio, 50, most=False),
        # 1 is linear; whole-file rewriting makes it ten.
        Bar(f"bytes written by {LONG:,} appends / ten times those by {LONG // 10}", linear, 1.1),
    ]


def _bytes_written(root: Path, count: int) -> int:
    """What so many single appends to a new session write in all, line 1 patched each time."""
    history, ref, written, write = _history(root), SessionRef("p", f"counted-{count}"), 0, os.write

    def counted(descriptor: int, data: bytes) -> int:
        nonlocal written
        done = write(descriptor, data)
        written += done
        return done

    os.write = counted
    try:
        for number in range(1, count + 1):
            history.append(ref, [_message(number)])
    finally:
        os.write = write
    return written


def _listing(root: Path) -> list[Bar]:
    history = _history(root)
    model = SessionRef("p", "session-0000")
    history.append(model, [_message(n) for n in range(1, MESSAGES + 1)])
    body = Path(place(str(root), model.project, model.key).file).read_bytes()
    for number in range(1, SESSIONS):
        key = f"session-{number:04}"
        # Line 1 carries a checksum of itself, so it is left to be derived by the first append.
        lines = body.replace(b"session-0000", key.encode()).split(b"\n", 1)[1]
        Path(place(str(root), "p", key).file).write_bytes(lines)
        history.append(SessionRef("p", key), [_message(MESSAGES + number)])
    listed = _history(root)
    started = time.perf_counter()
    count = sum(1 for _ in listed.headers())
    listing = time.perf_counter() - started
    started = time.perf_counter()
    for number in range(READ_SAMPLE):
        listed.read(SessionRef("p", f"session-{number:04}"))
    reading = (time.perf_counter() - started) * SESSIONS / READ_SAMPLE
    assert count == SESSIONS
    return [
        Bar(f"listing {SESSIONS:,} sessions, bytes read of each", listed.bytes_read / SESSIONS, 2048, unit="B"),
        Bar(
            f"reading {SESSIONS:,} sessions of {MESSAGES:,} messages / listing them", reading / listing, 100, most=False
        ),
    ]


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
