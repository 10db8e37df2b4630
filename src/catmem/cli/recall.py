"""`mem recall QUERY` and `mem recall --save TEXT`"""

from __future__ import annotations

import os

import click

from catmem.capture.remember import remember
from catmem.cli.days import day
from catmem.cli.output import Session, mem_command, two
from catmem.cli.words import word
from catmem.domain.clock import local_day
from catmem.domain.errors import BadInput
from catmem.domain.memory import KINDS, Kind
from catmem.recall.recall import Item


@mem_command("recall", "Search the memory; --save keeps a text word for word.", "检索记忆；--save 逐字保存一段文字。")
@click.argument("query", nargs=-1, metavar=two("[WORDS…]", "[关键词…]"))
@click.option("--save", metavar="TEXT", help=two("Keep TEXT as a pinned memory.", "把 TEXT 保存为固定记忆。"))
@click.option(
    "--project",
    metavar="P",
    help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"),
)
@click.option("--all-projects", is_flag=True, help=two("Search every project.", "检索所有项目。"))
@click.option(
    "--global",
    "in_profile",
    is_flag=True,
    help=two("With --save: about you, everywhere.", "配合 --save：关于你本人，处处有效。"),
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=10,
    metavar="N",
    help=two("Most results (10).", "最多条数（默认 10）。"),
)
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    metavar="K",
    help=two(f"Only this kind: {', '.join(KINDS)}.", f"只要这一类：{', '.join(KINDS)}。"),
)
@click.option("--since", metavar="DAY", help=two("Only from this day on.", "只要这一天及以后的。"))
@click.option("--until", metavar="DAY", help=two("Only up to this day.", "只要这一天及以前的。"))
def command(
    session: Session,
    query: tuple[str, ...],
    save: str | None,
    project: str | None,
    all_projects: bool,
    in_profile: bool,
    limit: int,
    kind: Kind | None,
    since: str | None,
    until: str | None,
) -> None:
    here = project if project is not None else session.catmem.project_of(os.getcwd()).key
    if save is not None:
        if query:
            raise BadInput("put the whole text after --save into quotes", "请把 --save 后面的整段文字放进引号")
        _save(session, save, here, in_profile, kind)
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
    scope = None if all_projects or not catmem.settings.project_scope_enabled else here
    found = catmem.recaller.recall(
        " ".join(query), project=scope, limit=limit, kind=kind, since=day(since), until=day(until, end=True)
    )
    items = list(found["items"])
    session.result({"mode": found["mode"], "items": items})
    if not session.as_json:
        print_items(session, items)
        if not items and scope is not None:
            session.note(
                f"only {here} was searched; --all-projects searches all",
                f"只检索了 {here}；--all-projects 可检索所有项目",
            )


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
