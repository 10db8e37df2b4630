"""`mem import [PATH…]`: what is named, or what is found on this machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from catmem.capture.formats import FORMATS
from catmem.capture.importing import UNFILED, Importer, ImportReport
from catmem.capture.own_export import take_export
from catmem.cli.drives import tell_drives
from catmem.cli.found import ask, find, show, tell_cost, total
from catmem.cli.output import Session, counted, mem_command, two
from catmem.clients.port import Problem
from catmem.domain.errors import NotFound
from catmem.wiring import Catmem

# Problems shown to a person; `--json` lists them all.
SHOWN_PROBLEMS = 10


@mem_command("import", "Bring in conversations or an export.", "导入对话记录或导出文件。")
@click.argument("paths", nargs=-1, type=click.Path(), metavar=two("[PATH…]", "[路径…]"))
@click.option(
    "--from",
    "source",
    type=click.Choice(("auto", *FORMATS)),
    default="auto",
    metavar="FORMAT",
    help=two(
        f"What the files are: {', '.join(FORMATS)} (auto: told from what is in them).",
        f"文件的来源格式：{', '.join(FORMATS)}（auto：由内容判断）。",
    ),
)
@click.option("--project", metavar="P", default="", help=two("Put everything into this project.", "全部归入该项目。"))
@click.option("--dry-run", is_flag=True, help=two("Only count.", "只统计，不写入。"))
@click.option(
    "--yes", is_flag=True, help=two("Do not ask before importing what was found.", "导入所发现的内容前不询问。")
)
def command_import(
    session: Session, paths: tuple[str, ...], source: str, project: str, dry_run: bool, yes: bool
) -> None:
    catmem = session.catmem
    missing = [path or '""' for path in paths if not path or not Path(path).exists()]
    if missing:
        raise NotFound(
            f"there is no {', '.join(missing)}; nothing was imported", f"没有 {'、'.join(missing)}；未导入任何内容"
        )
    before = _memories(catmem)
    with _Bar(session) as bar:

        def importer_for(dry_run: bool) -> Importer:
            return Importer(
                catmem.history,
                project_of=lambda cwd: catmem.project_of(cwd).key,
                project=project,
                dry_run=dry_run,
                take_export=lambda path: take_export(path, catmem.history, catmem.store, catmem.projects),
                progress=bar.show,
            )

        found = [] if paths else find(session, source, lambda: importer_for(True))
    if not paths:
        show(session, found)
        if not dry_run and not yes and total(found).messages_new:
            ask(session, found)
    with _Bar(session) as bar:
        importer = importer_for(dry_run)
        report = importer.report
        if paths:
            report = importer.run([Path(path) for path in paths], source)
        elif dry_run:
            report = total(found)  # counted already
        else:
            for one in found:
                report = importer.run(one.paths, one.client)
    if not dry_run:
        catmem.history.write_index()
        catmem.index.catch_up(catmem.store, catmem.history)
    session.result(report.record() | ({} if paths else {"found": [one.record() for one in found]}))
    memories = _memories(catmem) - before
    if report.failed and not (report.messages_new or report.messages_known or memories):
        # The first reason is in the error; the others stand before it.
        _print_problems(session, report.problems[1:] if not session.as_json else ())
        report.raise_if_nothing()
    if not session.as_json:
        if paths or found:
            _print(session, report, dry_run, memories)
        if report.messages_new and not dry_run:
            tell_drives(session, catmem.history.headers())
        if dry_run and report.messages_new:
            tell_cost(session, report.tokens)


def _memories(catmem: Catmem) -> int:
    catmem.store.catch_up()
    return sum(count for name, count in catmem.store.counts().items() if ":" not in name)


def _print(session: Session, report: ImportReport, dry_run: bool, memories: int) -> None:
    new, known = report.messages_new, report.messages_known
    if not report.sessions and not memories:
        session.say("no conversation was found there", "没有找到对话记录")
    else:
        session.say(
            f"{counted(report.sessions, 'session')}: {counted(new, 'message')} {'would be ' if dry_run else ''}new, "
            f"{known} known already",
            f"{report.sessions} 个会话：{'将' if dry_run else ''}新增 {new} 条消息，{known} 条已存在",
        )
    unfiled = sum(1 for ref in report.touched if ref.project == UNFILED)
    if unfiled and new and not dry_run:
        session.say(
            f"{counted(unfiled, 'session')} of no folder: in the project `{UNFILED}` (--project P chooses another)",
            f"{unfiled} 个会话没有所属文件夹：归入项目 `{UNFILED}`（可用 --project P 另选）",
        )
    if memories:
        session.say(f"{counted(memories, 'memory', 'memories')} new", f"新增 {memories} 条记忆")
    if report.pure:
        session.say(
            f"{counted(report.pure, 'session')} held in pure mode left out; `mem sessions keep KEY` keeps one",
            f"略过 {report.pure} 个纯净模式会话；`mem sessions keep KEY` 可保留其中一个",
        )
    _print_problems(session, report.problems)
    if new and not dry_run:
        session.say(
            "`mem work` distils them now; otherwise it happens by itself", "`mem work` 可立即提炼；否则稍后自动进行"
        )


def _print_problems(session: Session, problems: Sequence[Problem]) -> None:
    for problem in problems[:SHOWN_PROBLEMS]:
        where = f"{problem.file}:{problem.line}" if problem.line else problem.file
        session.note(f"! {where}: {problem.said('en')}", f"! {where}：{problem.said('zh')}")
    more = len(problems) - SHOWN_PROBLEMS
    if more > 0:
        session.note(f"! and {more} more (--json lists all)", f"! 另有 {more} 处（--json 可列出全部）")


class _Bar:
    """A progress bar on stderr, for a person at a terminal."""

    def __init__(self, session: Session) -> None:
        self._wanted = sys.stderr.isatty() and not session.as_json

    def __enter__(self) -> _Bar:
        if self._wanted:
            from rich.console import Console
            from rich.progress import Progress

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("", total=None)
            self._progress.start()
        return self

    def show(self, path: Path, done: int, total: int) -> None:
        if self._wanted:
            self._progress.update(self._task, description=path.name[:40], completed=done, total=total)

    def __exit__(self, *exception: object) -> None:
        if self._wanted:
            self._progress.stop()
