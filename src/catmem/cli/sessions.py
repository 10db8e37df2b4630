"""`mem sessions` and `mem sessions show KEY`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command, two
from catmem.domain.clock import local_day
from catmem.domain.message import Message
from catmem.sessions.branches import own_messages
from catmem.sessions.records import header_record, message_to_record

_NAMES = {
    "user": ("you", "你"),
    "assistant": ("assistant", "助手"),
    "tool": ("tool", "工具"),
    "system": ("system", "系统"),
}


class _ListByDefault(click.Group):
    """`mem sessions` without a verb lists."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = ["list", *args]
        return super().parse_args(context, args)


@click.group("sessions", cls=_ListByDefault, help=two("List sessions, or show one.", "列出会话，或查看其中一个。"))
def command() -> None:
    pass


@mem_command("list", "All sessions, newest first.", "全部会话，最新在前。")
@click.option("--project", help=two("Only this project.", "只要该项目。"))
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
@click.option("--project", help=two("Where two projects have the same key.", "两个项目有同名会话时指明项目。"))
def show(session: Session, key: str, project: str | None) -> None:
    history = session.catmem.history
    content = history.read(history.find(key, project))
    messages = own_messages(content)
    session.result({"session": header_record(content.header), "messages": [message_to_record(m) for m in messages]})
    if not session.as_json:
        for message in messages:
            _print(session, message)


def _print(session: Session, message: Message) -> None:
    en, zh = _NAMES[message.role]
    kind = f" ({message.kind})" if message.kind else ""
    for name, said in ((en, session.catmem.language != "zh"), (zh, session.catmem.language == "zh")):
        if said:
            text = f"#{message.id} {name}{kind}  {message.timestamp}\n{message.content}\n"
            session.say(text, text)


command.add_command(list_)
command.add_command(show)
