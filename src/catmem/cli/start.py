"""`mem start`: a chat in the terminal that knows what earlier sessions said."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import click

from catmem.capture.chat import ChatLog, new_chat
from catmem.capture.triggers import is_strong
from catmem.cli.answers import Answerer, answerer_of
from catmem.cli.output import Session, mem_command, two
from catmem.cli.work import only_worker, run_work
from catmem.domain.errors import CatmemError, LockBusy
from catmem.inject.worker import spawn_worker
from catmem.settings.config import create_config
from catmem.text.encoding import printable

# What earlier sessions left undone is distilled before the brief is made, but nobody waits longer for it.
START_SECONDS = 10.0


@mem_command("start", "Chat with memory in this terminal.", "在终端里开始带记忆的对话。")
@click.option("--project", help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"))
def command(session: Session, project: str | None) -> None:
    catmem = session.catmem
    create_config(catmem.paths)
    _do_waiting_work(session)
    cwd = os.getcwd()
    key = project if project is not None else catmem.project_of(cwd).key
    answerer = answerer_of(catmem, key)
    log = new_chat(catmem.history, key, cwd, catmem.clock)
    _greet(session, key, answerer)
    try:
        _converse(session, log, answerer)
    finally:
        log.end("exit")
        spawn_worker(str(catmem.paths.root))
        session.note(f"kept as {log.ref.key}", f"本次对话已保存为 {log.ref.key}")


def _do_waiting_work(session: Session) -> None:
    """The session that was just closed, or killed, is part of what this one should know."""
    with contextlib.suppress(LockBusy), only_worker(session.catmem, wait=START_SECONDS):
        run_work(session.catmem, everything=False, seconds=START_SECONDS)


def _greet(session: Session, project: str, answerer: Answerer) -> None:
    count = len(answerer.brief.items)
    session.say(f"catmem · {project} · {count} memories loaded", f"catmem · {project} · 已载入 {count} 条记忆")
    session.say(answerer.about_en, answerer.about_zh)
    session.say("/brief shows them, /exit or Ctrl-D ends", "/brief 查看这些记忆，/exit 或 Ctrl-D 结束")


def _converse(session: Session, log: ChatLog, answerer: Answerer) -> None:
    for line in _lines(session):
        text = line.strip()
        if text in ("/exit", "/quit"):
            return
        if text == "/brief":
            nothing_en, nothing_zh = "nothing is known yet", "目前还没有记忆"
            session.say(answerer.brief.text or nothing_en, answerer.brief.text or nothing_zh)
        elif text:
            _turn(session, log, answerer, text)


def _turn(session: Session, log: ChatLog, answerer: Answerer, text: str) -> None:
    """One turn: what the user said is on disk before an answer is looked for, the answer before the next prompt."""
    said = log.say("user", text)
    if said is None:
        session.say("(private: not kept)", "（私密内容，未保存）")
    pieces = []
    try:
        for piece in answerer.answer(text):
            pieces.append(piece)
            click.echo(printable(piece), nl=False)
        click.echo()
    except CatmemError as error:
        session.note(f"! {error.en}", f"! {error.zh}")
    except KeyboardInterrupt:
        session.say("\n(stopped)", "\n（已停止）")
    finally:
        if "".join(pieces).strip():
            log.say("assistant", "".join(pieces))
    if said is not None and is_strong(text):
        _remember_now(session, log)


def _remember_now(session: Session, log: ChatLog) -> None:
    """A strong sentence is distilled at once, and the user sees what became of it."""
    catmem = session.catmem
    before = {memory.id for memory in catmem.store.live()}
    with contextlib.suppress(LockBusy), only_worker(catmem, wait=1.0):
        run_work(catmem, everything=False, named=(log.ref,), seconds=START_SECONDS)
    for memory in catmem.store.live():
        if memory.id not in before:
            session.say(f"  remembered: {memory.now.text}", f"  已记住：{memory.now.text}")


def _lines(session: Session) -> Iterator[str]:
    """What the user types, line by line, until the end of input or Ctrl-C."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  line editing and history within this chat
    prompt = "› " if sys.stdin.isatty() else ""
    while True:
        try:
            yield input(prompt)
        except (EOFError, KeyboardInterrupt):
            click.echo()
            return
        except UnicodeDecodeError:
            session.note("that line was not UTF-8; please type it again", "这一行不是 UTF-8 编码，请重新输入")
