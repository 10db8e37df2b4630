"""A chat log and what became of it: messages are replaced, patched and taken back by later lines.

Only where each message stands is held; a chat of any size is read again in its final order.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from catmem.clients import reasons
from catmem.clients.draft import Draft, record_of, records_in, text_of
from catmem.clients.gemini_cli import wire
from catmem.clients.gemini_cli.wire import Record
from catmem.clients.lines import Line, read_lines, records_of

HEADS = re.compile(r'\{"(?:id|sessionId|timestamp|type|\$set|\$rewindTo)"')
# Lines held while reading again: a patch may repeat the whole chat, and its messages are asked for one by one.
_MOST_LINES = 3


class Place(NamedTuple):
    """Where a message stands: its line, which record of it, and which message of a patch (-1: the record itself)."""

    offset: int
    line: int
    part: int
    item: int


class Log:
    """The state of a chat while its lines are read."""

    def __init__(self, draft: Draft) -> None:
        self.head: dict[str, object] = {}
        self.context = ""  # of the session, as the program told it to the model
        self.places: dict[str, list[Place]] = {}  # of all messages, in the order in which they came
        self.before: dict[str, str] = {}  # the message that each one followed; "" for the first
        self.rewound = False
        self._live: dict[str, None] = {}
        self._draft = draft

    @property
    def last(self) -> str:
        """The message that the talk has come to; "" if all was taken back."""
        return next(reversed(self._live), "")

    def read(self, file: BinaryIO) -> None:
        """Takes a whole file in."""
        for line in read_lines(file):
            records, reason = records_of(line.raw, HEADS) if line.raw is not None else ([], "")
            if line.raw is None:
                self._draft.fault(reasons.too_long(line.end - line.start), line.number)
            elif reason:
                fault = reasons.not_json(reason) if line.ended else reasons.incomplete(reason)
                self._draft.fault(fault, line.number)
            elif not records and line.raw.strip(b"\r\n\t \xef\xbb\xbf"):
                self._draft.fault(reasons.nul_characters(line.raw.count(b"\x00")), line.number)
            for part, record in enumerate(records):
                self._take(record, line, part)

    def _take(self, record: object, line: Line, part: int) -> None:
        if not isinstance(record, dict):
            self._draft.fault(reasons.NOT_A_RECORD, line.number)
            return
        self._draft.read()
        if "$rewindTo" in record:
            self._rewind(text_of(record["$rewindTo"]))
        elif "$set" in record:
            changes = record_of(record["$set"])
            self.head.update({name: value for name, value in changes.items() if name != "messages"})
            self._all(changes, line, part)
        elif wire.is_message(record):
            self._place(record, Place(line.start, line.number, part, -1))
        elif "type" not in record:
            self.head.update({name: value for name, value in record.items() if name != "messages"})
            self._all(record, line, part)

    def _all(self, changes: Record, line: Line, part: int) -> None:
        """A list of all messages. What it lacks was left out by the program when it went on, and not taken back."""
        messages = changes.get("messages")
        for index, message in enumerate(messages) if isinstance(messages, list) else ():
            if wire.is_message(message):
                self._place(message, Place(line.start, line.number, part, index))

    def _place(self, message: Record, place: Place) -> None:
        name = text_of(message.get("id")) or f"{place.offset}.{place.part}.{place.item}"
        if name not in self._live:  # new, or said again after it was taken back
            self.places[name] = self.places.pop(name, [])
            self.before[name] = self.last
            self._live[name] = None
        self.places[name].append(place)
        if not self.context and message["type"] == "user":
            told = "\n".join(wire.texts_of(message["content"]))
            self.context = told if "<session_context>" in told else ""

    def _rewind(self, name: str) -> None:
        """The person took a message back, and all after it. One that nobody knows takes nothing back."""
        while name in self._live:
            self._live.popitem()
            self.rewound = True


class Lookup:
    """Reads messages again, by their places."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lines: OrderedDict[int, list[object]] = OrderedDict()

    def versions(self, places: list[Place]) -> Iterator[Record]:
        """What a message was, the newest version first."""
        for place in reversed(places):
            record = record_of(self._records(place)[place.part])
            if place.item < 0:
                yield record
            else:
                holder = record_of(record["$set"]) if "$set" in record else record
                yield record_of(list(holder["messages"])[place.item])

    def _records(self, place: Place) -> list[object]:
        if place.offset not in self._lines:
            line = next(read_lines(self._file, place.offset, place.line - 1))
            self._lines[place.offset] = records_of(line.raw or b"", HEADS)[0]
            while len(self._lines) > _MOST_LINES:
                self._lines.popitem(last=False)
        self._lines.move_to_end(place.offset)
        return self._lines[place.offset]


def messages_in(document: Record) -> list[Record]:
    """The messages of the older form."""
    return [one for one in records_in(document.get("messages")) if wire.is_message(one)]
