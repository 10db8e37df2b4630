"""A session of an export, taken in so that exporting it again gives the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from catmem.domain.errors import BadInput
from catmem.domain.session import SessionRef
from catmem.sessions.history import Appended, History
from catmem.sessions.reading import message_of
from catmem.sessions.records import INTERRUPTED, header_record, is_message, is_record
from catmem.sessions.repair import missing


def adopt(history: History, record: Mapping[str, Any], messages: Iterable[Mapping[str, Any]] | None = None) -> Appended:
    """Stores line 1 `record` of an export, and its message records, if the export has them.

    Line 1 stays derived: what the messages do not say goes into a `listing` mark. Without messages that mark is all
    there is, and line 1 shows the counts of the export until messages come. Raises BadInput.
    """
    metadata = record.get("metadata")
    if not isinstance(record.get("key"), str) or not isinstance(metadata, Mapping):
        raise BadInput("a session of the export has no key or no metadata", "导出文件中有会话缺少 key 或 metadata")
    ref = SessionRef(str(metadata.get("project", "")), record["key"])
    records = list(messages or ())
    for number, message in enumerate(records, 1):
        if not is_record(message) or not is_message(message):
            raise BadInput(
                f"message {number} of the session {ref.key!r} is none", f"会话 {ref.key!r} 的第 {number} 条不是消息"
            )
    typed = [message_of(message, ref.key) for message in records]
    marks: list[Mapping[str, Any]] = []
    # A fork begins with the messages of the session that it left, which its count does not have.
    count = metadata.get("count")
    told = [m for m in typed if m.kind != INTERRUPTED]
    inherited = [m.uid for m in told[: len(told) - count]] if isinstance(count, int) and told else []
    if any(inherited):
        marks.append({"mark": "inherited", "uids": [uid for uid in inherited if uid]})
    listed = _listed(history, ref, record)
    if listed:
        marks.append({"mark": "listing", "timestamp": str(record.get("updated_at", "")), "header": listed})
    if not history.exists(ref):
        # What the export leaves out, as the beginning of a fork, is not missed here.
        marks += [{"mark": "lost", "first_id": first, "last_id": last} for first, last in missing(records)]
    return history.append(ref, typed, marks=marks, whole_file_dedupe=True, keep_ids=True)


def _listed(history: History, ref: SessionRef, record: Mapping[str, Any]) -> dict[str, Any]:
    """What line 1 of the export says that is not known here; {} if nothing, or if the session has gone on since."""
    listed = {name: value for name, value in record.items() if name not in ("key", "messages")}
    if not history.exists(ref):
        return listed
    present = history.read(ref).header
    if present.updated_at > str(record.get("updated_at", "")):
        return {}
    if present.metadata.get("purged"):
        # The beginning of what was said may be what was purged.
        listed = {name: value for name, value in listed.items() if name not in ("title", "preview")}
    known = {name: value for name, value in header_record(present).items() if name in listed}
    return {} if known == listed else listed
