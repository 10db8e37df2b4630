"""One session file, open under its lock: brought in order first, then appended to (hot path, byte level)."""
# No pathlib here: it would cost the hook 4 ms.

from __future__ import annotations

import os
from itertools import chain

from catmem.domain.errors import DataDamaged
from catmem.sessions import body
from catmem.sessions import header as line1
from catmem.sessions.locks import make_folder
from catmem.sessions.records import encode_stored, is_message, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from catmem.sessions.names import Place
    from catmem.sessions.records import Piece, Record

# What may be put right on the way: line 1 derived anew; a record that was cut off at the end moved into the quarantine;
# the whole file written anew, since line 1 was missing or its room too small. And what could not be: line 1 is behind.
LINE1, TAIL, LAYOUT, STALE = "line1", "tail", "layout", "stale"

_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS and Windows have only fsync
_FLAGS = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class _Lines:
    """The lines of a session, read anew each time that they are gone through."""

    def __init__(self, session: OpenSession) -> None:
        self._session = session

    def __iter__(self) -> Iterator[bytes]:
        return (line for line, _ in self._session.own_lines())


class OpenSession:
    """Use it under the session's lock only. Every method raises OSError where the disk refuses.

    header   as it should be; `fresh` tells whether line 1 says so
    room     the length of line 1; 0 while the file must be laid out anew before line 1 can be written
    healed   what was wrong and was put right, in the words above
    """

    def __init__(self, place: Place, key: str, *, create: bool = True) -> None:
        self.place = place
        self.key = key
        self.made_folder = False
        self.healed: list[str] = []
        self.header: dict[str, Any] = {}
        self.room = 0
        self.fresh = True
        self._joint = b""  # a newline, if the file ends in a whole record without one
        self._descriptor = self._open(create)
        try:
            self.size = os.fstat(self._descriptor).st_size
            self._load()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        os.close(self._descriptor)

    def identity(self) -> tuple[int, ...]:
        """What tells this state of the file from any other, as long as nobody turns clocks back."""
        status = os.fstat(self._descriptor)
        return status.st_dev, status.st_ino, status.st_mtime_ns, self.size

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from `start` up to `stop`, or to the end of the file."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        pieces = []
        while start < stop:
            piece = os.read(self._descriptor, stop - start)
            if not piece:
                break
            pieces.append(piece)
            start += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def write(self, records: list[Record], *, sync: bool) -> None:
        """Appends records (already `stored`) by one write, and brings line 1 up to date. On an error none is left."""
        was_empty, before = self.size == 0, self.size
        data = self._joint + b"".join(map(encode_stored, records))
        if was_empty:
            line1.advance(self.header, records)
            self.room = line1.room_for(self.header)
            data = (line1.pack(self.header, self.room + len(data), self.room) or b"") + data
        try:
            self._put(before, data)
            self.size = before + len(data)
            self._joint = b""
            laid_out = False
            if not was_empty:
                line1.advance(self.header, records)
                self.fresh = False
                laid_out = self.patch()
            if sync and not laid_out:
                self.sync()
        except OSError:
            self._cut_back(before)
            raise

    def patch(self) -> bool:
        """Writes line 1, if it is not what it should be; tells whether the whole file was written anew (and synced).

        A failure leaves line 1 stale, which any reader notices and the next append mends; the body is not concerned.
        """
        if self.fresh:
            return False
        line = line1.pack(self.header, self.size, self.room) if self.room else None
        try:
            if line is None:
                self.replace(_Lines(self))
            else:
                self._put(0, line)
        except OSError:
            self.healed.append(STALE)
            return False
        self.fresh = True
        return line is None

    def own_lines(self) -> Iterator[tuple[bytes, Record]]:
        """Every whole record of the session with the line that it stands in; what else there is, is set aside."""
        from catmem.sessions.blocks import blocks, scan_blocks  # an append reads no more than the end

        for piece in scan_blocks(blocks(self.read, 0, self.size)):
            offset, raw, records, reason = piece
            own, foreign = body.own(records, self.key)
            if (reason or foreign) and not (offset == 0 and body.line1_of(piece)[0]):
                self._set_aside([(offset, raw, reason or foreign)])
            for line, record in own:
                yield line + b"\n", record

    def replace(self, lines: Iterable[bytes]) -> None:
        """Writes the file anew and whole: line 1, with room enough for the header as it is now, then these lines.

        They are gone through twice, first for their size.
        """
        from catmem.sessions.rewrite import replace_file

        room = line1.room_for(self.header)
        size = room + sum(map(len, lines))
        replace_file(self.place.file, chain((line1.pack(self.header, size, room) or b"",), lines))
        os.close(self._descriptor)
        self._descriptor = self._open(False)
        self.size, self.room, self.fresh, self._joint = size, room, True, b""
        self.healed.append(LAYOUT)

    def sync(self) -> None:
        _sync_data(self._descriptor)

    def sync_folder(self) -> None:
        """Makes the file's name survive a power loss."""
        from catmem.sessions.rewrite import sync_folder

        folder = os.path.dirname(self.place.file)
        sync_folder(folder)
        if self.made_folder:
            sync_folder(os.path.dirname(folder))

    # -- bringing the file in order

    def _open(self, create: bool) -> int:
        flags = _FLAGS | os.O_CREAT if create else _FLAGS
        try:
            return os.open(self.place.file, flags, 0o600)
        except FileNotFoundError:
            if not create:
                raise
            self.made_folder = make_folder(os.path.dirname(self.place.file))
            return os.open(self.place.file, flags, 0o600)

    def _load(self) -> None:
        if self.size == 0:
            self.header = line1.new(self.key)
            return
        first = self._first_line()
        header, reason = line1.unpack(first)
        if header is None:
            self._rebuild(reason)
            return
        self._claim(header["key"])
        described = header["metadata"]["bytes"]
        # Line 1 knows the file up to a line's end, or it does not know this file.
        if described > self.size or described < len(first) or self.read(described - 1, described) != b"\n":
            self._rebuild("")
            return
        self.header, self.room = header, len(first)
        if described < self.size:
            self._absorb(list(scan(self.read(described, self.size), described)), set())
            self.fresh = False

    def _first_line(self) -> bytes:
        length = line1.ROOM
        while True:
            head = self.read(0, length)
            end = head.find(b"\n")
            if end >= 0:
                return head[: end + 1]
            if len(head) < length or length >= line1.LONGEST_ROOM:
                return head
            length *= 2

    def _claim(self, found: str) -> None:
        self.key = self.key or found
        if found != self.key:
            raise DataDamaged(
                f"{self.place.file} holds the session {found!r}, not {self.key!r}; move the file away, then try again",
                f"{self.place.file} 中是会话 {found!r}，而不是 {self.key!r}；请移走该文件后重试",
            )

    def _rebuild(self, reason: str) -> None:
        """Derives line 1 from the body, sets aside what cannot be read, and lays the file out anew if it must."""
        pieces = list(scan(self.read(0, self.size)))
        _, first, _, first_reason = pieces[0]
        has_line1, said = body.line1_of(pieces[0])
        voted = body.owner(pieces, self.key)
        if voted or not self.key:
            self._claim(voted or said.get("key", ""))
        if not self.key and not said and not any(records for _, _, records, _ in pieces):
            # Whoever opens it by its name alone (a listing) must leave alone what says nothing of being a session.
            raise DataDamaged(
                f"{self.place.file} holds no session; move the file away",
                f"{self.place.file} 中没有会话；请移走该文件",
            )
        self.header = line1.new(self.key)
        whole = first.endswith(b"\n")
        if has_line1:
            self.room = len(first) if whole and len(first) % line1.ROOM == 0 else 0
            pieces = pieces[1:]
            if first_reason or reason or not whole:
                self._set_aside([(0, first, first_reason or reason or "cut line 1")])
            self.healed.append(LINE1)
        self._absorb(pieces, set())
        line1.fill(self.header, said)
        self.fresh = False
        if self.size <= len(first) and has_line1 and not whole:
            self._restart()
        elif not self.room:
            self.patch()

    def _absorb(self, pieces: list[Piece], uids: set[str]) -> None:
        """Counts the records of lines that line 1 does not know of, and sets aside the lines that are damaged."""
        bad = []
        for offset, raw, records, reason in pieces:
            own, foreign = body.own(records, self.key)
            reason = reason or foreign
            torn = not raw.endswith(b"\n")
            fresh = [record for _, record in own if record.get("uid", "") not in uids or not is_message(record)]
            uids.update(record["uid"] for record in fresh if is_message(record) and record.get("uid"))
            line1.advance(self.header, fresh)
            if reason:
                bad.append((offset, raw, reason if not torn else "cut record"))
            if torn and (own or not reason):
                self._joint = b"\n"
        self._set_aside(bad)
        if bad and pieces and not pieces[-1][1].endswith(b"\n") and not self._joint:
            # Nothing of it was ever acknowledged, and it is in the quarantine now.
            os.ftruncate(self._descriptor, pieces[-1][0])
            self.size = pieces[-1][0]
            self.healed.append(TAIL)

    def _restart(self) -> None:
        """Nothing but a torn line 1 is there: its making was killed, and it is in the quarantine now."""
        os.ftruncate(self._descriptor, 0)
        self.size, self.room, self.fresh = 0, 0, True

    def _set_aside(self, bad: list[tuple[int, bytes, str]]) -> None:
        if bad:
            from catmem.sessions.quarantine import keep

            keep(self.place.quarantine, bad)

    # -- bytes

    def _put(self, offset: int, data: bytes) -> None:
        """One write; a short one is followed by another, which says why the first was short."""
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        written = os.write(self._descriptor, data)
        while written < len(data):
            more = os.write(self._descriptor, data[written:])
            if more == 0:
                raise OSError(28, "the disk takes no more bytes")
            written += more

    def _cut_back(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
        except OSError:
            return  # the torn record stays at the end, where the next append finds and removes it
        if size == 0:
            os.unlink(self.place.file)
