"""What an assistant's hook puts into a session (hot path: plain dicts, standard library only).

A prompt is kept at once, before the model sees it; a transcript, which the host writes late, is read at the end of
a turn by `transcript`, loaded only then.
"""

from __future__ import annotations

import os

from catmem.domain.errors import LockBusy
from catmem.domain.hashing import short_hash
from catmem.sessions.door import admitted
from catmem.sessions.file import append
from catmem.sessions.header import ROOM, unpack
from catmem.sessions.names import ENDING, file_name, place, safe_key
from catmem.sessions.records import mark_record, message_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from catmem.sessions.history import History

# A person waits for the prompt to be sent: who holds the lock longer gets the record through the spool.
PROMPT_WAIT = 0.3
# Two deliveries of one prompt, by a host that names no prompts, come within a few seconds.
_SAME_DELIVERY = 10.0
# What is pasted beyond it is no longer words; the transcript has it.
_LONGEST_PROMPT = 1 << 20

# At these events the transcript has something new.
TURN_EVENTS = ("Stop", "PreCompact", "SessionEnd")


def capture_event(
    event: Mapping[str, Any],
    *,
    root: str,
    project: str,
    redact: Callable[[str, str], str],
    at: str,
    seconds: float,
    durability: str = "turn",
    make_history: Callable[[], History],
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Keeps what an event brings. `at` is now as a stamp, `seconds` as a number; `stop` tells when time is up.

    Returns {"key", "project", "new": [ids], "known": n, "text": what was typed, "changes": whether files were changed,
    "left": more waits in the transcript}, or {} for an event that brings nothing: of a subagent, of a helper of ours, of a kind without words.
    """
    if not event["session"] or event["agent_id"] or event["helper"]:
        return {}
    if event["name"] == "UserPromptSubmit":
        return capture_prompt(
            event, root=root, project=project, redact=redact, at=at, seconds=seconds, durability=durability
        )
    if event["name"] in TURN_EVENTS:
        from catmem.capture.transcript import capture_turn
        from catmem.domain.session import SessionRef

        ref = SessionRef(home_of(root, project, event["session"]), event["session"])
        return capture_turn(event, make_history(), ref, at=at, stop=stop)
    return {}


def capture_prompt(
    event: Mapping[str, Any],
    *,
    root: str,
    project: str,
    redact: Callable[[str, str], str],
    at: str,
    seconds: float,
    durability: str = "turn",
) -> dict[str, Any]:
    """Appends what was typed. Delivered twice, it is one message; met in the transcript later, it stays one."""
    text = event["prompt"]
    if not text.strip():
        return {}
    if len(text) > _LONGEST_PROMPT:
        text = f"{text[:_LONGEST_PROMPT]} […{len(text) - _LONGEST_PROMPT} characters left out]"
    key = safe_key(event["session"])
    project = home_of(root, project, key)
    record = message_record("user", text, at, key=key, uid=_prompt_uid(event, seconds))
    record = admitted(record, redact)
    records = [record]
    target = place(root, project, key)
    if event["transcript"] and not os.path.exists(target.file):
        # Whoever finds the session without an end knows where its answers are.
        records.append(_unread(event["transcript"], at))
    answer = {"key": key, "project": project, "new": [], "known": 0, "text": record["content"]}
    answer.update(changes=False, left=False)
    if not record["content"].strip():
        return {}
    listing = {"project": project, "cwd": event["cwd"], "client": event["client"]}
    try:
        outcome = append(
            target,
            key,
            records,
            listing=listing,  # type: ignore[arg-type]
            durability=durability,
            wait=PROMPT_WAIT,
        )
        answer.update(new=outcome["new"], known=outcome["known"])
    except LockBusy:
        from catmem.capture.spool import spool

        spool(root, {"project": project, "key": key, "records": records, "listing": listing})
    return answer


def _unread(path: str, at: str) -> dict[str, Any]:
    """The mark of a transcript of which nothing has been read yet (see transcript.py)."""
    return mark_record("source", at, path=path, offset=0, size=0, inode=0, tail=0, line=0)


def home_of(root: str, project: str, key: str) -> str:
    """The project that a session is kept in: where it began, although the assistant may have changed the folder."""
    if os.path.exists(place(root, project, key).file):
        return project
    name = file_name(key) + ENDING
    messages = os.path.join(root, "messages")
    try:
        folders = os.listdir(messages)
    except OSError:
        return project
    for folder in folders:
        path = os.path.join(messages, folder, name)
        if os.path.exists(path):
            return _project_in(path) or project
    return project


def _project_in(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            header, _ = unpack(file.read(ROOM) or b"")
    except OSError:
        return ""
    return str(header["metadata"]["project"]) if header else ""


def _prompt_uid(event: Mapping[str, Any], seconds: float) -> str:
    if event["prompt_id"]:
        return f"hook:{event['prompt_id']}"

    told = f"{event['session']}\n{int(seconds / _SAME_DELIVERY)}\n{event['prompt']}"
    return "hook:" + short_hash(told, 12)
