"""What the tests of long sessions share: transcripts with tool calls, what is on the disk of them, and how it is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from catmem.sessions.archive import read_archive
from catmem.sessions.file import append
from catmem.sessions.names import Place
from catmem.sessions.reading import read_file
from catmem.sessions.records import is_message, message_record
from catmem.sessions.records import scan as scan_lines
from tests.sessions.support import KEY, LISTING, at

NOW = "2026-03-01T00:00:00.000Z"


def put(place: Place, *records: dict[str, Any], **settings: Any) -> Any:
    return append(place, KEY, list(records), listing=LISTING, **{"durability": "none", **settings})


def said(number: int, role: str, text: str = "", **fields: Any) -> dict[str, Any]:
    """A message with a uid of its own; `calls` are ids of tool calls, "" for one without."""
    calls = [{"id": id, "name": "Bash", "arguments": "{}"} for id in fields.pop("calls", ())]
    texts = {
        "user": f"第 {number} 问: why is the pool exhausted?",
        "assistant": f"Because 连接 {number}.",
        "tool": "ok 🐈",
    }
    content = text or texts.get(role, f"notice {number}")
    return message_record(role, content, at(number), uid=f"u{number}", tool_calls=calls, **fields)


def talk(turns: int, first: int = 1) -> list[dict[str, Any]]:
    """Turns of four messages: a question, a call, its result, an answer."""
    made = []
    for turn in range(turns):
        n = first + 4 * turn
        made += [
            said(n, "user"),
            said(n + 1, "assistant", calls=[f"c{n}"]),
            said(n + 2, "tool", tool_call_id=f"c{n}"),
            said(n + 3, "assistant"),
        ]
    return made


@st.composite
def transcripts(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Parallel calls, ids that come again or are missing, calls that were broken off, results of nobody, notices."""
    made: list[dict[str, Any]] = []
    open_calls: list[str] = []
    roles = draw(st.lists(st.sampled_from(["user", "assistant", "calls", "result", "orphan", "system"]), max_size=40))
    for number, role in enumerate(roles, 1):
        if role == "calls":
            ids = draw(st.lists(st.sampled_from(["", "a", "b", f"c{number}"]), min_size=1, max_size=3))
            made.append(said(number, "assistant", calls=ids))
            open_calls += ids
        elif role == "result" and open_calls:
            id = open_calls.pop(draw(st.integers(0, len(open_calls) - 1)))
            made.append(said(number, "tool", tool_call_id=id))
        elif role in ("result", "orphan"):
            made.append(said(number, "tool", tool_call_id=draw(st.sampled_from(["", "x", "a"]))))
        else:
            made.append(said(number, role))
    return made


def live_lines(place: Place) -> dict[int, bytes]:
    """The message lines of the live file by id, as they stand there."""
    data = Path(place.file).read_bytes()
    found = [pair for _, _, records, _ in scan_lines(data) for pair in records]
    return {record["id"]: raw + b"\n" for raw, record in found if is_message(record) and "id" in record}


def archived_lines(place: Place) -> dict[int, bytes]:
    return {record["id"]: line for line, record in read_archive(place).lines}


def read_uids(place: Place) -> list[str]:
    return [message.uid for message in read_file(place).messages]


def size(place: Place) -> int:
    return os.stat(place.file).st_size


def records_of(lines: dict[int, bytes]) -> list[dict[str, Any]]:
    return [json.loads(lines[id]) for id in sorted(lines)]


def strictly_valid(messages: list[dict[str, Any]]) -> bool:
    """A validator of its own making: counts, by id, what is called and what is answered."""
    waiting: dict[str, int] = {}
    for message in messages:
        for call in message.get("toolCalls", ()):
            waiting[call["id"]] = waiting.get(call["id"], 0) + 1
        if message["role"] == "tool":
            id = message.get("toolCallId", "")
            if not waiting.get(id):
                return False
            waiting[id] -= 1
    return not any(waiting.values())
