"""The tool `recall`: ranked memories and passages, quoted, with why each was found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from catmem.brief.suspicion import is_order
from catmem.brief.words import WORDS
from catmem.domain.clock import local_day, parse_instant
from catmem.domain.errors import BadInput
from catmem.domain.words import word
from catmem.mcp.port import Asked
from catmem.mcp.quoting import LONGEST_ANSWER, fenced, on_one_line
from catmem.mcp.telling import tell
from catmem.recall.recall import Item
from catmem.recall.titles import TITLE

if TYPE_CHECKING:
    from catmem.recall.period import Period

# Bytes. A memory is a sentence; of a passage, which may be a page, read_session shows the rest.
_LONGEST = {"memory": 2000, "passage": 1200}


def recall(asked: Asked) -> str:
    """Raises BadInput for a day that is none."""
    memory, caller, wanted = asked.memory, asked.caller, asked.arguments
    asked.catch_up()
    found = memory.recaller.recall(
        wanted["query"],
        project=caller.scope,
        limit=wanted["limit"],
        kind=wanted["kind"],
        since=_day(wanted["since"]),
        until=_day(wanted["until"], end=True),
        read_days=True,
    )
    items = [item for item in found["items"] if not is_order(item["text"])]
    shown = _fitting([(item, _lines(asked, item)) for item in items])
    tell(asked, [(item["id"], _said(asked, item)) for item, _ in shown], query=wanted["query"])
    left_out = len(found["items"]) - len(items)
    parts = [fenced("\n".join(lines for _, lines in shown), memory.language)] if shown else []
    parts += [_nothing(asked)] if not found["items"] else []
    parts += [_days(asked, found["period"])] if "period" in found else []
    parts += [_withheld(asked, left_out)] if left_out else []
    return "\n".join(parts)


def _fitting(items: Sequence[tuple[Item, str]]) -> list[tuple[Item, str]]:
    """The first ones, as many as an answer may have."""
    shown, room = [], LONGEST_ANSWER
    for item, lines in items:
        room -= len(lines.encode("utf-8", "replace"))
        if room < 0:
            break
        shown.append((item, lines))
    return shown


def _lines(asked: Asked, item: Item) -> str:
    language = asked.memory.language
    home = item["project"] if asked.caller.scope is None and item["project"] else ""
    where = word("global", language) if item["scope"] == "global" else home
    facts = [item["id"], word(item["kind"], language), where, local_day(item["at"]) if item["at"] else ""]
    head = " · ".join(fact for fact in facts if fact)
    return f"- {_said(asked, item)}\n  [{on_one_line(head)}] {on_one_line(item['why'])}{_other_side(asked, item)}"


def _other_side(asked: Asked, item: Item) -> str:
    """What a passage was answered or asked, and where to read on."""
    turn = item.get("turn")
    if turn is None:
        return ""
    other, text = ("assistant", turn["answered"]) if item["kind"] == "user" else ("user", turn["asked"])
    words = WORDS[asked.memory.language]
    said = f"\n  {words['quote'].format(words[other], on_one_line(text))}" if text and not is_order(text) else ""
    return f"{said}\n  read_session {on_one_line(item['session'])} first={turn['first']}"


def _said(asked: Asked, item: Item) -> str:
    """A passage names who said it; a note of an assistant's own is no word of the user's, and is quoted likewise."""
    words = WORDS[asked.memory.language]
    text = on_one_line(item["text"], _LONGEST[item["type"]])
    if item["kind"] == TITLE:
        return asked.said(f'a conversation is called "{text}"', f"有一次会话名为“{text}”")
    if item["type"] == "passage":
        return words["quote"].format(words[item["kind"]], text)
    kept = asked.memory.store.get(item["id"])
    return words["noted"].format(text) if kept is not None and kept.now.by == "assistant" else text


def _nothing(asked: Asked) -> str:
    if asked.caller.scope is None:
        return asked.said("Nothing in memory about that.", "记忆中没有相关内容。")
    return asked.said(
        f"Nothing in memory about that in the project {asked.caller.scope} and the user's profile.",
        f"项目 {asked.caller.scope} 和用户档案中没有相关记忆。",
    )


def _days(asked: Asked, period: Period) -> str:
    first, last = local_day(period["since"]), local_day(period["until"])
    days = first if first == last else asked.said(f"{first} to {last}", f"{first} 至 {last}")
    words = period["words"]
    if period.get("missed"):
        return asked.said(
            f'(Nothing was said about it on {days}, for "{words}"; this is of other days.)',
            f"（按“{words}”在 {days} 没有找到，以上是其他时间的内容。）",
        )
    return asked.said(f'(Only what is of {days}, for "{words}".)', f"（按“{words}”只检索了 {days}。）")


def _withheld(asked: Asked, count: int) -> str:
    return asked.said(
        f"({count} left out for reading like an order to an assistant; the user sees them with `mem recall`.)",
        f"（有 {count} 条内容读起来像给助手的指令，未列出；用户可用 `mem recall` 查看。）",
    )


def _day(text: str | None, *, end: bool = False) -> str | None:
    """A day or an instant of the user's zone as a stamp. Raises BadInput."""
    if text is None:
        return None
    instant = parse_instant(f"{text}T23:59:59.999" if end and len(text) == 10 else text)
    if instant is None:
        raise BadInput(f"{text!r} is not a date; write 2026-05-31", f"{text!r} 不是日期；请写成 2026-05-31")
    return instant[0]
