"""`mem brief`"""

from __future__ import annotations

import os

import click

from catmem.cli.output import Session, counted, mem_command, two


@mem_command("brief", "Show what the next session would be told.", "显示下一个会话会看到的简报。")
@click.option(
    "--cwd",
    type=click.Path(),
    metavar="DIR",
    help=two("The folder of the session (default: here).", "会话所在文件夹（默认当前）。"),
)
@click.option("--project", metavar="P", help=two("The project instead of a folder.", "直接指定项目。"))
@click.option("--prompt", metavar="TEXT", help=two("What the session begins with.", "会话的开头要说的话。"))
def command(session: Session, cwd: str | None, project: str | None, prompt: str | None) -> None:
    catmem = session.catmem
    key = project if project is not None else catmem.project_of(cwd or os.getcwd()).key
    catmem.index.catch_up(catmem.store, catmem.history)
    brief = catmem.briefer.brief(key, prompt)
    session.result({"text": brief.text, "tokens": brief.tokens, "bytes": brief.bytes, "items": list(brief.items)})
    if not session.as_json:
        if brief.text:
            session.say(brief.text, brief.text)
        session.note(
            f"{counted(len(brief.items), 'memory', 'memories')}, about {brief.tokens} tokens",
            f"{len(brief.items)} 条记忆，约 {brief.tokens} 个 token",
        )
