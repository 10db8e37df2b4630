"""Line 1 of a session file: a listing of fixed size with a checksum, derived from the body (hot path).

{"key","title","preview","created_at","updated_at","last_consolidated","metadata":{"project","cwd","client","count",
"last_id","root","last_role",…,"bytes","checksum"}}, spaces, a newline; 2,048 bytes in all unless that is too little.

`bytes` is the size of the file that the line describes, `checksum` the CRC-32 of the line before it. `count` is the
number of messages that are the session's own and came from somebody; `root` the uid of its first message. `adopted`
stands while count and last_id are an export's word for messages that are not here, `ended` while no message follows an
`end` mark; `purged` is the time when text was last taken out of messages; `trimmed` the last id of those that only the
archive has now; `continues` the key of the session that this one was forked from.
"""

from __future__ import annotations

import json
from zlib import crc32

from catmem.sessions.records import dump, is_header, is_interruption, is_message, stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Header = dict[str, Any]

ROOM = 2048
# Kept free when a line 1 is first laid out, for digits that grow and a title that comes later.
_GROWTH = 700
# Of a title, in characters: a line of a listing, never a paragraph.
TITLE_LENGTH = 200
# The most a line 1 may take: a key of 5,000 characters, each escaped, and a path as long as systems allow.
LONGEST_ROOM = 64 * ROOM

# In the order in which line 1 shows them; what else it has follows by name.
_SHOWN = ("project", "cwd", "client", "count", "last_id", "root", "last_role")
_CHECKSUM = b',"checksum":"'
_END = b'"}}'
# What `listing` marks may not set: it is counted here.
_COUNTED = frozenset({"count", "last_id", "root", "last_role", "bytes", "checksum", "adopted", "trimmed"})
# Of a text that another program gives us for line 1: paths end there.
_LONGEST_TEXT = 4096
_LONGEST_EXTRA = 1000
_STORAGE = frozenset({"bytes", "checksum", "adopted", "trimmed"})


def new(key: str, project: str = "") -> Header:
    """The header of a session that has no record yet."""
    metadata = {
        "project": project,
        "cwd": "",
        "client": "",
        "count": 0,
        "last_id": 0,
        "root": "",
        "last_role": "",
    }
    return {
        "key": key,
        "title": "",
        "preview": "",
        "created_at": "",
        "updated_at": "",
        "last_consolidated": 0,
        "metadata": metadata,
    }


def rebuild(key: str, records: Iterable[Mapping[str, Any]], project: str = "") -> Header:
    """The header that a body of these records has. `project` is used where no record names one."""
    header = new(key, project)
    advance(header, records)
    return header


def advance(header: Header, records: Iterable[Mapping[str, Any]]) -> None:
    """Brings a header up to date with records that came after those it knows.

    Whatever the records are, advancing piece by piece gives what a rebuild from all of them gives.
    """
    for record in records:
        if is_message(record):
            _count(header, record)
        else:
            _heed(header, record)


def pack(header: Mapping[str, Any], size: int, room: int) -> bytes | None:
    """Line 1 for a file of `size` bytes, `room` bytes long; None if it does not fit even without its texts."""
    line = _line(header, size)
    for name in ("preview", "title"):
        while len(line) >= room and header[name]:
            header = {**header, name: _shorter(str(header[name]), len(line) + 1 - room)}
            line = _line(header, size)
    return line.ljust(room - 1) + b"\n" if len(line) < room else None


def room_for(header: Mapping[str, Any]) -> int:
    """How long line 1 should be made for this header: a whole number of ROOMs."""
    need = len(_line(header, 10**12)) + _GROWTH
    return -(-need // ROOM) * ROOM


def unpack(line: bytes) -> tuple[Header | None, str]:
    """The header of a line 1 and "", or None and what is wrong with it."""
    head, found, tail = line.rstrip(b" \r\n").rpartition(_CHECKSUM)
    if not found or tail != b"%08x" % crc32(head) + _END:
        return None, "the checksum of line 1 does not fit"
    try:
        header = json.loads(head + b"}}")
    except (ValueError, RecursionError):
        return None, "line 1 is not JSON"
    fault = fault_of(header)
    return (None, fault) if fault else (header, "")


def fault_of(header: Any) -> str:
    """What makes a parsed line 1 unusable, or ""."""
    if not is_header(header) or not isinstance(header["metadata"], dict):
        return "line 1 is not a header"
    metadata = header["metadata"]
    for name in ("key", "title", "preview", "created_at", "updated_at"):
        if not isinstance(header.get(name), str):
            return f"{name} of line 1 is not a text"
    for name in ("project", "cwd", "client", "root", "last_role"):
        if not isinstance(metadata.get(name), str):
            return f"{name} of line 1 is not a text"
    for name in ("count", "last_id", "bytes"):
        if not _is_count(metadata.get(name)):
            return f"{name} of line 1 is not a number"
    if not _is_count(header.get("last_consolidated")) or header["last_consolidated"] > metadata["last_id"]:
        return "last_consolidated of line 1 is not the id of a message"
    return ""


def shown_metadata(header: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a listing or an export, in a stable order; what describes the file only is left out."""
    metadata = header["metadata"]
    others = sorted(set(metadata) - set(_SHOWN) - _STORAGE)
    return {name: metadata[name] for name in (*_SHOWN, *others)}


def short_title(title: str) -> str:
    """A title as the listing shows it."""
    if len(title) <= TITLE_LENGTH:
        return title
    from catmem.text.cut import cut_bytes  # not at every start of a hook

    return cut_bytes(title, len(title[:TITLE_LENGTH].encode()))


def salvaged(value: Any) -> dict[str, str]:
    """What the texts of a line 1 that failed its test still say, for a body that does not say it."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    texts = {name: value.get(name) for name in ("key", "title")} if isinstance(value, dict) else {}
    if isinstance(metadata, dict):
        texts.update({name: metadata.get(name) for name in ("project", "cwd", "client")})
    return {name: text for name, text in texts.items() if isinstance(text, str) and text}


def fill(header: Header, said: Mapping[str, str]) -> None:
    """Puts what `salvaged` found where the body said nothing."""
    metadata = header["metadata"]
    header["title"] = header["title"] or short_title(said.get("title", ""))
    for name in ("project", "cwd", "client"):
        metadata[name] = metadata[name] or said.get(name, "")


def _count(header: Header, message: Mapping[str, Any]) -> None:
    metadata = header["metadata"]
    if is_interruption(message):
        # Nobody said it: it only takes an id.
        metadata["last_id"] = max(metadata["last_id"], message["id"])
        return
    if metadata.pop("adopted", False):
        header.update(preview="", last_consolidated=0)
        metadata.update(count=0, last_id=0, root="", last_role="")
    metadata["count"] += 1
    metadata["last_id"] = max(metadata["last_id"], message["id"])
    metadata["last_role"] = message["role"]
    metadata.pop("ended", None)
    metadata["root"] = metadata["root"] or message.get("uid", "")[:_LONGEST_EXTRA]
    _span(header, message.get("timestamp"))
    if not header["preview"] and message["role"] == "user" and message["content"]:
        from catmem.text.cut import preview  # once a session, so not at every start of a hook

        # No line of a listing needs more of a text than this, and the text may be long.
        header["preview"] = preview(message["content"][:2000])


def _heed(header: Header, mark: Mapping[str, Any]) -> None:
    name = mark["mark"]
    if name == "title" and isinstance(mark.get("value"), str):
        header["title"] = short_title(mark["value"])
        _span(header, mark.get("timestamp"))
    elif name == "end":
        header["metadata"]["ended"] = str(mark.get("timestamp", ""))
    elif name == "purged":
        header["metadata"]["purged"] = str(mark.get("timestamp", ""))
    elif name == "consolidated" and _is_count(mark.get("last_id")):
        header["last_consolidated"] = min(
            max(header["last_consolidated"], mark["last_id"]), header["metadata"]["last_id"]
        )
    elif name == "continues" and isinstance(mark.get("key"), str):
        header["metadata"]["continues"] = mark["key"][:_LONGEST_TEXT]
    elif name == "inherited" and isinstance(mark.get("uids"), list):
        metadata = header["metadata"]
        metadata["count"] -= len(mark["uids"])
    elif name == "trimmed" and isinstance(mark.get("header"), dict):
        _count_trimmed(header, mark)
    elif name == "listing" and isinstance(mark.get("header"), dict):
        _adopt(header, mark["header"])


def _count_trimmed(header: Header, mark: Mapping[str, Any]) -> None:
    """Counts messages that the archive has, as `parts.trimmed_mark` tells of them, as if they stood here."""
    said, metadata = mark["header"], header["metadata"]
    counted = said.get("metadata")
    if not isinstance(counted, dict) or not _is_count(counted.get("count")) or not _is_count(counted.get("last_id")):
        return
    metadata["count"] += counted["count"]
    metadata["last_id"] = max(metadata["last_id"], counted["last_id"])
    metadata["trimmed"] = mark["last_id"] if _is_count(mark.get("last_id")) else counted["last_id"]
    for name in ("root", "last_role"):
        if isinstance(counted.get(name), str):
            metadata[name] = metadata[name] or counted[name]
    if isinstance(said.get("preview"), str):
        header["preview"] = header["preview"] or said["preview"]
    _span(header, said.get("created_at"))
    _span(header, said.get("updated_at"))


def _adopt(header: Header, listed: Mapping[str, Any]) -> None:
    """Takes from a listing what the messages cannot say; and all of it where there are no messages."""
    metadata, theirs = header["metadata"], listed.get("metadata")
    theirs = theirs if isinstance(theirs, dict) else {}
    title = listed.get("title")
    if isinstance(title, str) and title:
        header["title"] = short_title(title)
    _span(header, listed.get("created_at"))
    _span(header, listed.get("updated_at"))
    metadata.update({name: stored(value) for name, value in theirs.items() if value and _is_settable(name, value)})
    if (metadata["last_id"] == 0 or "adopted" in metadata) and _is_count(theirs.get("last_id")):
        metadata["last_id"] = theirs["last_id"]
        metadata["count"] = theirs["count"] if _is_count(theirs.get("count")) else 0
        for name in ("root", "last_role"):
            metadata[name] = theirs[name] if isinstance(theirs.get(name), str) else ""
        if isinstance(listed.get("preview"), str):
            header["preview"] = listed["preview"]
        metadata["adopted"] = True
    if _is_count(listed.get("last_consolidated")):
        header["last_consolidated"] = min(
            max(header["last_consolidated"], listed["last_consolidated"]), metadata["last_id"]
        )


def _is_settable(name: str, value: object) -> bool:
    if name in ("project", "cwd", "client", "ended", "purged"):
        return isinstance(value, str) and len(value) <= _LONGEST_TEXT
    return name not in _COUNTED and len(dump(stored(value))) <= _LONGEST_EXTRA


def _span(header: Header, instant: object) -> None:
    """Widens created_at … updated_at to a time, if it is a stamp as domain/clock writes them, which sort as text."""
    if isinstance(instant, str) and len(instant) >= 20 and instant[4] == "-" and instant[-1] == "Z":
        if not header["created_at"] or instant < header["created_at"]:
            header["created_at"] = instant
        if instant > header["updated_at"]:
            header["updated_at"] = instant


def _line(header: Mapping[str, Any], size: int) -> bytes:
    metadata = {name: value for name, value in header["metadata"].items() if name not in ("bytes", "checksum")}
    # An inherited mark may outlive its messages: a damaged file says 0, not less.
    metadata["count"] = max(0, metadata["count"])
    metadata["bytes"] = size
    head = dump({**header, "metadata": metadata}).encode()[:-2]
    return head + _CHECKSUM + b"%08x" % crc32(head) + _END


def _shorter(text: str, excess: int) -> str:
    """A text that is at least `excess` bytes shorter, ending in an ellipsis; "" if nothing sensible is left."""
    from catmem.text.cut import cut_bytes

    kept = cut_bytes(text, max(0, len(text.encode()) - excess - len("…".encode())))
    return kept + "…" if kept else ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
