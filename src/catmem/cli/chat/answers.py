"""A configured model as the one who answers in `mem start`: what it is told of memory, and of the talk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catmem.cli.chat.memory import Memory
from catmem.llm.port import Model, Turn
from catmem.llm.window import recent_turns

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


class ModelAnswerer:
    """Puts a talk to a model: our instruction and the brief, the talk's end, what is recalled on the newest message.

    The recalled text goes with that one request only: it is no part of the talk, in a file or later.
    """

    def __init__(self, model: Model, language: str) -> None:
        self._model = model
        self._instruction = INSTRUCTION[language]

    def answer(self, turns: Sequence[Turn], memory: Memory) -> Iterator[str]:
        """The answer to the last turn, the user's, piece by piece. Raises Failure."""
        system = (self._instruction, memory.brief())
        *earlier, newest = recent_turns(turns, TALK_TOKENS)
        recalled = memory.beside(turns[-1].text)
        asked = Turn("user", f"{newest.text}\n\n{recalled}") if recalled else newest
        return self._model.stream(system, [*earlier, asked])
