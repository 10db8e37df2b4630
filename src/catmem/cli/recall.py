"""`mem recall QUERY` and `mem recall --save TEXT`"""

from __future__ import annotations

import shlex

import click

from catmem.capture.remember import remember
from catmem.cli.asking import Bounds, asking_options, tell_period
from catmem.cli.output import Session, mem_command, two
from catmem.cli.words import word
from catmem.domain.clock import local_day
from catmem.domain.errors import BadInput
from catmem.domain.memory import KINDS, Kind
from catmem.recall.recall import Item
from catmem.recall.turns import Turn
from catmem.recall.why import explained


@mem_command("recall", "Search the memory; --save keeps a text word for word.", "检索记忆；--save 逐字保存一段文字。")
@click.argument("query", nargs=-1, metavar=two("[WORDS…]", "[关键词…]"))
@click.option("--save", metavar="TEXT", help=two("Keep TEXT as a pinned memory.", "把 TEXT 保存为固定记忆。"))
@click.option(
    "--global",
    "in_profile",
    is_flag=True,
    help=two("With --save: about you, everywhere.", "配合 --save：关于你本人，处处有效。"),
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    metavar="K",
    help=two(f"Only this kind: {', '.join(KINDS)}.", f"只要这一类：{', '.join(KINDS)}。"),
)
@click.option(
    "--explain", is_flag=True, help=two("Show the numbers that ranked each item.", "显示每一条排序所依据的数值。")
)
@asking_options(most=1000)
def command(
    session: Session,
    query: tuple[str, ...],
    save: str | None,
    in_profile: bool,
    kind: Kind | None,
    explain: bool,
    bounds: Bounds,
) -> None:
    if save is not None:
        if query:
            raise BadInput("put the whole text after --save into quotes", "请把 --save 后面的整段文字放进引号")
        _save(session, save, bounds.here, in_profile, kind)
        return
    if in_profile:
        raise BadInput(
            "--global goes with --save; a search has the profile in it anyway",
            "--global 与 --save 一起使用；检索本来就包含个人档案",
        )
    if not query:
        raise BadInput("say what to look for: `mem recall WORDS`", "请说明要找什么：`mem recall 关键词`")
    catmem = session.catmem
    catmem.index.catch_up(catmem.store, catmem.history)
    found = catmem.recaller.recall(
        " ".join(query),
        project=bounds.project,
        limit=bounds.limit,
        kind=kind,
        since=bounds.since,
        until=bounds.until,
        read_days=True,
        explain=explain,
    )
    session.result({**found})
    if not session.as_json:
        tell_period(session, found.get("period"))
        print_items(session, found["items"])
        if not found["items"]:
            bounds.note(session)


def _save(session: Session, text: str, project: str, in_profile: bool, kind: Kind | None) -> None:
    catmem = session.catmem
    id = remember(
        catmem.store,
        text,
        project=project,
        scope="global" if in_profile else "project",
        kind=kind or ("preference" if in_profile else "note"),
        session="command-line",
        redact=catmem.redact,
        clock=catmem.clock,
    )
    catmem.index.catch_up(catmem.store, catmem.history)
    session.result({"id": id})
    if not session.as_json:
        session.say(f"remembered as {id}", f"已记住，编号 {id}")


def print_items(session: Session, items: list[Item]) -> None:
    """Each item with its score, place and reason, for a person."""
    if not items:
        session.say("nothing in memory about that", "记忆中没有相关内容")
    for item in items:
        place = item["project"] or "*"
        head, tail = f"{item['score']:.2f}  {item['id']}  [", f" · {place} · {local_day(item['at'])}]"
        session.say(head + item["kind"] + tail, head + word(item["kind"], "zh") + tail)
        session.say(f"      {item['text']}", f"      {item['text']}")
        session.say(f"      {item['why']}", f"      {item['why']}")
        if "turn" in item:
            _print_other_side(session, item, item["turn"])
        if "explain" in item:
            numbers = item["explain"]
            session.say(f"      {explained(numbers, 'en')}", f"      {explained(numbers, 'zh')}")
    passage = next((item for item in items if item["type"] == "passage"), None)
    if passage:
        go_on = f"mem sessions show {shlex.quote(passage['session'])} --around {passage['message_id']}"
        session.note(f"to read on: {go_on}", f"接着往下读：{go_on}")


def _print_other_side(session: Session, item: Item, turn: Turn) -> None:
    """What a user's words were answered, or what was asked before any others."""
    if item["kind"] == "user" and turn["answered"]:
        session.say(f"      assistant: {turn['answered']}", f"      助手：{turn['answered']}")
    elif item["kind"] != "user" and turn["asked"]:
        session.say(f"      you: {turn['asked']}", f"      你：{turn['asked']}")
