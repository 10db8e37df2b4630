"""From an assistant's transcript into its session: from where it was left, each message once however it came."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from catmem.capture.copies import Copies
from catmem.capture.known import BY_HOOK, TYPED_AHEAD, Known
from catmem.clients import port
from catmem.clients.catalogue import CLIENTS
from catmem.clients.port import START, Position, Problem, TellsTurns, TranscriptChunk
from catmem.clients.readers import reader_of
from catmem.domain.clock import Clock, seconds_of, system_clock
from catmem.domain.errors import CatmemError
from catmem.domain.message import Message
from catmem.domain.session import SessionHeader, SessionRef
from catmem.domain.triggers import changes_files
from catmem.sessions.history import History

# What a hook reads at most; the rest waits for the worker, which reads on by the same function.
HOOK_BYTES = 8 << 20
# Read and appended at a time within that, so that time running out loses nothing.
_HOOK_STEP = 1 << 20
# The worker looks at transcripts of sessions that were active within this many seconds.
_RECENT = 3 * 86400.0
# Of a file that was written to within this many seconds the last reply may be half there: it is left for its own hook.
_QUIET = 60.0
# Before a position is trusted, the bytes in front of it must be those that were read.
_PROOF_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken from a transcript; `left` tells that more of it is unread.

    `moved` of the new messages were known as a copy in another session, and belong to this one.
    """

    new: tuple[Message, ...] = ()
    known: int = 0
    moved: int = 0
    problems: tuple[Problem, ...] = ()
    left: bool = False
    helper: bool = False


def is_followed(client: str, path: str) -> bool:
    """True for a transcript that holds one session and grows while the assistant's hooks tell of it."""
    return client in CLIENTS and path.endswith(CLIENTS[client]["follows"])


def capture_turn(
    event: Mapping[str, Any], history: History, ref: SessionRef, *, at: str, stop: Callable[[], bool] = lambda: False
) -> dict[str, Any]:
    """Keeps the turn that an event ends: from the transcript, and the reply that the host names if it is not there.

    Returns what `hook.capture_event` describes.
    """
    known = Known(history, ref)
    taken = Taken()
    client, path = event["client"], event["transcript"]
    if is_followed(client, path) and os.path.isfile(path):
        final = event["name"] == "SessionEnd"
        taken = follow(history, known, Path(path), client=client, final=final, stop=stop)
    elif event["name"] == "Stop":
        taken = _told(event, history, known)
    if taken.helper:
        return {}
    new = [*taken.new, *_named_reply(event, history, known, at)]
    if event["name"] == "SessionEnd" and known.exists:
        history.append(ref, (), marks=[{"mark": "end", "reason": event["reason"]}])
    return {
        "key": ref.key,
        "project": ref.project,
        "new": [message.id for message in new],
        "known": taken.known,
        "text": "\n".join(message.content for message in new if message.role == "user"),
        "changes": any(changes_files(call.name) for message in new for call in message.tool_calls),
        "left": taken.left,
    }


def _told(event: Mapping[str, Any], history: History, known: Known) -> Taken:
    """The turn as the hook itself tells it, where the session has no file of its own."""
    reader = reader_of(event["client"])
    if not isinstance(reader, TellsTurns):
        return Taken()
    turn = reader.turn(event["raw"])
    if turn.helper:
        return Taken(helper=True)
    return take_in(history, known, turn, Copies(history), path=None, client=event["client"])


def _named_reply(event: Mapping[str, Any], history: History, known: Known, at: str) -> tuple[Message, ...]:
    """The reply as the host told it, where its transcript is late or missing."""
    reply = event["reply"]
    if event["name"] != "Stop" or not reply.strip() or known.has_answer(reply):
        return ()
    told = f"{event['session']}\n{event['prompt_id'] or known.last_said()}\n{reply}"
    uid = BY_HOOK + hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=12).hexdigest()
    message = Message("assistant", reply, at, uid)
    return history.append(known.ref, [message], cwd=event["cwd"], client=event["client"], whole_file_dedupe=True).new


def follow(
    history: History,
    known: Known,
    path: Path,
    *,
    client: str,
    final: bool = False,
    stop: Callable[[], bool] = lambda: False,
    limit: int = HOOK_BYTES,
) -> Taken:
    """Takes in what a transcript has gained since it was last read, at most `limit` bytes of it."""
    parts = list(follow_parts(history, known, path, client=client, final=final, stop=stop, limit=limit))
    if any(part.helper for part in parts):
        return Taken(helper=True)
    new = tuple(message for part in parts for message in part.new)
    return Taken(new, sum(part.known for part in parts), left=bool(parts) and parts[-1].left)


def follow_parts(
    history: History,
    known: Known,
    path: Path,
    *,
    client: str,
    final: bool = False,
    stop: Callable[[], bool] = lambda: False,
    limit: int,
) -> Iterator[Taken]:
    """The same part by part, none of which is kept; `left` tells that more follows a part, or was left unread."""
    position = _position(known, path)
    copies = Copies(history)
    for chunk in reader_of(client).chunks(path, position, limit=_HOOK_STEP, final=final):
        if chunk.helper:
            yield Taken(helper=True)
            return
        taken = take_in(history, known, chunk, copies, path=path, client=client)
        yield Taken(taken.new, taken.known, left=not chunk.at_end)
        if not chunk.at_end and (stop() or chunk.position.offset - position.offset >= limit):
            return


def take_in(
    history: History, known: Known, chunk: TranscriptChunk, copies: Copies, *, path: Path | None, client: str
) -> Taken:
    """Appends what is new of a part of a session, with its marks and the position, in one step.

    `path` is None for a source that nobody reads on from.
    """
    shared = copies.settle(known, chunk, path, client)
    new: list[Message] = []
    marks: list[port.Mark] = []
    seen = 0
    for message in chunk.messages:
        if message.uid in known.uids or message.uid in shared.left_out:
            seen += 1
            continue
        twins = known.twins(message, chunk.prompts.get(message.uid, ""))
        marks += [{"mark": "known_as", "uid": t.uid, "as": message.uid, "parent": message.parent} for t in twins]
        if twins or (message.uid.startswith(TYPED_AHEAD) and known.was_said_after(message)):
            seen += 1
        else:
            new.append(message)
    advanced = path is None or _is_ahead(known, path, chunk.position)
    marks += shared.marks
    shared.marks = []
    if advanced or new:
        marks += [mark for mark in chunk.marks if not known.says(mark)]
    if path is not None and advanced:
        marks.append(_source_mark(path, chunk.position))
    stored: tuple[Message, ...] = ()
    if new or (marks and known.exists):
        stored = history.append(
            known.ref, new, cwd=chunk.cwd, client=client, title=chunk.title, marks=marks, whole_file_dedupe=True
        ).new
        for message in stored:
            known.add(message)
        known.add_marks(marks)
    moved = sum(message.uid in shared.owned for message in stored)
    if chunk.at_end:
        copies.hand_over(shared)
    return Taken(stored, seen + len(new) - len(stored), moved, chunk.problems)


def catch_up_transcripts(
    history: History, clock: Clock = system_clock, *, stop: Callable[[], bool] = lambda: False
) -> int:
    """Reads on where hooks had to leave off, or were not called. Returns how many messages were new.

    A transcript that is gone or unreadable is left alone: what was captured of it stays.
    """
    found = 0
    for header, client, source in followed(history, clock):
        if stop():
            break
        if not _has_grown(source, clock(), ended=bool(header.metadata.get("ended"))):
            continue
        try:
            known = Known(history, header.ref)
            path = Path(source["path"])
            parts = follow_parts(history, known, path, client=client, stop=stop, limit=sys.maxsize)
            found += sum(len(part.new) for part in parts)
        except CatmemError:
            continue
    return found


def followed(history: History, clock: Clock = system_clock) -> Iterator[tuple[SessionHeader, str, Mapping[str, Any]]]:
    """The sessions whose transcripts are read on, with their client and the mark of the transcript."""
    for header in list(history.headers()):
        client = str(header.metadata.get("client", ""))
        if client not in CLIENTS or clock() - _seconds(header.updated_at) > _RECENT:
            continue
        source = history.last_mark(header.ref, "source")
        if source and is_followed(client, str(source.get("path"))):
            yield header, client, source


def _has_grown(source: Mapping[str, Any], moment: float, *, ended: bool) -> bool:
    """True if a transcript has more than was read of it, and nobody is writing to it just now."""
    try:
        status = os.stat(str(source["path"]))
        return status.st_size > int(source["offset"]) and (ended or moment - status.st_mtime >= _QUIET)
    except (OSError, KeyError, TypeError, ValueError):
        return False


def _seconds(instant: str) -> float:
    try:
        return seconds_of(instant)
    except ValueError:
        return 0.0


def _position(known: Known, path: Path) -> Position:
    """Where to read on; from the start if the file is not the one that was read."""
    mark = known.source(str(path))
    if mark is None:
        return START
    try:
        offset, proof = int(mark["offset"]), int(mark["tail"])
        if _proof(path, offset) != proof:
            return START
        waiting = tuple(int(number) for number in mark.get("waiting", ()))
        return Position(offset, int(mark["line"]), waiting, str(mark.get("reply", "")), int(mark.get("titled", 0)))
    except (KeyError, TypeError, ValueError, OSError):
        return START


def _is_ahead(known: Known, path: Path, position: Position) -> bool:
    return position.offset > _position(known, path).offset


def _source_mark(path: Path, position: Position) -> port.Mark:
    status = path.stat()
    return {
        "mark": "source",
        "path": str(path),
        "offset": position.offset,
        "size": status.st_size,
        "inode": status.st_ino,
        "tail": _proof(path, position.offset),
        "line": position.line,
        "waiting": list(position.waiting),
        "reply": position.reply,
        "titled": position.titled,
    }


def _proof(path: Path, offset: int) -> int:
    """A checksum of the bytes before an offset; -1 if the file ends before it."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < offset:
            return -1
        start = max(0, offset - _PROOF_BYTES)
        file.seek(start)
        return crc32(file.read(offset - start))
