"""`mem install` and `mem uninstall`: the configuration of assistants, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from catmem.cli.output import Session, complain, mem_command, two
from catmem.clients.hosts import INSTALLABLE, NAMES, Host, hosts
from catmem.domain.errors import BadInput, CatmemError, NotConfirmed, NotFound
from catmem.settings.config import create_config

_CLIENT = click.argument("client", type=click.Choice(INSTALLABLE), metavar=two("[CLIENT]", "[助手]"), required=False)
_CONFIG_DIR = click.option(
    "--config-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help=two("The assistant's configuration folder (default: its own).", "助手的配置文件夹（默认为其自身的）。"),
)
_PLUGIN_DIR = click.option(
    "--plugin-dir",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help=two("Write a plugin into this folder instead (Claude Code).", "改为把插件写入此文件夹（Claude Code）。"),
)
_YES = click.option("--yes", is_flag=True, help=two("Do not ask.", "不询问。"))

# What a person has to do himself before an assistant remembers.
_NEXT = {
    "codex": (
        "Codex runs a new hook only after you trust it: start codex, type /hooks and trust those of catmem",
        "Codex 只运行你信任过的钩子：启动 codex，输入 /hooks，信任 catmem 的钩子",
    ),
}


@mem_command(
    "install",
    "Connect an assistant to the memory, or all that are found.",
    "把助手接入记忆；不指定则接入所有找到的助手。",
)
@_CLIENT
@_CONFIG_DIR
@_PLUGIN_DIR
@_YES
def command_install(
    session: Session, client: str | None, config_dir: Path | None, plugin_dir: Path | None, yes: bool
) -> None:
    _check(client, config_dir, plugin_dir)
    create_config(session.catmem.paths)
    _ = session.catmem.settings
    if client:
        changed = session.catmem.installer(client, plugin_dir or config_dir, plugin=bool(plugin_dir)).install()
        session.result(_record(client, changed))
        _say_installed(session, client, changed)
        return
    found = _found()
    _list(session, found)
    if not yes and not session.confirm("Connect them?", "接入它们吗？"):
        raise NotConfirmed("nothing was changed", "未作任何改动")
    _each(session, [host.client for host in found], "install")


@mem_command(
    "uninstall",
    "Disconnect an assistant, or all that are connected.",
    "断开助手；不指定则断开所有已接入的助手。",
)
@_CLIENT
@_CONFIG_DIR
@_PLUGIN_DIR
@_YES
def command_uninstall(
    session: Session, client: str | None, config_dir: Path | None, plugin_dir: Path | None, yes: bool
) -> None:
    _check(client, config_dir, plugin_dir)
    if client:
        changed = session.catmem.installer(client, plugin_dir or config_dir, plugin=bool(plugin_dir)).uninstall()
        session.result(_record(client, changed))
        _say_uninstalled(session, client, changed)
        return
    connected = [name for name in INSTALLABLE if session.catmem.installer(name).is_known()]
    if not connected:
        session.result({"clients": []})
        session.note("no assistant is connected", "没有已接入的助手")
        return
    names = ", ".join(NAMES[name] for name in connected)
    if not yes and not session.confirm(f"Disconnect {names}?", f"断开 {names}？"):
        raise NotConfirmed("nothing was changed", "未作任何改动")
    _each(session, connected, "uninstall")


def _check(client: str | None, config_dir: Path | None, plugin_dir: Path | None) -> None:
    if (config_dir or plugin_dir) and not client:
        raise BadInput("name the assistant that the folder belongs to", "请指明该文件夹属于哪个助手")
    if config_dir and plugin_dir:
        raise BadInput("--config-dir and --plugin-dir exclude each other", "--config-dir 与 --plugin-dir 不能同时使用")


def _found() -> list[Host]:
    found = hosts()
    if not found:
        names = ", ".join(INSTALLABLE)
        raise NotFound(
            f"no assistant was found on this machine; name one: mem install CLIENT ({names})",
            f"本机上没有找到助手；请指明一个：mem install CLIENT（{names}）",
        )
    return found


def _list(session: Session, found: Sequence[Host]) -> None:
    session.say("found on this machine:", "本机上找到：")
    for host in found:
        session.say(f"  {NAMES[host.client]} ({host.sign})", f"  {NAMES[host.client]}（{host.sign}）")


def _each(session: Session, clients: Sequence[str], what: str) -> None:
    """One that cannot be done keeps no other from it; the first such error is the command's."""
    records: list[dict[str, Any]] = []
    failed: list[CatmemError] = []
    for client in clients:
        try:
            changed = getattr(session.catmem.installer(client), what)()
        except CatmemError as error:
            failed.append(error)
            continue
        records.append(_record(client, changed))
        (_say_installed if what == "install" else _say_uninstalled)(session, client, changed)
    session.result({"clients": records})
    for other in failed[1:]:
        complain(other, session.language)
    if failed:
        raise failed[0]


def _record(client: str, changed: Sequence[str]) -> dict[str, Any]:
    """`file` is the first of the `files` that were changed, "" if none was."""
    return {"client": client, "file": next(iter(changed), ""), "files": list(changed), "changed": bool(changed)}


def _say_installed(session: Session, client: str, changed: Sequence[str]) -> None:
    if session.as_json:
        return
    name, files = NAMES[client], ", ".join(changed)
    if not changed:
        session.say(f"{name} was connected already", f"{name} 此前已接入")
        return
    session.say(
        f"{name} is connected ({files}). Its next session is remembered; `mem uninstall {client}` undoes it.",
        f"{name} 已接入（{files}）。从下一个会话起开始记忆；`mem uninstall {client}` 可撤销。",
    )
    if client in _NEXT:
        session.say(*_NEXT[client])


def _say_uninstalled(session: Session, client: str, changed: Sequence[str]) -> None:
    if session.as_json:
        return
    name, files = NAMES[client], ", ".join(changed)
    if changed:
        session.say(f"{name} is disconnected ({files}); the memory stays", f"{name} 已断开（{files}）；记忆保留")
    else:
        session.say(f"{name} was not connected", f"{name} 并未接入")
