"""What a line that begins with `/` does in `mem start`: it is a command to us, not said to anybody, and not kept."""

from __future__ import annotations

import re
from collections import namedtuple

from catmem.capture.remember import remember
from catmem.cli.chat.answers import MemoryOfChat
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.forget import chosen_for, forget, preview
from catmem.cli.output import Session
from catmem.cli.recall import print_items
from catmem.domain.errors import BadInput
from catmem.domain.session import SessionRef

# As many as fit a screen with their reasons.
RECALL_LIMIT = 8

Row = namedtuple("Row", "name takes_en takes_zh en zh")

ROWS = (
    Row("brief", "", "", "what this chat was told of earlier ones", "查看本次对话载入的简报"),
    Row("recall", "WORDS", "关键词", "search the memory", "检索记忆"),
    Row("remember", "TEXT", "内容", "keep a text word for word", "逐字记住一段话"),
    Row("forget", "WORDS or ID", "关键词或编号", "show what fits, ask, and remove it", "先列出、询问，再删除"),
    Row("help", "", "", "this list", "显示本列表"),
    Row("exit", "", "", "end the chat, as Ctrl-D and Ctrl-C do", "结束对话（Ctrl-D、Ctrl-C 亦可）"),
)
ENDING = ("/exit", "/quit")

_EXAMPLE = (
    """mem config set models '[{"name": "local", "api": "openai", """
    """"base_url": "http://localhost:11434/v1", "model": "qwen3"}]'"""
)


def is_command(line: str) -> bool:
    """A slash and a word. `/etc/hosts is wrong` is none, nor is a line that begins with a blank."""
    return re.match(r"/[A-Za-z]+(\s|$)", line) is not None


class ChatCommands:
    def __init__(self, session: Session, here: SessionRef, memory: MemoryOfChat, keyboard: Keyboard) -> None:
        self._session = session
        self._catmem = session.catmem
        self._here = here
        self._memory = memory
        self._keyboard = keyboard

    def run(self, line: str) -> None:
        """Does what the line says. Raises BadInput for what is no command."""
        word, _, rest = line[1:].strip().partition(" ")
        name, rest = word.lower(), rest.strip()
        row = next((row for row in ROWS if row.name == name), None)
        if row is None:
            raise BadInput(
                f"there is no command /{word}; /help lists them (to say it, begin with a blank)",
                f"没有命令 /{word}；/help 可查看全部（若要作为消息发送，请在前面加一个空格）",
            )
        if row.takes_en and not rest:
            raise BadInput(f"write /{name} {row.takes_en}", f"请写成 /{name} {row.takes_zh}")
        getattr(self, f"_{name}")(rest)

    def _brief(self, _: str) -> None:
        text = self._memory.brief.text
        self._session.say(text or "Nothing is known yet.", text or "目前还没有记忆。")

    def _recall(self, words: str) -> None:
        catmem = self._catmem
        catmem.index.catch_up(catmem.store, catmem.history)
        scope = self._here.project if catmem.settings.project_scope_enabled else None
        print_items(self._session, catmem.recaller.recall(words, project=scope, limit=RECALL_LIMIT)["items"])

    def _remember(self, text: str) -> None:
        catmem = self._catmem
        id = remember(
            catmem.store,
            text,
            project=self._here.project,
            scope="project",
            kind="note",
            session=self._here.key,
            redact=catmem.redact,
            clock=catmem.clock,
        )
        self._memory.refresh()
        self._session.say(f"remembered as {id}", f"已记住，编号 {id}")

    def _forget(self, words: str) -> None:
        session = self._session
        self._catmem.store.catch_up()
        chosen = chosen_for(session, tuple(words.split()), None, None)
        here = ("", *self._catmem.projects.registry().members(self._here.project))
        chosen = [memory for memory in chosen if memory.project in here]
        if not chosen:
            session.say("No memory fits; nothing was changed.", "没有符合的记忆；未作任何改动。")
            return
        for memory in chosen:
            preview(session, memory)
        question = (f"彻底忘记这 {len(chosen)} 条？", f"Forget {_these(len(chosen))} for good?")
        if not self._keyboard.says_yes(question[self._catmem.language != "zh"]):
            session.say("Nothing was forgotten.", "没有忘记任何内容。")
            return
        forget(session, chosen, purge=False)
        self._memory.refresh()
        session.say(f"forgot {len(chosen)}", f"已忘记 {len(chosen)} 条")

    def _help(self, _: str) -> None:
        for row in ROWS:
            en, zh = f"/{row.name} {row.takes_en}", f"/{row.name} {row.takes_zh}"
            self._session.say(f"  {en:<22} {row.en}", f"  {_padded(zh, 22)} {row.zh}")
        if not self._catmem.settings.models:
            self._session.say(
                f"To add a model (this one is Ollama):\n  {_EXAMPLE}", f"添加模型（以 Ollama 为例）：\n  {_EXAMPLE}"
            )

    def _exit(self, _: str) -> None:
        """`/exit` with words after it; alone it is never asked."""
        raise BadInput("write /exit alone to end the chat", "若要结束对话，请只写 /exit")


def _these(count: int) -> str:
    return "this one" if count == 1 else f"these {count}"


def _padded(text: str, width: int) -> str:
    """Chinese characters take two columns."""
    return text + " " * (width - sum(1 if letter.isascii() else 2 for letter in text))
