"""`mem install` and `mem uninstall`: an assistant's configuration, and back again."""

from __future__ import annotations

from pathlib import Path

import click

from catmem.cli.output import Session, mem_command, two
from catmem.clients.catalogue import CLIENTS
from catmem.settings.config import create_config

_INSTALLABLE = tuple(name for name, row in CLIENTS.items() if row["install"])
_CLIENT = click.argument("client", type=click.Choice(_INSTALLABLE), metavar="CLIENT")
_CONFIG_DIR = click.option(
    "--config-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help=two("The assistant's configuration folder (default: its own).", "助手的配置文件夹（默认为其自身的）。"),
)


@mem_command("install", "Connect an assistant to the memory.", "把助手接入记忆。")
@_CLIENT
@_CONFIG_DIR
def command_install(session: Session, client: str, config_dir: Path | None) -> None:
    create_config(session.catmem.paths)
    _ = session.catmem.settings
    changed = session.catmem.installer(client, config_dir).install()
    session.result({"client": client, "file": changed, "changed": bool(changed)})
    if session.as_json:
        return
    if changed:
        session.say(
            f"{client} is connected ({changed}). Its next session is remembered; `mem uninstall {client}` undoes it.",
            f"{client} 已接入（{changed}）。从下一个会话起开始记忆；`mem uninstall {client}` 可撤销。",
        )
    else:
        session.say(f"{client} was connected already", f"{client} 此前已接入")


@mem_command("uninstall", "Disconnect an assistant again.", "断开助手。")
@_CLIENT
@_CONFIG_DIR
def command_uninstall(session: Session, client: str, config_dir: Path | None) -> None:
    changed = session.catmem.installer(client, config_dir).uninstall()
    session.result({"client": client, "file": changed, "changed": bool(changed)})
    if not session.as_json and changed:
        session.say(
            f"{client} is disconnected ({changed}); the memory stays", f"{client} 已断开（{changed}）；记忆保留"
        )
    elif not session.as_json:
        session.say(f"{client} was not connected", f"{client} 并未接入")
