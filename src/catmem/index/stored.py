"""The record of a document as the index keeps it (hot path). It is most of what the index occupies, so it is small.

A passage is a line that says where and when it was said, and its text in the shortest of three encodings, deflated if it
is long: Chinese takes two bytes a character in GB 18030, where Latin letters take one, Korean and Thai in UTF-16. Tantivy compresses what is short together with its neighbours, better than each by itself.
A memory is plain JSON: there are a hundred times fewer.
"""

from __future__ import annotations

import json

from catmem.domain.clock import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.index.documents import Record

# The first byte tells how the text is kept; JSON begins with a brace. Deflated may be added up.
_WIDE, _DEFLATED, _HAN, _BRACE = 1, 2, 4, ord("{")
_ENCODINGS = {0: "utf-8", _WIDE: "utf-16-le", _HAN: "gb18030"}
# From so many bytes on a text deflates better by itself: English prose of 4,000 to 41 % instead of 57 %.
_LONG = 600
_RAW = -15
"""zlib's window bits for no header and no checksum."""


def pack(record: Record) -> bytes:
    if record["type"] != "passage":
        return _json(record)
    form, text = _kept(record["text"])
    return bytes([form]) + _json(_place(record)) + b"\n" + text


def unpack(data: bytes) -> Record:
    if data[0] == _BRACE:
        record: Record = json.loads(data)
        return record
    end = data.index(b"\n")
    project, session, message_id, kind, instants, *more = json.loads(data[1:end])
    at = more[0] if more and more[0] else stamp(instants[0] / 1000)
    return {
        "type": "passage", "id": more[1] if len(more) > 1 else _usual_id(session, message_id),
        "text": _text(data[0], data[end + 1 :]), "kind": kind, "scope": "project", "project": project,
        "session": session, "message_id": message_id, "at": at, "instants": instants,
    }  # fmt: skip


def _place(record: Record) -> list[object]:
    """Where and when; the time as it was written and the id are left out where the rest says them."""
    place = [record[name] for name in ("project", "session", "message_id", "kind", "instants")]
    instants = record["instants"]
    at = "" if len(instants) == 1 and stamp(instants[0] / 1000) == record["at"] else record["at"]
    if record["id"] != _usual_id(record["session"], record["message_id"]):
        return [*place, at, record["id"]]
    return [*place, at] if at or not instants else place


def _usual_id(session: str, message_id: int) -> str:
    return f"{session}#{message_id}"


def _kept(text: str) -> tuple[int, bytes]:
    ways = (0,) if text.isascii() else _ENCODINGS
    form, kept = min(((way, text.encode(_ENCODINGS[way], "replace")) for way in ways), key=lambda way: len(way[1]))
    if len(kept) >= _LONG:
        import zlib  # few prompts meet a long text

        if len(deflated := zlib.compress(kept, wbits=_RAW)) < len(kept):
            return form | _DEFLATED, deflated
    return form, kept


def _text(form: int, kept: bytes) -> str:
    if form & _DEFLATED:
        import zlib

        kept = zlib.decompress(kept, _RAW)
    return kept.decode(_ENCODINGS[form & ~_DEFLATED])


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
