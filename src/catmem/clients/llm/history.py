"""Reads simonw/llm's `logs.db`. Its times are UTC and do not say so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

from catmem.clients.draft import Draft, Record, text_of, tool_call, usage_of
from catmem.clients.foreign_db import SIGNATURE, ForeignDatabase, foreign_database
from catmem.clients.llm import wire
from catmem.clients.llm.wire import Node
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, written_at
from catmem.domain.errors import BadInput, CatmemError

CLIENT = "llm"
_RESPONSE = (
    "id", "prompt", "system", "response", "conversation_id", "datetime_utc", "input_tokens", "output_tokens",
)  # fmt: skip
_TURN = ("id", "parent_message_hash", "tip_message_hash", "datetime_utc", "input_tokens", "output_tokens")


class LlmHistory(WholeFileHistory):
    """The History of llm. A talk of both generations is one session."""

    def knows(self, path: Path, head: bytes) -> bool:
        if path.suffix != ".db" or not head.startswith(SIGNATURE):
            return False
        try:
            with foreign_database(path) as database:
                return _is_log(database)
        except CatmemError:
            return path.name == "logs.db"

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with foreign_database(path) as database:
            if not _is_log(database):
                raise BadInput(
                    f"{path}: has none of the tables of llm. Name the file that `llm logs path` shows.",
                    f"{path}：其中没有 llm 的数据表。请指定 `llm logs path` 显示的文件。",
                )
            fallback = written_at(path)
            for key, name in _talks(database):
                draft = Draft(str(path), f"{CLIENT}:{key}", fallback, zone=UTC)
                draft.title = name
                _responses(draft, database, key)
                _turns(draft, database, key)
                yield draft.chunk()


READER = LlmHistory()


def _is_log(database: ForeignDatabase) -> bool:
    return {"prompt", "response", "datetime_utc"} <= database.columns("responses") or bool(
        database.columns("turns") and database.columns("threads")
    )


def _talks(database: ForeignDatabase) -> list[tuple[str, str]]:
    """The ids and names of the talks; a prompt without a conversation is one of its own."""
    names: dict[str, str] = {}
    for row in wire.selected(database, "responses", ("id", "conversation_id"), "ORDER BY datetime_utc, id"):
        names.setdefault(str(row["conversation_id"] or row["id"]), "")
    for row in wire.selected(database, "turns", ("thread_id",), "ORDER BY id"):
        names.setdefault(text_of(row["thread_id"]), "")
    for table in ("conversations", "threads"):
        for row in wire.selected(database, table, ("id", "name")):
            if str(row["id"]) in names:
                names[str(row["id"])] = text_of(row["name"])
    return list(names.items())


def _responses(draft: Draft, database: ForeignDatabase, key: str) -> None:
    system = ""
    where = "WHERE conversation_id = ? OR (conversation_id IS NULL AND id = ?) ORDER BY datetime_utc, id"
    for row in wire.selected(database, "responses", _RESPONSE, where, key, key):
        draft.read()
        own, at = str(row["id"]), row["datetime_utc"]
        told = text_of(row["system"])
        if told != system:
            draft.say("system", told, at, uid=f"{own}:system", kind="reminder")
            system = told
        for number, result in enumerate(_results(database, own)):
            uid, call_id = f"{own}:result:{number}", text_of(result["tool_call_id"])
            draft.say("tool", text_of(result["output"]), at, uid=uid, call_id=call_id)
        given = wire.fragments(database, "prompt_fragments", own) + wire.attachments(database, own)
        prompt = "\n\n".join(part for part in (text_of(row["prompt"]), *given) if part)
        draft.say("user", prompt, at, uid=f"{own}:prompt")
        wanted = ("tool_call_id", "name", "arguments")
        rows = wire.selected(database, "tool_calls", wanted, "WHERE response_id = ? ORDER BY id", own)
        calls = [tool_call(call["tool_call_id"], call["name"], call["arguments"]) for call in rows]
        usage = usage_of(row, wire.USAGE)
        draft.say("assistant", text_of(row["response"]), at, uid=f"{own}:response", calls=calls, usage=usage)


def _results(database: ForeignDatabase, response: str) -> Iterator[Record]:
    wanted = ("tool_call_id", "output")
    return wire.selected(database, "tool_results", wanted, "WHERE response_id = ? ORDER BY id", response)


def _turns(draft: Draft, database: ForeignDatabase, key: str) -> None:
    """The chain of each turn; what a fork has in common with the thread that it came from is left to that one."""
    known = _inherited(database, key)
    for turn in wire.selected(database, "turns", _TURN, "WHERE thread_id = ? ORDER BY id", key):
        draft.read()
        usage = usage_of(turn, wire.USAGE)
        nodes = wire.chain(database, text_of(turn["tip_message_hash"]), known)
        for node in nodes:
            _node(draft, database, node, turn["datetime_utc"], usage if node is nodes[-1] else None)


def _inherited(database: ForeignDatabase, key: str) -> set[str]:
    known: set[str] = set()
    rows = wire.selected(database, "threads", ("forked_from",), "WHERE id = ?", key)
    origin = next((text_of(row["forked_from"]) for row in rows), "")
    if origin:
        for turn in wire.selected(database, "turns", _TURN, "WHERE thread_id = ? ORDER BY id", origin):
            wire.chain(database, text_of(turn["tip_message_hash"]), known)
    return known


def _node(draft: Draft, database: ForeignDatabase, node: Node, at: object, usage: dict[str, int] | None) -> None:
    texts, calls = [], []
    for number, part in enumerate(node.parts):
        kind, payload = text_of(part["type"]), wire.json_of(part["payload"])
        if kind == "tool_call":
            call_id = payload.get("tool_call_id") or payload.get("id")
            calls.append(tool_call(call_id, part["tool_name"], payload.get("arguments")))
        elif kind == "tool_result":
            call_id = text_of(payload.get("tool_call_id")) or text_of(payload.get("id"))
            output = wire.part_text(database, part) or text_of(payload.get("output"))
            draft.say("tool", output, at, uid=f"{node.hash}:{number}", call_id=call_id)
        elif kind == "attachment":
            texts.append("[attachment]")
        elif kind == "text":
            texts.append(wire.part_text(database, part))
    text = "\n\n".join(filter(None, texts))
    if node.role in ("user", "assistant"):
        draft.say("user" if node.role == "user" else "assistant", text, at, uid=node.hash, calls=calls, usage=usage)
    else:
        draft.say("system", text, at, uid=node.hash, kind="reminder")
