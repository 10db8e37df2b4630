"""Cursor's database `state.vscdb`: keys and JSON values; a talk is a composer with bubbles, or a tab of older versions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.cursor import wire
from catmem.clients.draft import Draft, Record, record_of, records_in, text_of, tool_call
from catmem.clients.foreign_db import ForeignDatabase, foreign_database
from catmem.clients.lines import records_of
from catmem.clients.port import TranscriptChunk
from catmem.clients.uris import folder_of
from catmem.clients.whole_file import written_at
from catmem.domain.clock import parse_instant
from catmem.domain.errors import CatmemError

_COMPOSERS = "workbench.panel.aichat.view.aichat.chatdata", "composer.composerData"


def talks(path: Path, key_of: str) -> Iterator[TranscriptChunk]:
    """The talks of a database, one after the other; `key_of` begins their keys."""
    fallback = written_at(path)
    with foreign_database(path) as database:
        tables = {str(row[0]) for row in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "cursorDiskKV" in tables:
            folders = _workspaces(path)
            for name, composer in _values(database, "cursorDiskKV", "composerData:"):
                own = name.partition(":")[2]
                yield _composer(str(path), database, own, composer, folders.get(own, ""), key_of, fallback)
        if "ItemTable" in tables:
            for _, chats in _values(database, "ItemTable", _COMPOSERS[0]):
                for tab in records_in(record_of(chats).get("tabs")):
                    yield _tab(str(path), tab, _folder_beside(path), key_of, fallback)


def _values(database: ForeignDatabase, table: str, prefix: str) -> Iterator[tuple[str, object]]:
    """Keys that begin so, with their values; None where a value is no JSON."""
    query = f"SELECT key, value FROM {table} WHERE key >= ? AND key < ? AND value IS NOT NULL ORDER BY rowid"
    for name, value in database.rows(query, (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1))):
        raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        values, reason = records_of(raw)
        yield str(name), values[0] if values and not reason else None


def _composer(
    file: str, database: ForeignDatabase, own: str, value: object, folder: str, key_of: str, fallback: str
) -> TranscriptChunk:
    composer = record_of(value)
    began = parse_instant(composer.get("createdAt"))
    draft = Draft(file, f"{key_of}:{own}", began[0] if began else fallback)
    if value is None:
        draft.fault(reasons.not_json(f"composerData:{own}"))
        return draft.chunk()
    draft.read()
    draft.title, draft.cwd = text_of(composer.get("name")), folder
    bubbles: dict[str, object] = {}
    for name, bubble in _values(database, "cursorDiskKV", f"bubbleId:{own}:"):
        bubbles[name.rpartition(":")[2]] = bubble
    headers = records_in(composer.get("fullConversationHeadersOnly"))
    order = [text_of(header.get("bubbleId")) for header in headers] or list(bubbles)
    for bubble_id in order:
        if bubble_id in bubbles and bubbles[bubble_id] is None:
            draft.fault(reasons.not_json(f"bubbleId:{own}:{bubble_id}"))
        _bubble(draft, record_of(bubbles.get(bubble_id)))
    for bubble in records_in(composer.get("conversation")):  # older versions
        _bubble(draft, bubble)
    return draft.chunk()


def _bubble(draft: Draft, bubble: Record) -> None:
    if not bubble:
        return
    draft.cwd = draft.cwd or wire.bubble_folder(bubble)
    text, at, kind = wire.bubble_text(bubble), wire.bubble_time(bubble), bubble.get("type")
    if kind in (wire.USER, "user"):
        said, added = wire.typed(text)
        draft.say("user", said.strip(), at)
        draft.say("system", added, at, kind="reminder")
        return
    tool = record_of(bubble.get("toolFormerData"))
    call_id, name = text_of(tool.get("toolCallId")), text_of(tool.get("name"))
    calls = [tool_call(call_id, name, tool.get("rawArgs") or tool.get("params"))] if name else []
    if kind in (wire.ASSISTANT, "ai", "assistant"):
        draft.say("assistant", text.strip(), at, calls=calls)
    else:
        draft.say("tool", text, at)
    draft.say("tool", text_of(tool.get("result")), at, call_id=call_id, dated=False)


def _tab(file: str, tab: Record, folder: str, key_of: str, fallback: str) -> TranscriptChunk:
    began = parse_instant(tab.get("lastSendTime"))
    draft = Draft(file, f"{key_of}:{text_of(tab.get('tabId'))}", began[0] if began else fallback)
    draft.read()
    draft.title, draft.cwd = text_of(tab.get("chatTitle")), folder
    for bubble in records_in(tab.get("bubbles")):
        _bubble(draft, bubble)
    return draft.chunk()


def _workspaces(path: Path) -> dict[str, str]:
    """Composer -> its folder, as the databases of the workspaces beside the global one tell."""
    found: dict[str, str] = {}
    for beside in sorted(path.parent.parent.glob("workspaceStorage/*/state.vscdb")):
        folder = _folder_beside(beside)
        if not folder:
            continue
        try:
            with foreign_database(beside) as database:
                for _, value in _values(database, "ItemTable", _COMPOSERS[1]):
                    for composer in records_in(record_of(value).get("allComposers")):
                        found.setdefault(text_of(composer.get("composerId")), folder)
        except (CatmemError, OSError):
            continue  # only the folder is missing then
    return found


def _folder_beside(path: Path) -> str:
    """The folder of a workspace, from `workspace.json` beside its database."""
    try:
        raw = (path.parent / "workspace.json").read_bytes()
    except OSError:
        return ""
    values, _ = records_of(raw)
    return folder_of(text_of(record_of(values[0]).get("folder"))) if values else ""
