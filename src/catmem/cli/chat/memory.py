"""What memory says in one chat: the brief at its start, and what is known about a message; and what it has said so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from catmem.domain.clock import local_day, now
from catmem.domain.session import SessionRef
from catmem.inject import told
from catmem.recall.recall import Item
from catmem.recall.titles import TITLE
from catmem.text.cut import preview
from catmem.wiring import Catmem

DOOR = "chat"
# Shown as an answer; more is a search, which `/recall` does better.
MOST_ITEMS = 5
# Columns of one item: two lines of a usual terminal.
ITEM_WIDTH = 160


class Memory(Protocol):
    """What the one who answers is told, and says where no model does."""

    def brief(self) -> str:
        """The brief of this session: the same bytes in every request."""
        ...

    def beside(self, text: str) -> str:
        """What is told beside a message; "" for what the brief has already said, and for small talk."""
        ...

    def answer(self, text: str) -> Iterator[str]:
        """What is known about `text`, piece by piece, for a chat without a model."""
        ...


class NoMemory:
    """The memory of a chat in pure mode: nothing in, nothing out."""

    def __init__(self, chinese: bool) -> None:
        self._chinese = chinese

    def brief(self) -> str:
        return ""

    def beside(self, text: str) -> str:
        return ""

    def answer(self, text: str) -> Iterator[str]:
        yield (
            "（纯净模式：不读取记忆，这里也没有模型可以作答。）"
            if self._chinese
            else "(Pure: memory stays out of it, and no model answers here.)"
        )


class MemoryOfChat:
    """The memory of the chat `here`; everything that it tells a model, or shows as an answer, is written down."""

    def __init__(self, catmem: Catmem, here: SessionRef) -> None:
        self._catmem = catmem
        self._here = here
        self.project = catmem.projects.registry().home(here.project)
        self._brief = self._told_before()
        # One that said nothing is made anew when the session is gone on with: by now there may be something.
        self._is_told = bool(self._brief["text"])
        if not self._is_told:
            self._make()

    def refresh(self) -> bool:
        """The brief anew, until it is told or if what stood in it was forgotten; else it stays the same to the byte.

        Returns whether it stands, told already.
        """
        self._is_told = self._is_told and told.told(self._catmem.paths, self._here.key) is not None
        if not self._is_told:
            self._make()
        return self._is_told

    def _told_before(self) -> Mapping[str, Any]:
        records = told.records_of(self._catmem.paths, self._here.key)
        briefs = [record for record in records if record["event"] == told.BRIEF]
        return briefs[-1] if briefs else {"text": "", "items": ()}

    def _make(self) -> None:
        self._catmem.index.catch_up(self._catmem.store, self._catmem.history)
        brief = self._catmem.briefer.brief(self.project)
        self._brief = self._record(told.BRIEF, brief.text, brief.reasons)

    @property
    def loaded(self) -> int:
        """How many memories stand in the brief."""
        return len(self._brief["items"])

    @property
    def text(self) -> str:
        """The brief, for the user to see."""
        return str(self._brief["text"])

    def records(self) -> list[Mapping[str, Any]]:
        """What this session was told so far, oldest first; the brief also while it waits for the first message."""
        records: list[Mapping[str, Any]] = list(told.records_of(self._catmem.paths, self._here.key))
        return records if self._is_told else [self._brief, *records]

    def brief(self) -> str:
        if not self._is_told:
            self._brief = self._record(told.BRIEF, self.text, self._brief["items"])
            self._tell(self._brief)
            self._is_told = True
        return self.text

    def beside(self, text: str) -> str:
        shown = [item["id"] for item in self._brief["items"]]
        brief = self._catmem.briefer.for_prompt(text, self.project, shown=shown)
        if brief.items:
            self._tell(self._record(told.PROMPT, brief.text, brief.reasons))
        return str(brief.text)

    def answer(self, text: str) -> Iterator[str]:
        """What memory holds on `text`, item by item, or that it holds nothing."""
        chinese = self._catmem.language == "zh"
        items = self._items(text)
        if not items:
            yield "已保存；记忆中还没有与此有关的内容。" if chinese else "Kept. Nothing in memory about that yet."
            return
        lines = [f"- {_line(item, chinese)}" for item in items]
        shown = [{"id": item["id"], "section": "", "matched": []} for item in items]
        self._tell(self._record(told.RECALL, "\n".join(lines), shown))
        yield "记忆中有：" if chinese else "From memory:"
        for line in lines:
            yield f"\n{line}"

    def _items(self, text: str) -> list[Item]:
        scope = self.project if self._catmem.settings.project_scope_enabled else None
        found = self._catmem.recaller.recall(text, project=scope, limit=MOST_ITEMS * 3)["items"]
        return [item for item in found if self._tells_something(item)][:MOST_ITEMS]

    def _tells_something(self, item: Item) -> bool:
        """What was said in this chat, or only asked in another, is no answer, nor is what one is called."""
        if item["type"] == "memory":
            return True
        return (
            item["kind"] != TITLE
            and item["session"] != self._here.key
            and not item["text"].rstrip().endswith(("?", "？"))
        )

    def _record(self, event: str, text: str, items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        at = now(self._catmem.clock)
        return {"at": at, "door": DOOR, "event": event, "project": self.project, "text": text, "items": items}

    def _tell(self, record: Mapping[str, Any]) -> None:
        told.tell(self._catmem.paths, self._here.key, **record)


def _line(item: Item, chinese: bool) -> str:
    day, text = local_day(item["at"]), preview(item["text"], ITEM_WIDTH)
    if item["type"] == "memory":
        return f"{text}（{day}）" if chinese else f"{text} ({day})"
    if chinese:
        return f"{day} {'你' if item['kind'] == 'user' else '助手'}说过：“{text}”"
    return f'On {day} {"you" if item["kind"] == "user" else "the assistant"} said: "{text}"'
