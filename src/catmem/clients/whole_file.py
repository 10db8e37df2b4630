"""What the readers of foreign files share: a file is known by its name and its first bytes, and read from its start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.draft import Draft, Record
from catmem.clients.lines import Line, read_lines, records_of
from catmem.clients.port import CHUNK_BYTES, START, Position, TranscriptChunk
from catmem.domain.clock import stamp
from catmem.domain.errors import BadInput, StorageFailed
from catmem.text.encoding import sniff


class WholeFileHistory:
    """A History that is no JSON lines, or not told from single lines. Nobody follows such a file while it grows."""

    def knows(self, path: Path, head: bytes) -> bool:
        """True if the file is of this client; `head` is its beginning."""
        raise NotImplementedError

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        """The sessions of a file, in parts of about `limit` bytes. May raise OSError."""
        raise NotImplementedError

    def recognises(self, head: Sequence[object]) -> bool:
        return False

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        """See clients.port.History. Always from the start."""
        try:
            yield from self.read(path, limit)
        except OSError as error:
            raise StorageFailed(
                f"{path}: cannot be read ({error.strerror or error}). Check the file and its permissions.",
                f"{path}：无法读取（{error.strerror or error}）。请检查文件及其权限。",
            ) from error


# A record begins so; after a torn write the next whole one is found by it.
_HEADS = re.compile(r'\{"[A-Za-z_]+":')


def drafted(path: Path, draft: Draft, take: Callable[[Record, Line], None], limit: int) -> Iterator[TranscriptChunk]:
    """A file of JSON lines that is one session: each record goes to `take`, which adds to the draft."""
    with path.open("rb") as file:
        refuse_encodings(path, file.read(512))
        begun, end, number = 0, 0, 0
        for line in read_lines(file):
            for record in _line_records(line, draft):
                take(record, line)
            end, number = line.end, line.number
            if end - begun >= limit:
                yield draft.chunk(end, number, at_end=False)
                begun = end
        yield draft.chunk(end, number)


def _line_records(line: Line, draft: Draft) -> Iterator[Record]:
    if line.raw is None:
        draft.fault(reasons.too_long(line.end - line.start), line.number)
        return
    values, reason = records_of(line.raw, _HEADS)
    if reason:
        draft.fault(reasons.not_json(reason) if line.ended else reasons.incomplete(reason), line.number)
    for value in values:
        if isinstance(value, dict):
            draft.read()
            yield value
        else:
            draft.fault(reasons.NOT_A_RECORD, line.number)
    if not values and not reason and b"\x00" in line.raw:
        draft.fault(reasons.nul_characters(line.raw.count(b"\x00")), line.number)


def written_at(path: Path) -> str:
    """When a file was last written: the time of what has none of its own."""
    return stamp(path.stat().st_mtime)


def first_records(head: bytes, most: int = 8) -> list[object]:
    """The records in the first whole lines of JSON lines."""
    found: list[object] = []
    for raw in head.split(b"\n")[:most]:
        found += records_of(raw)[0]
    return found


def refuse_encodings(path: Path, head: bytes) -> None:
    """Raises BadInput for what is no UTF-8 text."""
    encoding = sniff(head)
    if encoding:
        raise BadInput(
            f"{path}: is {encoding}, not UTF-8 text. Convert it to UTF-8 and try again.",
            f"{path}：是 {encoding}，不是 UTF-8 文本。请转成 UTF-8 后重试。",
        )
