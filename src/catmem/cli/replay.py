"""`mem replay KEY`: a conversation as it was"""

from __future__ import annotations

from collections.abc import Sequence

import click

from catmem.cli.output import Session, counted, local_minute, mem_command, two
from catmem.cli.words import word
from catmem.domain.clock import parse_instant
from catmem.domain.errors import BadInput
from catmem.domain.message import Message
from catmem.sessions.branches import live_messages, own_messages
from catmem.sessions.records import header_record, message_to_record

# Of a call and of what it gave back so much is shown; --full shows all of it.
_CALL_LENGTH = 100
_RESULT_LINES = 3
_RESULT_LENGTH = 200


@mem_command("replay", "Print a conversation as it was.", "按原样重放一次对话。")
@click.argument("key")
@click.option(
    "--project", metavar="P", help=two("Where two projects have the same key.", "两个项目有同名会话时指明项目。")
)
@click.option(
    "--from",
    "first",
    metavar="ID|TIME",
    help=two("From this message, or this day or time, on.", "从这条消息、这一天或这一刻开始。"),
)
@click.option(
    "--to", "last", metavar="ID|TIME", help=two("Up to this message, day or time.", "到这条消息、这一天或这一刻为止。")
)
@click.option("--full", is_flag=True, help=two("Tool calls and results at full length.", "完整显示工具调用及其结果。"))
@click.option(
    "--all", "with_dead", is_flag=True, help=two("Also what was taken back by a rewind.", "也显示回退时撤销的部分。")
)
def command(
    session: Session,
    key: str,
    project: str | None,
    first: str | None,
    last: str | None,
    full: bool,
    with_dead: bool,
) -> None:
    history = session.catmem.history
    ref = history.find(key, project)
    content = history.read(ref)
    messages = own_messages(content) if with_dead else live_messages(content, strays=True)
    shown = within(messages, first, last)
    session.result({"session": header_record(content.header), "messages": [message_to_record(m) for m in shown]})
    if session.as_json:
        return
    title = content.header.title or content.header.preview
    session.say(f"{content.header.key}  {title}", f"{content.header.key}  {title}")
    for message in shown:
        _print(session, message, full)
    left = len(messages) - len(shown)
    if left:
        session.note(
            f"{counted(left, 'message')} before and after were left out", f"另有 {left} 条消息在此范围之外，未显示"
        )


def within(messages: Sequence[Message], first: str | None, last: str | None) -> list[Message]:
    """The messages between two bounds, each an id or a time, both included. Raises BadInput for what is neither."""
    return [m for m in messages if not _is_before(m, first) and not _is_after(m, last)]


def _is_before(message: Message, bound: str | None) -> bool:
    if bound is None:
        return False
    if _is_id(bound):
        return message.id < int(bound.lstrip("#"))
    return bool(message.timestamp) and message.timestamp < _stamp(bound, end=False)


def _is_after(message: Message, bound: str | None) -> bool:
    if bound is None:
        return False
    if _is_id(bound):
        return message.id > int(bound.lstrip("#"))
    return bool(message.timestamp) and message.timestamp > _stamp(bound, end=True)


def _is_id(bound: str) -> bool:
    digits = bound.removeprefix("#")
    # A longer number is a time in seconds or milliseconds.
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _stamp(bound: str, *, end: bool) -> str:
    """A day or an instant of the user's zone; a day, and a minute without seconds, are meant to their end."""
    completed = bound
    if end and len(bound) == 10:
        completed = f"{bound}T23:59:59.999"
    elif end and len(bound) == 16:
        completed = f"{bound}:59.999"
    instant = parse_instant(completed)
    if instant is None:
        raise BadInput(
            f"{bound!r} is neither a message's number nor a time; write 12 or 2026-05-31",
            f"{bound!r} 既不是消息编号也不是时间；请写成 12 或 2026-05-31",
        )
    return instant[0]


def _print(session: Session, message: Message, full: bool) -> None:
    when = local_minute(message.timestamp) if message.timestamp else "?"
    kind = f" ({message.kind})" if message.kind else ""
    who_en = "you" if message.role == "user" else message.role
    who_zh = "你" if message.role == "user" else word(message.role, "zh")
    session.say("", "")
    session.say(f"── {who_en}{kind}  {when}  #{message.id}", f"── {who_zh}{kind}  {when}  #{message.id}")
    text = message.content.strip("\n")
    if message.role in ("tool", "system") and not full:
        text = shortened(text)
    if text.strip():
        session.say(text, text)
    elif not message.tool_calls:
        session.say("(removed)", "（已删去）")
    for call in message.tool_calls:
        arguments = call.arguments if full else _one_line(call.arguments)
        session.say(f"→ {call.name}({arguments})", f"→ {call.name}({arguments})")


def shortened(text: str) -> str:
    """The beginning of what a tool gave back: whole lines, and `…` where something is left out."""
    lines = text.split("\n")
    kept = "\n".join(lines[:_RESULT_LINES])
    if len(kept) > _RESULT_LENGTH:
        return kept[:_RESULT_LENGTH].rstrip() + " …"
    return kept + ("\n…" if len(lines) > _RESULT_LINES else "")


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _CALL_LENGTH else flat[:_CALL_LENGTH].rstrip() + " …"
