"""What `mem recall` and `mem search` are both told: where to look, from when to when, how much to show."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from catmem.cli.days import day
from catmem.cli.output import Session, two
from catmem.domain.clock import local_day

if TYPE_CHECKING:
    from catmem.recall.period import Period


@dataclass(frozen=True, slots=True)
class Bounds:
    """`here` is the project that was named, or that of the folder; `project` the one to search, None for every one.

    `since` and `until` are stamps, both included.
    """

    here: str
    project: str | None
    since: str | None
    until: str | None
    limit: int

    def note(self, session: Session) -> None:
        """Nothing was found: that may be for where it was looked for."""
        if self.project is not None:
            session.note(
                f"only {self.project} was searched; --all-projects searches all",
                f"只检索了 {self.project}；--all-projects 可检索所有项目",
            )


def asking_options(most: int, *, narrows: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the options; the command is given them as one argument, `bounds`.

    narrows   a project that is named is searched alone, even where the settings say that all are; else it stands for
              the folder's, and the settings say how far the search goes
    """
    options = (
        click.option(
            "--project",
            metavar="P",
            help=two("The project (default: that of this folder).", "项目（默认为当前文件夹的项目）。"),
        ),
        click.option("--all-projects", is_flag=True, help=two("Search every project.", "检索所有项目。")),
        click.option("--since", metavar="DAY", help=two("Only from this day on.", "只要这一天及以后的。")),
        click.option("--until", metavar="DAY", help=two("Only up to this day.", "只要这一天及以前的。")),
        click.option(
            "--limit",
            type=click.IntRange(1, most),
            default=10,
            metavar="N",
            help=two("Most results (10).", "最多条数（默认 10）。"),
        ),
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def told(
            session: Session,
            *,
            project: str | None,
            all_projects: bool,
            since: str | None,
            until: str | None,
            limit: int,
            **others: Any,
        ) -> Any:
            catmem = session.catmem
            here = catmem.project_of(os.getcwd()).key if project is None else catmem.projects.registry().home(project)
            everywhere = all_projects or not catmem.settings.project_scope_enabled
            if narrows and project is not None:
                everywhere = False
            bounds = Bounds(here, None if everywhere else here, day(since), day(until, end=True), limit)
            return command(session, bounds=bounds, **others)

        for option in reversed(options):
            told = option(told)
        return told

    return decorate


def tell_period(session: Session, period: Period | None) -> None:
    """That a day was read out of the words, and how to search for the words themselves."""
    if period is None:
        return
    first, last = local_day(period["since"]), local_day(period["until"])
    days_en, days_zh = (first, first) if first == last else (f"{first} to {last}", f"{first} 至 {last}")
    if period.get("missed"):
        session.note(
            f'nothing is found of {days_en} ("{period["words"]}"); this is of other days',
            f"{days_zh}（“{period['words']}”）没有找到相关内容；以下是其他时间的",
        )
        return
    session.note(
        f'"{period["words"]}" was read as {days_en}; in quotes it is searched for as a word',
        f"“{period['words']}”按 {days_zh} 处理；加上引号则按字面检索",
    )
