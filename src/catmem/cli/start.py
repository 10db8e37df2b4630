"""`mem start`: a chat in the terminal that knows what earlier sessions said.

Ctrl-C stops an answer; at the prompt it ends the chat like Ctrl-D and /exit, with exit code 0: nothing was cut short.
"""

from __future__ import annotations

import os

import click

from catmem.capture.chat import end_abandoned_chats
from catmem.cli.chat.answers import ModelAnswerer
from catmem.cli.chat.commands import ROWS
from catmem.cli.chat.conversation import Conversation
from catmem.cli.chat.earlier import choose, newest_chat, show_resumed, typed_before
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.chat.signals import ended_by_signals
from catmem.cli.chat.talk import Talk
from catmem.cli.output import Session, mem_command, two
from catmem.cli.under_proxy import run_under_proxy
from catmem.cli.work import only_worker, run_work
from catmem.domain.errors import LockBusy, ModelFailed
from catmem.domain.session import SessionRef
from catmem.llm.port import Failure
from catmem.llm.providers import label_of
from catmem.sessions.pure import is_pure_environment
from catmem.settings.config import create_config

# What earlier sessions left undone is distilled before the brief is made, but nobody waits longer for it.
START_SECONDS = 10.0
# After this long the user is told what is waited for.
QUIET_SECONDS = 0.7


@mem_command(
    "start",
    "Chat with memory in this terminal.\n\nCtrl-C stops an answer; at the prompt it ends the chat, as Ctrl-D and /exit "
    "do (exit code 0). Lines from a pipe are messages, one each; one that ends in a backslash goes on with the next.\n\n"
    "`mem start -- PROGRAM …` runs an assistant under a proxy of its own that records its turns and adds the brief; it "
    "ends with the program's exit code.",
    "在终端里开始带记忆的对话。\n\nCtrl-C 停止当前回答；在提示符处按下则结束对话，与 Ctrl-D、/exit 相同（退出码 0）。"
    "也可从管道输入，每行一条消息；以反斜杠结尾的行与下一行相连。\n\n"
    "`mem start -- 程序 …` 在专属代理下运行一个助手，记录对话并加入简报；退出码与该程序相同。",
)
@click.option(
    "--project",
    metavar="P",
    help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"),
)
@click.option(
    "--resume",
    "wanted",
    is_flag=False,
    flag_value="",
    metavar=two("[KEY]", "[键]"),
    help=two("Go on with an earlier chat; without KEY it asks which.", "继续此前的一次对话；不给键则询问是哪一次。"),
)
@click.option(
    "--continue",
    "last",
    is_flag=True,
    help=two("Go on with the last chat of this project.", "继续本项目的上一次对话。"),
)
@click.option(
    "--pure",
    is_flag=True,
    help=two(
        "No memory, in or out; at the end it asks whether to keep what was said.",
        "不读取也不保存记忆；结束时询问是否保留所说的话。",
    ),
)
@click.option(
    "--no-inject",
    is_flag=True,
    help=two("With a program: record it, but add no brief.", "运行程序时：只记录，不加入简报。"),
)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar=two("[-- PROGRAM …]", "[-- 程序 …]"))
def command(
    session: Session,
    project: str | None,
    wanted: str | None,
    last: bool,
    pure: bool,
    no_inject: bool,
    program: tuple[str, ...],
) -> None:
    pure = pure or is_pure_environment(os.environ)
    if program:
        raise click.exceptions.Exit(run_under_proxy(session, program, project=project, pure=pure, inject=not no_inject))
    _chat(session, project, wanted, last, pure)


def _chat(session: Session, project: str | None, wanted: str | None, last: bool, pure: bool) -> None:
    catmem = session.catmem
    create_config(catmem.paths)
    key = project if project is not None else catmem.project_of(os.getcwd()).key
    with Keyboard(lambda: typed_before(session, key, pure), [f"/{row.name}" for row in ROWS]) as keyboard:
        if not pure:
            _do_waiting_work(session)
        ref = _resumed(session, keyboard, key, wanted, last)
        talk = Talk(session, keyboard, key)
        resumed = talk.begin(ref) if ref is not None or not pure else []
        if pure:
            talk.go_pure()
        loaded, reason, ended = talk.loaded, "closed", False
        with ended_by_signals():
            try:
                answerer = _answerer(session, keyboard)
                _greet(session, talk, answerer)
                if ref is not None:
                    show_resumed(session, ref, resumed)
                reason = Conversation(session, talk, answerer, keyboard).run()
                ended = True
            finally:
                talk.close(reason, ask=ended)
    session.result({"session": talk.ref.key if talk.ref else "", "project": talk.project, "memories_loaded": loaded})


def _resumed(session: Session, keyboard: Keyboard, project: str, wanted: str | None, last: bool) -> SessionRef | None:
    """The earlier chat that is to be gone on with, if one is."""
    if last and not wanted:
        return newest_chat(session.catmem.history, project)
    return choose(session, keyboard, project, wanted) if wanted is not None else None


def _do_waiting_work(session: Session) -> None:
    """The session that was just closed, or killed, is part of what this one should know."""
    catmem = session.catmem
    end_abandoned_chats(catmem.history, catmem.paths, catmem.clock)
    for wait in (QUIET_SECONDS, START_SECONDS):
        try:
            with only_worker(catmem, wait=wait):
                run_work(catmem, everything=False, seconds=START_SECONDS, awaited=True)
            return
        except LockBusy:
            if wait == QUIET_SECONDS:
                session.note("A moment: earlier sessions are being distilled …", "请稍候：正在提炼此前的会话……")


def _answerer(session: Session, keyboard: Keyboard) -> ModelAnswerer | None:
    """None without a model; if the configured ones cannot be used at all, the user is told why."""

    def tell(failed: str, following: str, why: Failure) -> None:
        awaited = keyboard.wait_no_more()
        session.note(f"! {failed}: {why.en} (asking {following})", f"! {failed}：{why.zh}（改问 {following}）")
        if awaited:
            keyboard.wait()

    try:
        model = session.catmem.model(tell)
    except ModelFailed as failure:
        session.note(f"! {failure.en}", f"! {failure.zh}")
        return None
    return None if model is None else ModelAnswerer(model, session.catmem.language)


def _greet(session: Session, talk: Talk, answerer: ModelAnswerer | None) -> None:
    if talk.is_pure:
        session.say(
            f"catmem · {talk.project} · pure: no memory, in or out",
            f"catmem · {talk.project} · 纯净模式：不读取也不保存记忆",
        )
    else:
        count = talk.loaded
        memories = "1 memory" if count == 1 else f"{count} memories"
        session.say(f"catmem · {talk.project} · {memories} loaded", f"catmem · {talk.project} · 已载入 {count} 条记忆")
    if answerer is not None:
        _name_models(session)
    elif talk.is_pure:
        session.say("No model answers here.", "这里没有模型可以作答。")
    else:
        session.say(
            "No model answers here, only the memory. What you say is kept, and what is worth knowing remembered.",
            "这里没有模型，只由记忆作答。你说的话都会保存，值得记住的会被记住。",
        )
    session.say("/help lists the commands, Ctrl-D ends.", "/help 查看命令，Ctrl-D 结束。")


def _name_models(session: Session) -> None:
    first, *others = map(label_of, session.catmem.settings.models)
    then_en = f"; if it cannot, {', '.join(others)}" if others else ""
    then_zh = f"；备用：{'、'.join(others)}" if others else ""
    session.say(f"{first} answers{then_en}.", f"由 {first} 作答{then_zh}。")
