"""`mem sessions`, `mem sessions show KEY` and `mem sessions keep KEY`"""

from __future__ import annotations

from pathlib import Path

import click

from catmem.capture.importing import Importer
from catmem.cli.output import Session, counted, local_minute, mem_command, mem_group
from catmem.cli.usage import Group, two
from catmem.cli.words import word
from catmem.domain.clock import local_day
from catmem.domain.errors import NotFound
from catmem.domain.message import Message
from catmem.recall.turns import turns_around
from catmem.sessions import pure
from catmem.sessions.branches import own_messages
from catmem.sessions.records import header_record, message_to_record


class _ListByDefault(Group):
    """`mem sessions` without a verb lists."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        words = [word for word in _without_dir(args) if word in self.commands or word in ("-h", "--help")]
        return super().parse_args(context, args if words[:1] else ["list", *args])


def _without_dir(args: list[str]) -> list[str]:
    """The value of `--dir` may be called like a verb."""
    return [word for before, word in zip(["", *args], args, strict=False) if before != "--dir"]


command = mem_group("sessions", _ListByDefault, "List sessions, or show one.", "列出会话，或查看其中一个。")


@mem_command("list", "All sessions, newest first.", "全部会话，最新在前。")
@click.option("--project", metavar="P", help=two("Only this project.", "只要该项目。"))
def list_(session: Session, project: str | None) -> None:
    headers = sorted(session.catmem.history.headers(project), key=lambda h: h.updated_at, reverse=True)
    session.result({"sessions": [header_record(header) for header in headers]})
    if session.as_json:
        return
    if not headers:
        session.say("no session has been captured yet", "还没有采集到会话")
    for header in headers:
        day = local_day(header.updated_at) if header.updated_at else "?"
        line = f"{day}  {header.count:>5}  {header.ref.project}  {header.key}  {header.title or header.preview}"
        session.say(line, line)


@mem_command("show", "The messages of one session.", "一个会话的全部消息。")
@click.argument("key")
@click.option(
    "--project", metavar="P", help=two("Where two projects have the same key.", "两个项目有同名会话时指明项目。")
)
@click.option(
    "--around",
    type=click.IntRange(min=1),
    metavar="N",
    help=two("Only the turn of message N and the turns beside it.", "只看第 N 条消息所在的一轮及其前后各一轮。"),
)
def show(session: Session, key: str, project: str | None, around: int | None) -> None:
    history = session.catmem.history
    if not key:
        raise NotFound("say which session; `mem sessions` lists them", "请指明哪个会话；用 `mem sessions` 查看")
    content = history.read(history.find(key, project))
    messages = own_messages(content)
    if around is not None:
        messages = turns_around(messages, around)
        if not messages:
            raise NotFound(f"{key} has no message {around}", f"{key} 中没有第 {around} 条消息")
    session.result({"session": header_record(content.header), "messages": [message_to_record(m) for m in messages]})
    if not session.as_json:
        for message in messages:
            _print(session, message)


def _print(session: Session, message: Message) -> None:
    when = local_minute(message.timestamp) if message.timestamp else "?"
    kind = f" ({message.kind})" if message.kind else ""
    who_en = "you" if message.role == "user" else message.role
    who_zh = "你" if message.role == "user" else word(message.role, "zh")
    session.say(f"#{message.id} {who_en}{kind}  {when}", f"#{message.id} {who_zh}{kind}  {when}")
    calls = ", ".join(call.name for call in message.tool_calls)
    if message.content.strip():
        session.say(message.content.strip("\n"), message.content.strip("\n"))
    elif not calls:
        session.say("(removed)", "（已删去）")
    if calls:
        session.say(f"→ {calls}", f"→ {calls}")
    session.say("", "")


@mem_command("keep", "Keep a session that was held in pure mode.", "保留一个以纯净模式进行的会话。")
@click.argument("key")
def keep(session: Session, key: str) -> None:
    """Takes the mark away, and the session in, if its assistant wrote it somewhere."""
    catmem = session.catmem
    mark = pure.unset_pure(str(catmem.paths.root), key)
    if mark is None:
        raise NotFound(f"no session {key} was held in pure mode", f"没有以纯净模式进行的会话 {key}")
    transcript = Path(mark["transcript"])
    new = 0
    if mark["transcript"] and transcript.exists():
        importer = Importer(catmem.history, project_of=lambda cwd: catmem.project_of(cwd).key)
        new = importer.run([transcript], mark["client"] or "auto").messages_new
        catmem.history.write_index()
        catmem.index.catch_up(catmem.store, catmem.history)
    session.result({"session": key, "messages_new": new})
    if not session.as_json:
        session.say(f"{key} is kept: {counted(new, 'message')}", f"已保留 {key}：{new} 条消息")


command.add_command(list_)
command.add_command(show)
command.add_command(keep)
