"""`mem search WORDS`"""

from __future__ import annotations

import shlex

import click

from catmem.cli.asking import Bounds, asking_options, tell_period
from catmem.cli.output import Session, local_minute, mem_command, two
from catmem.cli.words import word
from catmem.recall.search import MOST, ROLES, Passage

# Of the other messages of a turn so many are named; reading on shows them all.
_NUMBERS = 5


@mem_command(
    "search",
    "Search everything that was ever said, word for word; one result a turn.",
    "在所有说过的原话中检索；同一轮对话只列一条。",
)
@click.argument("words", nargs=-1, required=True, metavar=two("WORDS…", "关键词…"))
@click.option(
    "--role",
    type=click.Choice(ROLES),
    metavar="R",
    help=two(f"Only what this one said: {', '.join(ROLES)}.", f"只要这一方说的：{'、'.join(ROLES)}。"),
)
@click.option(
    "--context",
    type=click.IntRange(0, 100),
    default=1,
    metavar="N",
    help=two("Lines around each line found (1).", "每处结果前后各显示几行（默认 1）。"),
)
@asking_options(most=MOST, narrows=True)
def command(session: Session, words: tuple[str, ...], role: str | None, context: int, bounds: Bounds) -> None:
    catmem = session.catmem
    catmem.index.catch_up(catmem.store, catmem.history)
    found = catmem.searcher.search(
        " ".join(words),
        project=bounds.project,
        role=role,
        since=bounds.since,
        until=bounds.until,
        limit=bounds.limit,
        context=context,
        read_days=True,
    )
    session.result({**found})
    if session.as_json:
        return
    tell_period(session, found.get("period"))
    for item in found["items"]:
        _print(session, item)
    if found["items"]:
        go_on = _reading_on(found["items"][0])
        session.note(f"to read on: {go_on}", f"接着往下读：{go_on}")
    if not found["items"]:
        session.say("nobody has said that", "没有人说过这些")
        bounds.note(session)


def _print(session: Session, item: Passage) -> None:
    place = f"{item['session']} #{item['message_id']}  {item['project']}"
    when = local_minute(item["at"]) if item["at"] else "?"
    who_en = "you" if item["role"] == "user" else item["role"]
    who_zh = "你" if item["role"] == "user" else word(item["role"], "zh")
    more_en, more_zh = (f"  (+{item['same']} alike)", f"（另有 {item['same']} 处相同）") if item["same"] else ("", "")
    session.say(f"{when}  {who_en}  {place}{more_en}", f"{when}  {who_zh}  {place}{more_zh}")
    for line in item["lines"]:
        session.say(f"    {line}", f"    {line}")
    if others := item["same_turn"]:
        go_on, numbers = _reading_on(item), [f"#{id}" for id in others[:_NUMBERS]]
        more_en, more_zh = (", …", " 等") if len(others) > _NUMBERS else ("", "")
        session.say(
            f"    +{len(others)} in this turn ({', '.join(numbers)}{more_en}): {go_on}",
            f"    同一轮中另有 {len(others)} 处（{'、'.join(numbers)}{more_zh}）：{go_on}",
        )


def _reading_on(item: Passage) -> str:
    return f"mem sessions show {shlex.quote(item['session'])} --around {item['message_id']}"
