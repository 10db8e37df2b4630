"""The tools `list_sessions` and `read_session`: the kept conversations, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from catmem.domain.message import Message
from catmem.domain.session import SessionHeader
from catmem.domain.words import word
from catmem.mcp.port import Asked
from catmem.mcp.quoting import LONGEST_ANSWER, as_it_was, fenced, on_one_line
from catmem.mcp.scope import session_within
from catmem.mcp.telling import tell
from catmem.text.cut import cut_bytes

# Bytes of a title, and of what a tool was called with.
_LONGEST_TITLE = 160
_LONGEST_CALL = 300


def list_sessions(asked: Asked) -> str:
    offset, limit = asked.arguments["offset"], asked.arguments["limit"]
    headers = list(asked.memory.history.headers(asked.caller.scope))
    headers.sort(key=lambda header: header.updated_at, reverse=True)
    page = headers[offset : offset + limit]
    if not page:
        return asked.said(f"{len(headers)} sessions in all; none here.", f"共 {len(headers)} 个会话；此处没有。")
    left = len(headers) - offset - len(page)
    more = (
        asked.said(f"{left} more: offset {offset + limit}", f"另有 {left} 个：offset {offset + limit}") if left else ""
    )
    body = "\n".join(_line(asked, header) for header in page)
    tell(asked, [(header.key, header.key) for header in page], query="list_sessions")
    return "\n".join(part for part in (fenced(body, asked.memory.language), more) if part)


def _line(asked: Asked, header: SessionHeader) -> str:
    home = f" · {on_one_line(header.ref.project)}" if asked.caller.scope is None else ""
    present = asked.said(" · this session", " · 本次会话") if header.key == asked.caller.session else ""
    count = asked.said(f"{header.count} messages", f"{header.count} 条消息")
    title = on_one_line(header.title or header.preview, _LONGEST_TITLE)
    return f"- {on_one_line(header.key)}{home} · {_minute(header.updated_at)} · {count}{present}\n  {title}"


class _Shown(NamedTuple):
    """The lines of a message, how much of it they are, and whether that was all."""

    text: str
    end: int
    whole: bool


def read_session(asked: Asked) -> str:
    """Raises NotFound and BadInput."""
    memory, wanted = asked.memory, asked.arguments
    ref = session_within(asked, wanted["session"])
    talk = memory.history.talk(ref)
    body, shown, following = _page(
        asked, (m for m in talk if m.id >= wanted["first"] and _is_shown(m, wanted["tools"]))
    )
    if not body:
        return asked.said(
            f"{ref.key} has no message from number {wanted['first']} on.",
            f"{ref.key} 中没有编号 {wanted['first']} 及以后的消息。",
        )
    # Not the words: they stand in the session, and are to be forgotten there alone.
    tell(asked, [(f"{ref.key}#{id}", f"#{id}") for id in shown], query=f"read_session {ref.key}")
    more = asked.said("That was the end of it.", "会话到此结束。")
    if following is not None:
        id, offset = following
        go_on = f"first {id}" + (f", offset {offset}" if offset else "")
        more = asked.said(f"It goes on: read_session with {go_on}.", f"未完：用 {go_on} 继续 read_session。")
    return f"{fenced(body, memory.language)}\n{more}"


def _is_shown(message: Message, with_tools: bool) -> bool:
    """What was said; with tools also what these, and the programs around the talk, put in."""
    return with_tools or (message.role in ("user", "assistant") and bool(message.content.strip() or message.tool_calls))


def _page(asked: Asked, messages: Iterable[Message]) -> tuple[str, list[int], tuple[int, int] | None]:
    """As many messages as an answer holds, their numbers, and where the next page begins: (number, characters of it)."""
    parts: list[str] = []
    shown: list[int] = []
    room = LONGEST_ANSWER
    for message in messages:
        offset = asked.arguments["offset"] if message.id == asked.arguments["first"] else 0
        head = _head(asked, message)
        room -= len(head.encode("utf-8", "replace")) + 1
        # A message that would be cut short begins the next page; one that is longer than a page is cut.
        if parts and len(message.content.encode("utf-8", "replace")) > room:
            return "\n\n".join(parts), shown, (message.id, 0)
        piece = _content(message, offset, max(room, LONGEST_ANSWER // 8))
        parts.append(f"{head}\n{piece.text}".rstrip())
        shown.append(message.id)
        if not piece.whole:
            return "\n\n".join(parts), shown, (message.id, piece.end)
        room -= len(piece.text.encode("utf-8", "replace"))
    return "\n\n".join(parts), shown, None


def _content(message: Message, offset: int, room: int) -> _Shown:
    rest = message.content[offset:]
    piece = cut_bytes(rest, room)
    whole = len(piece) == len(rest)
    calls = "\n".join(_calls(message)) if whole else ""
    return _Shown("\n".join(part for part in (as_it_was(piece), calls) if part), offset + len(piece), whole)


def _calls(message: Message) -> Iterator[str]:
    for call in message.tool_calls:
        yield f"→ {on_one_line(call.name)}({on_one_line(call.arguments, _LONGEST_CALL)})"


def _head(asked: Asked, message: Message) -> str:
    language = asked.memory.language
    kind = f" ({message.kind})" if message.kind else ""
    return f"#{message.id} {word(message.role, language)}{kind} · {_minute(message.timestamp)}"


def _minute(stamp: str) -> str:
    """A stamp in the user's own zone, to the minute."""
    if not stamp:
        return "?"
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")
