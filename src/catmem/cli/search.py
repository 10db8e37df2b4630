"""`mem search WORDS`"""

from __future__ import annotations

import os

import click

from catmem.cli.days import day
from catmem.cli.output import Session, local_minute, mem_command, two
from catmem.cli.words import word
from catmem.recall.search import MOST, ROLES, Passage


@mem_command(
    "search",
    "Search everything that was ever said, word for word.",
    "在所有说过的原话中检索。",
)
@click.argument("words", nargs=-1, required=True, metavar=two("WORDS…", "关键词…"))
@click.option(
    "--project",
    metavar="P",
    help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"),
)
@click.option("--all-projects", is_flag=True, help=two("Search every project.", "检索所有项目。"))
@click.option(
    "--role",
    type=click.Choice(ROLES),
    metavar="R",
    help=two(f"Only what this one said: {', '.join(ROLES)}.", f"只要这一方说的：{'、'.join(ROLES)}。"),
)
@click.option("--since", metavar="DAY", help=two("Only from this day on.", "只要这一天及以后的。"))
@click.option("--until", metavar="DAY", help=two("Only up to this day.", "只要这一天及以前的。"))
@click.option(
    "--limit",
    type=click.IntRange(1, MOST),
    default=10,
    metavar="N",
    help=two("Most results (10).", "最多条数（默认 10）。"),
)
@click.option(
    "--context",
    type=click.IntRange(0, 100),
    default=1,
    metavar="N",
    help=two("Lines around each line found (1).", "每处结果前后各显示几行（默认 1）。"),
)
def command(
    session: Session,
    words: tuple[str, ...],
    project: str | None,
    all_projects: bool,
    role: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    context: int,
) -> None:
    catmem = session.catmem
    scope = _scope(session, project, all_projects)
    catmem.index.catch_up(catmem.store, catmem.history)
    items = catmem.searcher.search(
        " ".join(words),
        project=scope,
        role=role,
        since=day(since),
        until=day(until, end=True),
        limit=limit,
        context=context,
    )
    session.result({"mode": "keyword", "items": items})
    if session.as_json:
        return
    for item in items:
        _print(session, item)
    if not items:
        session.say("nobody has said that", "没有人说过这些")
        if scope is not None:
            session.note(
                f"only {scope} was searched; --all-projects searches all",
                f"只检索了 {scope}；--all-projects 可检索所有项目",
            )


def _scope(session: Session, project: str | None, all_projects: bool) -> str | None:
    if project is not None:
        return session.catmem.projects.registry().home(project)
    if all_projects or not session.catmem.settings.project_scope_enabled:
        return None
    return str(session.catmem.project_of(os.getcwd()).key)


def _print(session: Session, item: Passage) -> None:
    place = f"{item['session']} #{item['message_id']}  {item['project']}"
    when = local_minute(item["at"]) if item["at"] else "?"
    who_en = "you" if item["role"] == "user" else item["role"]
    who_zh = "你" if item["role"] == "user" else word(item["role"], "zh")
    more_en, more_zh = (f"  (+{item['same']} alike)", f"（另有 {item['same']} 处相同）") if item["same"] else ("", "")
    session.say(f"{when}  {who_en}  {place}{more_en}", f"{when}  {who_zh}  {place}{more_zh}")
    for line in item["lines"]:
        session.say(f"    {line}", f"    {line}")
