"""`mem import PATH…`"""

from __future__ import annotations

from pathlib import Path

import click

from catmem.capture.importing import FORMATS
from catmem.cli.output import Session, mem_command, two


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
@click.option("--project", help=two("Put everything into this project.", "全部归入该项目。"))
@click.option("--dry-run", is_flag=True, help=two("Only count.", "只统计，不写入。"))
def command_import(session: Session, paths: tuple[Path, ...], source: str, project: str | None, dry_run: bool) -> None:
    pass
