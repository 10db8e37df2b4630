"""Earlier sessions of a project: listing them, choosing one to go on with, and what was said in it."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from collections.abc import Sequence

from catmem.capture.chat import CLIENT
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.output import Session, counted, local_minute
from catmem.domain.errors import BadInput, CatmemError, NotFound
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionHeader, SessionRef
from catmem.llm.port import Turn
from catmem.sessions.history import History
from catmem.text.cut import preview
from catmem.wiring import Catmem

# As many as fit a screen.
MOST_LISTED = 15
# Of a resumed talk so many messages are shown, a line each; `mem replay` shows all of it.
MOST_SHOWN = 6
# What was typed in so many earlier chats can be had with the arrow keys, and of it the newest lines.
CHATS_REMEMBERED = 3
LINES_REMEMBERED = 100


def earlier_sessions(history: History, project: str, but: str = "") -> list[SessionHeader]:
    """The sessions of a project in which somebody spoke, newest first, without the one with the key `but`."""
    headers = [header for header in history.headers(project) if header.key != but and header.count]
    return sorted(headers, key=lambda header: header.updated_at, reverse=True)


def is_chat(header: SessionHeader) -> bool:
    return header.key.startswith(f"{CLIENT}:")


def typed_before(session: Session, project: str, pure: bool) -> list[str]:
    """What the user said in the last chats of a project, oldest first, as the sessions have it: without secrets.

    Nothing in pure mode; and nothing from a session that cannot be read, which is no reason not to begin another.
    """
    if pure:
        return []
    history, said = session.catmem.history, []
    with contextlib.suppress(CatmemError):
        chats = list(itertools.islice(filter(is_chat, earlier_sessions(history, project)), CHATS_REMEMBERED))
        for chat in reversed(chats):
            said += [message.content for message in history.messages(chat.ref) if message.role == "user"]
    return [text for text in said if text.strip()][-LINES_REMEMBERED:]


def list_sessions(session: Session, headers: Sequence[SessionHeader]) -> None:
    """A line each; those that can be resumed have a number, the newest 1."""
    numbers = itertools.count(1)
    for header in headers[:MOST_LISTED]:
        number = f"{next(numbers):>3}" if is_chat(header) else "   "
        line = f"{number}  {local_minute(header.updated_at)}  {header.count:>4}  {header.key}  "
        line += preview(header.title or header.preview, _room(len(line)))
        session.say(line, line)
    if len(headers) > MOST_LISTED:
        left = len(headers) - MOST_LISTED
        session.say(f"     and {left} more: `mem sessions`", f"     另有 {left} 个：`mem sessions`")


def choose(session: Session, keyboard: Keyboard, project: str, wanted: str, but: str = "") -> SessionRef:
    """The chat that `wanted` names by its key, a part of it, or its number in the list.

    Without a name the user is asked; who cannot be asked, or presses Enter, means the newest. Raises NotFound, BadInput.
    """
    catmem = session.catmem
    # By number only what `list_sessions` shows has one.
    chats = [header for header in earlier_sessions(catmem.history, project, but)[:MOST_LISTED] if is_chat(header)]
    if not wanted and len(chats) > 1 and keyboard.is_terminal:
        list_sessions(session, chats)
        question = "继续哪一个？[1] " if catmem.language == "zh" else "Which one? [1] "
        wanted = keyboard.answer(question)
    if (wanted and not wanted.isdigit()) or len(wanted) > 2:
        return _named(catmem, wanted, but)
    if not chats:
        raise nothing_to_resume()
    place = int(wanted or "1")
    if not 1 <= place <= len(chats):
        raise BadInput(f"there is no number {place}; /history lists them", f"没有第 {place} 个；/history 可查看列表")
    return chats[place - 1].ref


def newest_chat(history: History, project: str) -> SessionRef:
    """Raises NotFound."""
    for header in earlier_sessions(history, project):
        if is_chat(header):
            return header.ref
    raise nothing_to_resume()


def nothing_to_resume() -> NotFound:
    return NotFound(
        "there is no earlier chat of this project; `mem start` begins one",
        "这个项目还没有可以继续的对话；用 `mem start` 开始",
    )


def _named(catmem: Catmem, wanted: str, but: str) -> SessionRef:
    ref = catmem.history.find(wanted)
    if ref.key == but:
        raise BadInput("that is this very chat", "这就是当前的对话")
    if not ref.key.startswith(f"{CLIENT}:"):
        raise BadInput(
            f"{ref.key} was held elsewhere and can only be gone on with there; `mem replay {ref.key}` shows it",
            f"{ref.key} 不是在这里进行的，只能在原处继续；用 `mem replay {ref.key}` 查看",
        )
    return ref


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """What was said, as a model is told it."""
    said = filter(is_said, messages)
    return [Turn("user" if message.role == "user" else "assistant", message.content) for message in said]


def show_resumed(session: Session, ref: SessionRef, messages: Sequence[Message]) -> None:
    """Tells the user briefly what was said."""
    said = [message for message in messages if is_said(message)]
    since = local_minute(said[0].timestamp) if said and said[0].timestamp else "?"
    session.say(
        f"Going on with {ref.key}: {counted(len(said), 'message')} since {since}.",
        f"继续 {ref.key}：自 {since} 起共 {len(said)} 条消息。",
    )
    if len(said) > MOST_SHOWN:
        session.say(f"  … {len(said) - MOST_SHOWN} earlier", f"  ……此前 {len(said) - MOST_SHOWN} 条")
    for message in said[-MOST_SHOWN:]:
        line = f"  {'›' if message.role == 'user' else ' '} {preview(message.content, _room(4))}"
        session.say(line, line)


def _room(used: int) -> int:
    """How many columns of the terminal's line are left; a few at least."""
    return max(20, shutil.get_terminal_size().columns - used)
