"""Reads exports of Claude.ai: `conversations.json`, or the ZIP that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.claude_ai import wire
from catmem.clients.claude_ai.wire import Record
from catmem.clients.draft import Draft, records_in, text_of, tool_call
from catmem.clients.exports import documents, export_knows
from catmem.clients.json_items import Item, items_of
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, written_at
from catmem.domain.clock import parse_instant

CLIENT = "claude-ai"
# The first message of a talk hangs from this id, which is no message.
_ROOT = "00000000-0000-4000-8000-000000000000"


class ClaudeAiHistory(WholeFileHistory):
    """The History of Claude.ai."""

    def knows(self, path: Path, head: bytes) -> bool:
        return export_knows(path, head, b'"chat_messages"')

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        fallback = written_at(path)
        for name, file in documents(path):
            for item in items_of(file):
                yield _conversation(name, item, fallback).chunk(item.end)


READER = ClaudeAiHistory()


def _conversation(name: str, item: Item, fallback: str) -> Draft:
    conversation = item.value if isinstance(item.value, dict) else None
    own = text_of(conversation.get("uuid")) if conversation else ""
    if conversation is None or not own:
        draft = Draft(name, "", fallback)
        draft.fault(reasons.not_json(item.reason) if item.reason else reasons.NOT_A_RECORD, item.line)
        return draft
    began = parse_instant(conversation.get("created_at"))
    draft = Draft(name, f"{CLIENT}:{own}", began[0] if began else fallback)
    draft.title = text_of(conversation.get("name"))
    draft.read()
    parents: dict[str, str] = {}
    for message in records_in(conversation.get("chat_messages")):
        _message(draft, message, item.line, parents)
    if not draft.has_messages:
        draft.fault(reasons.empty(draft.title), item.line)
    return draft


def _message(draft: Draft, message: Record, line: int, parents: dict[str, str]) -> None:
    """A message and the results of the tools that it called, which the export keeps inside of it."""
    role, at, own = wire.role_of(message), message.get("created_at"), text_of(message.get("uuid"))
    above = text_of(message.get("parent_message_uuid"))
    parent = parents.get(above, "") if above != _ROOT else ""
    text = wire.said_text(message)
    last = ""
    if role == "user":
        last = draft.say("user", text, at, uid=own, line=line, parent=parent)
    elif role == "assistant":
        calls = [tool_call(call.get("id"), call.get("name"), call.get("input")) for call in wire.calls_of(message)]
        last = draft.say("assistant", text, at, uid=own, line=line, parent=parent, calls=calls)
        for number, block in enumerate(wire.results_of(message), start=1):
            call_id = text_of(block.get("tool_use_id"))
            uid = f"{own}:{number}" if own else ""
            result = wire.result_text(block)
            last = draft.say("tool", result, at, uid=uid, line=line, parent=last, call_id=call_id) or last
    else:
        draft.fault(reasons.unknown_role(message.get("sender")), line)
        last = draft.say("system", text, at, uid=own, line=line, parent=parent, kind="notice")
    if own:
        parents[own] = last or parent
