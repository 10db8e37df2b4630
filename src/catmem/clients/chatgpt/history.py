"""Reads exports of ChatGPT: `conversations.json`, `conversations-NNN.json`, a single conversation, or the ZIP."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.chatgpt import wire
from catmem.clients.chatgpt.wire import Record
from catmem.clients.draft import Draft, text_of, tool_call
from catmem.clients.exports import documents, export_knows
from catmem.clients.json_items import Item, items_of
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, written_at
from catmem.domain.clock import parse_instant
from catmem.domain.message import Role

CLIENT = "chatgpt"
# Of the first words that stand for a title, in characters.
_TITLE_LENGTH = 60


class ChatGptHistory(WholeFileHistory):
    """The History of ChatGPT. Branches that were left are kept, too; the living one is marked."""

    def knows(self, path: Path, head: bytes) -> bool:
        return export_knows(path, head, b'"mapping"', b'"parent"')

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        fallback = written_at(path)
        for name, file in documents(path):
            for item in items_of(file):
                yield _conversation(name, item, fallback).chunk(item.end)


READER = ChatGptHistory()


def _conversation(name: str, item: Item, fallback: str) -> Draft:
    conversation = item.value if isinstance(item.value, dict) else None
    draft = Draft(name, "", fallback)
    if conversation is None:
        draft.fault(reasons.not_json(item.reason) if item.reason else reasons.NOT_A_RECORD, item.line)
        return draft
    began = parse_instant(conversation.get("create_time")) or parse_instant(conversation.get("update_time"))
    draft = Draft(name, f"{CLIENT}:{_id_of(conversation)}", began[0] if began else fallback)
    draft.read()
    _take(draft, conversation)
    if not draft.has_messages:
        draft.fault(reasons.empty(text_of(conversation.get("title"))), item.line)
    return draft


def _id_of(conversation: Record) -> str:
    own = text_of(conversation.get("conversation_id")) or text_of(conversation.get("id"))
    if own:
        return own
    told = json.dumps([conversation.get("title"), conversation.get("create_time"), list(wire.nodes_of(conversation))])
    return hashlib.blake2b(told.encode(), digest_size=12).hexdigest()


def _take(draft: Draft, conversation: Record) -> None:
    nodes = wire.nodes_of(conversation)
    order = wire.ordered(nodes)
    kept: dict[str, str] = {}  # a node -> the message that it is, or that stands before it
    first_said = ""
    for name in order:
        node = nodes[name]
        parent = kept.get(wire.parent_of(node), "")
        uid = _message(draft, name, wire.message_of(node), parent, nodes)
        kept[name] = uid or parent
        if uid and not first_said and wire.role_of(wire.message_of(node)) == "user":
            first_said = wire.content_text(wire.message_of(node))
    draft.leaf = kept.get(wire.leaf_of(conversation, nodes, order), "")
    draft.title = text_of(conversation.get("title")).strip() or _made_up_title(first_said)


def _message(draft: Draft, name: str, message: Record, parent: str, nodes: dict[str, Record]) -> str:
    role, text = wire.role_of(message), wire.content_text(message)
    at, uid = message.get("create_time"), text_of(message.get("id")) or name
    if wire.is_call(message):
        calls = [tool_call(uid, message.get("recipient"), text)] if text else []
        return draft.say("assistant", "", at, uid=uid, parent=parent, calls=calls)
    if role == "tool":
        above = nodes.get(wire.parent_of(nodes[name]), {})
        called = wire.is_call(wire.message_of(above)) and wire.message_of(above)
        call_id = (text_of(called.get("id")) or wire.parent_of(nodes[name])) if called else ""
        return draft.say("tool", text, at, uid=uid, parent=parent, call_id=call_id)
    if role in ("user", "assistant") and not wire.is_hidden(message):
        said: Role = "user" if role == "user" else "assistant"
        return draft.say(said, text, at, uid=uid, parent=parent)
    # System messages, and what the program put in: among it the instructions that the user wrote in the settings.
    return draft.say("system", text, at, uid=uid, parent=parent, kind="reminder", dated=False)


def _made_up_title(said: str) -> str:
    """The first words, in quotation marks: they were said, and nobody called the talk so."""
    words = " ".join(said.split())
    short = words if len(words) <= _TITLE_LENGTH else words[:_TITLE_LENGTH].rstrip() + "…"
    return f"“{short}”" if short else ""
