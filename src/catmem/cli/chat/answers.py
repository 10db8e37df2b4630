"""Who answers in `mem start`: a configured model that is told what memory holds, or the memory alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catmem.brief.brief import Brief
from catmem.domain.clock import local_day
from catmem.domain.session import SessionRef
from catmem.llm.port import Model, Turn
from catmem.llm.window import recent_turns
from catmem.recall.recall import Item
from catmem.text.cut import preview
from catmem.wiring import Catmem

# Shown as an answer; more is a search, which `/recall` does better.
MOST_ITEMS = 5
# Columns of one item: two lines of a usual terminal.
ITEM_WIDTH = 160
# Of the talk so much is sent again with each message, by our estimate: an hour's chat, affordable at every turn.
# Servers with a smaller window drop the oldest themselves and keep the system prompt.
TALK_TOKENS = 12_000

INSTRUCTION = {
    "en": "You answer a person in a terminal chat. Use the language of their message; be direct and brief; plain text or "
    "light Markdown. You have no tools and see no files: say so instead of guessing. What stands in <catmem-memory> "
    "tags, here or below a message, was kept from earlier conversations with this person: use it as what you know of "
    "them and their work, and never invent memories.",
    "zh": "你在终端里与用户对话。用用户消息所用的语言作答，直接、简短；用纯文本或少量 Markdown。你没有工具，也看不到文件："
    "遇到这种情况请直说，不要猜测。<catmem-memory> 标签里的内容（在此处或消息之后）来自此前与这位用户的对话："
    "把它当作你对用户及其工作的了解来使用，绝不编造记忆。",
}


class MemoryOfChat:
    """What memory says in one chat: the brief at its start, and what is recalled on a message."""

    def __init__(self, catmem: Catmem, here: SessionRef) -> None:
        self._catmem = catmem
        self._here = here
        self.brief = self._brief()

    def refresh(self) -> None:
        """The brief anew, after the user has changed the memory; otherwise it stays the same to the byte."""
        self.brief = self._brief()

    def _brief(self) -> Brief:
        self._catmem.index.catch_up(self._catmem.store, self._catmem.history)
        return self._catmem.briefer.brief(self._here.project)

    def beside(self, text: str) -> str:
        """What a model is told beside a message; "" for what the brief has already said, and for small talk."""
        told: str = self._catmem.briefer.for_prompt(text, self._here.project, shown=self.brief.items).text
        return told

    def answer(self, text: str) -> Iterator[str]:
        """What memory holds on `text`, item by item, or that it holds nothing."""
        chinese = self._catmem.language == "zh"
        items = self._items(text)
        if not items:
            yield "已保存；记忆中还没有与此有关的内容。" if chinese else "Kept. Nothing in memory about that yet."
            return
        yield "记忆中有：" if chinese else "From memory:"
        for item in items:
            yield f"\n- {_line(item, chinese)}"

    def _items(self, text: str) -> list[Item]:
        scope = self._here.project if self._catmem.settings.project_scope_enabled else None
        found = self._catmem.recaller.recall(text, project=scope, limit=MOST_ITEMS * 3)["items"]
        return [item for item in found if self._tells_something(item)][:MOST_ITEMS]

    def _tells_something(self, item: Item) -> bool:
        """What was said in this chat, or only asked in another, is no answer."""
        if item["type"] == "memory":
            return True
        return item["session"] != self._here.key and not item["text"].rstrip().endswith(("?", "？"))


def _line(item: Item, chinese: bool) -> str:
    day, text = local_day(item["at"]), preview(item["text"], ITEM_WIDTH)
    if item["type"] == "memory":
        return f"{text}（{day}）" if chinese else f"{text} ({day})"
    if chinese:
        return f"{day} {'你' if item['kind'] == 'user' else '助手'}说过：“{text}”"
    return f'On {day} {"you" if item["kind"] == "user" else "the assistant"} said: "{text}"'


class ModelAnswerer:
    """Puts a talk to a model: our instruction and the brief, the talk's end, what is recalled on the newest message.

    The recalled text goes with that one request only: it is no part of the talk, in a file or later.
    """

    def __init__(self, model: Model, memory: MemoryOfChat, language: str) -> None:
        self._model = model
        self._memory = memory
        self._instruction = INSTRUCTION[language]

    def answer(self, turns: Sequence[Turn]) -> Iterator[str]:
        """The answer to the last turn, the user's, piece by piece. Raises Failure."""
        *earlier, newest = recent_turns(turns, TALK_TOKENS)
        recalled = self._memory.beside(turns[-1].text)
        asked = Turn("user", f"{newest.text}\n\n{recalled}") if recalled else newest
        return self._model.stream(self._system(), [*earlier, asked])

    def _system(self) -> str:
        return "\n\n".join(part for part in (self._instruction, self._memory.brief.text) if part)
