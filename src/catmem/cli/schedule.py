"""`mem schedule install|remove`: background work from the operating system's scheduler, for who wants that."""

from __future__ import annotations

from collections.abc import Callable

import click

from catmem.cli.output import Session, mem_command, mem_group
from catmem.cli.scheduler import INTERVAL_MINUTES, scheduler
from catmem.cli.usage import Group, two

command = mem_group(
    "schedule",
    Group,
    "Let the system do background work now and then; nothing does by itself.",
    "让系统定时处理后台工作；默认不会自行启用。",
)
_WITH: Callable[[Callable[..., None]], Callable[..., None]] = click.option(
    "--with",
    "kind",
    type=click.Choice(("auto", "systemd", "launchd", "cron")),
    default="auto",
    help=two("Which scheduler (default: what this system has).", "使用哪种调度器（默认为本系统所具备的）。"),
)


@mem_command("install", "Have `mem work` run every half hour.", "每半小时运行一次 `mem work`。")
@_WITH
def install(session: Session, kind: str) -> None:
    _ = session.catmem.settings
    changed = scheduler(kind, session.catmem.paths).install()
    session.result({"changed": changed})
    if session.as_json:
        return
    if changed:
        places = ", ".join(changed)
        session.say(
            f"background work runs every {INTERVAL_MINUTES} minutes ({places}); `mem schedule remove` undoes it",
            f"每 {INTERVAL_MINUTES} 分钟处理一次后台工作（{places}）；`mem schedule remove` 可撤销",
        )
    else:
        session.say("it was scheduled already", "此前已安排")


@mem_command("remove", "Undo `mem schedule install`.", "撤销 `mem schedule install`。")
@_WITH
def remove(session: Session, kind: str) -> None:
    changed = scheduler(kind, session.catmem.paths).remove()
    session.result({"changed": changed})
    if session.as_json:
        return
    if changed:
        places = ", ".join(changed)
        session.say(f"no longer scheduled ({places})", f"已取消定时（{places}）")
    else:
        session.say("it was not scheduled", "此前没有安排")


command.add_command(install)
command.add_command(remove)
