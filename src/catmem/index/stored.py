"""The record of a document as the index keeps it (hot path). It is most of what the index occupies, so it is small.

Of a passage what its place says is not said again, and a text goes as UTF-16 where that is shorter, as it is for Chinese.
A memory is plain JSON: there are a hundred times fewer.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.index.documents import Record

# The first byte tells the form; JSON begins with a brace.
_UTF8, _UTF16, _BRACE = 8, 16, ord("{")


def pack(record: Record) -> bytes:
    if record["type"] != "passage":
        return _json(record)
    text: str = record["text"]
    plain, wide = text.encode("utf-8", "replace"), text.encode("utf-16-le", "replace")
    place = [record["project"], record["session"], record["message_id"], record["kind"], record["at"]]
    id = "" if record["id"] == _usual_id(record["session"], record["message_id"]) else record["id"]
    head = _json([*place, *record["instants"], id] if id else [*place, *record["instants"]])
    form, kept = (_UTF16, wide) if len(wide) < len(plain) else (_UTF8, plain)
    return bytes([form]) + head + b"\n" + kept


def unpack(data: bytes) -> Record:
    if data[0] == _BRACE:
        record: Record = json.loads(data)
        return record
    end = data.index(b"\n")
    project, session, message_id, kind, at, *more = json.loads(data[1:end])
    id = more.pop() if more and isinstance(more[-1], str) else _usual_id(session, message_id)
    text = data[end + 1 :].decode("utf-16-le" if data[0] == _UTF16 else "utf-8")
    return {
        "type": "passage", "id": id, "text": text, "kind": kind, "scope": "project", "project": project,
        "session": session, "message_id": message_id, "at": at, "instants": more,
    }  # fmt: skip


def _usual_id(session: str, message_id: int) -> str:
    return f"{session}#{message_id}"


def _json(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
