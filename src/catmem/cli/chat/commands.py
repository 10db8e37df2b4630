"""What a line that begins with `/` does in `mem start`: it is a command to us, not said to anybody, and not kept."""

from __future__ import annotations

import re
from collections import namedtuple

from catmem.capture.remember import remember
from catmem.cli.chat.earlier import choose, earlier_sessions, list_sessions, show_resumed
from catmem.cli.chat.keyboard import Keyboard
from catmem.cli.chat.talk import Talk
from catmem.cli.forget import chosen_for, forget, preview
from catmem.cli.output import Session
from catmem.cli.recall import print_items
from catmem.cli.why import print_told
from catmem.domain.errors import BadInput

# As many as fit a screen with their reasons.
RECALL_LIMIT = 8

Row = namedtuple("Row", "name takes_en takes_zh en zh")

ROWS = (
    Row("brief", "", "", "what this chat was told of earlier ones", "查看本次对话载入的简报"),
    Row("why", "", "", "what memory told it so far, and where that is from", "查看记忆提供了什么、出自哪里"),
    Row("recall", "WORDS", "关键词", "search the memory", "检索记忆"),
    Row("remember", "TEXT", "内容", "keep a text word for word", "逐字记住一段话"),
    Row("forget", "WORDS or ID", "关键词或编号", "show what fits, ask, and remove it", "先列出、询问，再删除"),
    Row("pure", "", "", "from here on no memory, in or out", "从此刻起不读取也不保存记忆"),
    Row("history", "", "", "earlier sessions of this project", "列出本项目此前的会话"),
    Row("resume", "[KEY or NUMBER]", "[键或序号]", "go on with an earlier chat", "继续此前的一次对话"),
    Row("help", "", "", "this list", "显示本列表"),
    Row("exit", "", "", "end the chat, as Ctrl-D does", "结束对话（Ctrl-D 亦可）"),
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
    def __init__(self, session: Session, talk: Talk, keyboard: Keyboard) -> None:
        self._session = session
        self._catmem = session.catmem
        self._talk = talk
        self._keyboard = keyboard

    def run(self, line: str) -> None:
        """Does what the line says. Raises BadInput for what is no command."""
        word, *others = line[1:].split(maxsplit=1)
        name, rest = word.lower(), "".join(others).strip()
        row = next((row for row in ROWS if row.name == name), None)
        if row is None:
            raise BadInput(
                f"there is no command /{word}; /help lists them (to say it, begin with a blank)",
                f"没有命令 /{word}；/help 可查看全部（若要作为消息发送，请在前面加一个空格）",
            )
        if row.takes_en and not row.takes_en.startswith("[") and not rest:
            raise BadInput(f"write /{name} {row.takes_en}", f"请写成 /{name} {row.takes_zh}")
        getattr(self, f"_{name}")(rest)

    def _brief(self, _: str) -> None:
        text = self._talk.recorded.text if self._talk.recorded is not None else ""
        self._session.say(text or "Nothing is known yet.", text or "目前还没有记忆。")

    def _why(self, _: str) -> None:
        records = self._talk.recorded.records() if self._talk.recorded is not None else []
        if not records:
            self._session.say("This chat was told nothing.", "本次对话没有得到任何记忆。")
        print_told(self._session, records)

    def _recall(self, words: str) -> None:
        catmem = self._catmem
        catmem.index.catch_up(catmem.store, catmem.history)
        scope = self._talk.project if catmem.settings.project_scope_enabled else None
        print_items(self._session, catmem.recaller.recall(words, project=scope, limit=RECALL_LIMIT)["items"])

    def _remember(self, text: str) -> None:
        ref = self._talk.ref
        if self._talk.is_pure or ref is None:
            raise BadInput(
                "this chat is pure, nothing of it is remembered; `mem recall --save` does it from outside",
                "本次对话是纯净模式，不会记住任何内容；可在别处用 `mem recall --save`",
            )
        catmem = self._catmem
        id = remember(
            catmem.store,
            text,
            project=self._talk.project,
            scope="project",
            kind="note",
            session=ref.key,
            redact=catmem.redact,
            clock=catmem.clock,
        )
        catmem.index.catch_up(catmem.store, catmem.history)
        memory = catmem.store.require(id)
        self._talk.note(id, memory.now.text)
        self._session.say(f"remembered as {id}", f"已记住，编号 {id}")

    def _forget(self, words: str) -> None:
        session = self._session
        self._catmem.pages.write()  # A line edited by hand is that memory, and would come back as another one.
        chosen = chosen_for(session, tuple(words.split()), None, None)
        here = ("", *self._catmem.projects.registry().members(self._talk.project))
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
        self._talk.forget([memory.id for memory in chosen])
        session.say(f"forgot {len(chosen)}", f"已忘记 {len(chosen)} 条")

    def _pure(self, _: str) -> None:
        self._talk.go_pure()
        self._session.say(
            "Pure from here on: nothing of memory comes in, and what is said stays in this process.",
            "从此刻起是纯净模式：不读取记忆，所说的话只留在本进程中。",
        )

    def _history(self, _: str) -> None:
        ref = self._talk.ref
        headers = earlier_sessions(self._catmem.history, self._talk.project, ref.key if ref else "")
        if not headers:
            self._session.say("This is the first session of this project.", "这是本项目的第一次会话。")
            return
        list_sessions(self._session, headers)

    def _resume(self, wanted: str) -> None:
        ref = self._talk.ref
        earlier = choose(self._session, self._keyboard, self._talk.project, wanted, ref.key if ref else "")
        show_resumed(self._session, earlier, self._talk.resume(earlier))

    def _help(self, _: str) -> None:
        for row in ROWS:
            en, zh = f"/{row.name} {row.takes_en}", f"/{row.name} {row.takes_zh}"
            self._session.say(f"  {en:<24} {row.en}", f"  {_padded(zh, 20)} {row.zh}")
        self._session.say(
            'A line that ends in \\ goes on with the next; so does what begins with """, up to the next """. '
            "Alt-Enter begins a line, too.",
            '以 \\ 结尾的行与下一行相连；以 """ 开头的消息到下一个 """ 为止。也可用 Alt-Enter 换行。',
        )
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
