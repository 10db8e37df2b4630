"""What the tests of sessions share: a place, messages of both languages, a history."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.names import Place, place
from catmem.sessions.records import message_record
from catmem.settings.paths import Paths

KEY = "claude-code:6f1c2a"
REF = SessionRef("webshop", KEY)
LISTING: Any = {"project": "webshop", "cwd": "/home/u/webshop", "client": "claude-code"}
TEXTS = ("We deploy with docker 部署 on Fridays.", "好的，记住了 🐈", "以后都用 pnpm", "Noted: pnpm from now on.")


def place_in(root: Path, key: str = KEY) -> Place:
    return place(str(root), "webshop", key)


def at(number: int) -> str:
    return f"2026-01-05T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def record(number: int, content: str | None = None, **fields: Any) -> dict[str, Any]:
    """The record of message `number`: a user's if it is odd, else the assistant's."""
    text = TEXTS[number % len(TEXTS)] if content is None else content
    return message_record("user" if number % 2 else "assistant", text, at(number), uid=f"u{number}", **fields)


def message(number: int, content: str | None = None, **fields: Any) -> Message:
    text = TEXTS[number % len(TEXTS)] if content is None else content
    return Message("user" if number % 2 else "assistant", text, at(number), f"u{number}", **fields)


def history_in(root: Path, **settings: Any) -> History:
    given: dict[str, Any] = {"durability": "none", "redact": lambda text, source: text, **settings}
    return History(Paths(root), **given)
