"""`mem start`: a chat in the terminal that knows what earlier sessions said.

Ctrl-C stops an answer; at the prompt it ends the chat like Ctrl-D and /exit, with exit code 0: nothing was cut short.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

import click

from catmem.capture.chat import ChatLog, end_abandoned_chats, new_chat
from catmem.cli.chat.answers import MemoryOfChat, ModelAnswerer
from catmem.cli.chat.conversation import Conversation
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.output import Session, mem_command, two
from catmem.cli.work import only_worker, run_work
from catmem.domain.errors import LockBusy, ModelFailed
from catmem.inject.worker import spawn_worker
from catmem.llm.port import Failure
from catmem.llm.providers import name_of, place_of
from catmem.settings.config import create_config

# What earlier sessions left undone is distilled before the brief is made, but nobody waits longer for it.
START_SECONDS = 10.0
# After this long the user is told what is waited for.
QUIET_SECONDS = 0.7


@mem_command(
    "start",
    "Chat with memory in this terminal.\n\nCtrl-C stops an answer; at the prompt it ends the chat, as Ctrl-D and /exit "
    "do (exit code 0). Lines from a pipe are messages, one each.",
    "在终端里开始带记忆的对话。\n\nCtrl-C 停止当前回答；在提示符处按下则结束对话，与 Ctrl-D、/exit 相同（退出码 0）。"
    "也可从管道输入，每行一条消息。",
)
@click.option("--project", help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"))
def command(session: Session, project: str | None) -> None:
    catmem = session.catmem
    create_config(catmem.paths)
    cwd = os.getcwd()
    key = project if project is not None else catmem.project_of(cwd).key
    keyboard = Keyboard()
    _do_waiting_work(session)
    log = new_chat(catmem.history, catmem.paths, key, cwd, catmem.clock)
    reason = "closed"
    try:
        with _ended_by_signals():
            memory = MemoryOfChat(catmem, log.ref)
            answerer = _answerer(session, memory)
            loaded = len(memory.brief.items)
            _greet(session, key, loaded, answerer)
            reason = Conversation(session, log, memory, answerer, keyboard).run()
    finally:
        _close(session, log, reason)
    session.result({"session": log.ref.key, "project": key, "memories_loaded": loaded})


def _do_waiting_work(session: Session) -> None:
    """The session that was just closed, or killed, is part of what this one should know."""
    catmem = session.catmem
    end_abandoned_chats(catmem.history, catmem.paths, catmem.clock)
    for wait in (QUIET_SECONDS, START_SECONDS):
        try:
            with only_worker(catmem, wait=wait):
                run_work(catmem, everything=False, seconds=START_SECONDS)
            return
        except LockBusy:
            if wait == QUIET_SECONDS:
                session.note("A moment: earlier sessions are being distilled …", "请稍候：正在提炼此前的会话……")


def _answerer(session: Session, memory: MemoryOfChat) -> ModelAnswerer | None:
    """None without a model; if the configured ones cannot be used at all, the user is told why."""

    def tell(failed: str, following: str, why: Failure) -> None:
        session.note(f"! {failed}: {why.en} (asking {following})", f"! {failed}：{why.zh}（改问 {following}）")

    try:
        model = session.catmem.model(tell)
    except ModelFailed as failure:
        session.note(f"! {failure.en}", f"! {failure.zh}")
        return None
    return None if model is None else ModelAnswerer(model, memory, session.catmem.language)


def _greet(session: Session, project: str, count: int, answerer: ModelAnswerer | None) -> None:
    memories = "1 memory" if count == 1 else f"{count} memories"
    session.say(f"catmem · {project} · {memories} loaded", f"catmem · {project} · 已载入 {count} 条记忆")
    if answerer is None:
        session.say(
            "No model answers here, only the memory. What you say is kept, and what is worth knowing remembered.",
            "这里没有模型，只由记忆作答。你说的话都会保存，值得记住的会被记住。",
        )
    else:
        first, *others = [f"{name_of(row)} ({row['model']}, {place_of(row)})" for row in session.catmem.settings.models]
        then_en = f"; if it cannot, {', '.join(others)}" if others else ""
        then_zh = f"；备用：{'、'.join(others)}" if others else ""
        session.say(f"{first} answers{then_en}.", f"由 {first} 作答{then_zh}。")
    session.say("/help lists the commands, Ctrl-D ends.", "/help 查看命令，Ctrl-D 结束。")


def _close(session: Session, log: ChatLog, reason: str) -> None:
    """A second Ctrl-C must not stop this halfway; and a terminal that was closed can be told nothing."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        kept = log.end(reason)
        if kept:
            spawn_worker(str(session.catmem.paths.root))
        with contextlib.suppress(OSError):
            if kept:
                session.note(
                    f"Kept as {log.ref.key}; `mem sessions show {log.ref.key}` shows it.",
                    f"本次对话已保存；用 `mem sessions show {log.ref.key}` 查看。",
                )
            else:
                session.note("Nothing was said, so nothing was kept.", "没有说任何话，因此没有保存。")
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """A closed terminal or a polite kill ends the chat as /exit does, so that it is distilled without delay."""

    def leave(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    names = [name for name in ("SIGHUP", "SIGTERM") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), leave) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
