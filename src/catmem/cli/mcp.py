"""`mem mcp`: the memory as tools of an assistant, on stdin and stdout."""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command, two
from catmem.cli.serving import start


@mem_command(
    "mcp",
    "Serve the memory to an assistant as tools (MCP on stdio). The assistant starts it, and it ends with the assistant.",
    "以 MCP 工具的形式（stdio）把记忆提供给助手。由助手启动，随助手结束。",
)
@click.option(
    "--project",
    metavar="P",
    help=two("The project (default: that of the assistant's folder).", "项目（默认为助手所在文件夹的项目）。"),
)
@click.option("--all-projects", is_flag=True, help=two("Look into every project.", "可查看所有项目。"))
def command(session: Session, project: str | None, all_projects: bool) -> None:
    start(session.catmem.paths.root, project, all_projects)
