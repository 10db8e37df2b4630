"""`mem import PATH…`"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from catmem.capture.exchange import take_export
from catmem.capture.importing import FORMATS, Importer, ImportReport
from catmem.cli.output import Session, mem_command, two

# Problems shown to a person; `--json` lists them all.
SHOWN_PROBLEMS = 10


@mem_command("import", "Bring in conversations or an export.", "导入对话记录或导出文件。")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "source",
    type=click.Choice(("auto", *FORMATS)),
    default="auto",
    show_default=True,
    help=two("What the files are.", "文件的来源格式。"),
)
@click.option("--project", default="", help=two("Put everything into this project.", "全部归入该项目。"))
@click.option("--dry-run", is_flag=True, help=two("Only count.", "只统计，不写入。"))
def command_import(session: Session, paths: tuple[Path, ...], source: str, project: str, dry_run: bool) -> None:
    catmem = session.catmem
    with _Bar(session) as bar:
        importer = Importer(
            catmem.history,
            project_of=lambda cwd: catmem.project_of(cwd).key,
            project=project,
            dry_run=dry_run,
            take_export=lambda path: take_export(path, catmem.history, catmem.store),
            progress=bar.show,
        )
        report = importer.run(paths, source)
    if not dry_run:
        catmem.history.write_index()
        catmem.index.catch_up(catmem.store, catmem.history)
    session.result(report.record())
    if not session.as_json:
        _print(session, report, dry_run)
    report.raise_if_nothing()


def _print(session: Session, report: ImportReport, dry_run: bool) -> None:
    new, known, sessions = report.messages_new, report.messages_known, report.sessions
    session.say(
        f"{sessions} sessions: {new} messages {'would be ' if dry_run else ''}new, {known} known already",
        f"{sessions} 个会话：{'将' if dry_run else ''}新增 {new} 条消息，{known} 条已存在",
    )
    for problem in report.problems[:SHOWN_PROBLEMS]:
        where = f"{problem.file}:{problem.line}" if problem.line else problem.file
        session.note(f"! {where}: {problem.said('en')}", f"! {where}：{problem.said('zh')}")
    if len(report.problems) > SHOWN_PROBLEMS:
        more = len(report.problems) - SHOWN_PROBLEMS
        session.note(f"! and {more} more (--json lists all)", f"! 另有 {more} 处（--json 可列出全部）")
    if new and not dry_run:
        session.say(
            "`mem work` distils them now; otherwise it happens by itself", "`mem work` 可立即提炼；否则稍后自动进行"
        )


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
