"""Which messages of a file are the session's own, and which of them were finally said: what its marks tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from catmem.domain.message import Message
from catmem.domain.session import SessionHeader, live_path
from catmem.sessions import header
from catmem.sessions.pairing import Pairing, pair
from catmem.sessions.reading import SessionContent, last_value
from catmem.sessions.records import INTERRUPTED, message_to_record


def own_messages(content: SessionContent) -> list[Message]:
    """The messages of the session itself, dead branches too; those of the session that it was forked from are left out.

    What a hook captured goes by the name and parent that the transcript gave it later.
    """
    inherited = {uid for mark in content.marks if mark["mark"] == "inherited" for uid in mark.get("uids", ())}
    own = [message for message in content.messages if not (message.uid and message.uid in inherited)]
    return under_own_names(_without_late(own), content.marks)


def own_header(content: SessionContent) -> SessionHeader:
    """Line 1 as it would be if the file had the session's own messages alone, under their own names."""
    own = own_messages(content)
    if not own:
        return content.header
    said = header.rebuild(content.header.key, map(message_to_record, own))
    metadata = {**content.header.metadata, "root": own[0].uid}
    if len(own) == len(content.messages):
        return replace(content.header, metadata=metadata)
    return replace(content.header, preview=said["preview"], created_at=said["created_at"], metadata=metadata)


def live_messages(content: SessionContent, *, strays: bool = False) -> list[Message]:
    """The session's own messages on the branch that the user is on, in the order of the talk.

    Each result stands behind its call, and each call that was over has exactly one. With `strays` a result that was
    given, but whose call is not there, stands where it was written; a model would refuse it, a reader wants it.
    """
    leaf = str(last_value(content.marks, "leaf", "uid") or "")
    return _with_one_result(live_path(own_messages(content), leaf), strays)


def under_own_names(messages: Sequence[Message], marks: Sequence[Mapping[str, Any]]) -> list[Message]:
    """The messages with the uid and parent that a transcript gave to what a hook had captured."""
    names = {mark.get("uid"): mark for mark in marks if mark["mark"] == "known_as"}
    return [
        replace(m, uid=str(names[m.uid].get("as", m.uid)), parent=str(names[m.uid].get("parent", "")))
        if m.uid in names
        else m
        for m in messages
    ]


def _without_late(messages: list[Message]) -> list[Message]:
    """Without our results of calls that got their own after all, or that are another session's."""
    if not any(message.kind == INTERRUPTED for message in messages):
        return messages
    paired = _paired(messages)
    return [m for n, m in enumerate(messages) if m.kind != INTERRUPTED or n in paired.answered]


def _with_one_result(messages: list[Message], strays: bool) -> list[Message]:
    """Our results, which were appended when they were found missing, behind their calls; results of no call left out."""
    if not any(message.role == "tool" for message in messages):
        return messages
    paired = _paired(messages)
    ours = sorted((call, n) for n, call in paired.answered.items() if messages[n].kind == INTERRUPTED)
    alone = [n for n in paired.orphans if not strays or messages[n].kind == INTERRUPTED]
    left_out = {*alone, *paired.late, *(n for _, n in ours)}
    behind: dict[int, list[Message]] = {}
    for (place, _), n in ours:
        behind.setdefault(place, []).append(messages[n])
    talk: list[Message] = []
    for n, message in enumerate(messages):
        if n not in left_out:
            talk += [message, *behind.get(n, ())]
    return talk


def _paired(messages: Sequence[Message]) -> Pairing:
    return pair([message_to_record(message) for message in messages])
