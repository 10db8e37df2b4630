"""`mem config get|set`"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

from catmem.cli.output import Session, mem_command, mem_group
from catmem.cli.usage import Group
from catmem.settings.config import set_setting
from catmem.settings.schema import SETTINGS, read_setting

command = mem_group("config", Group, "Read or change a setting.", "读取或修改设置。")


@mem_command("get", "One setting, or all of them.", "查看一个或全部设置。")
@click.argument("name", required=False)
def get(session: Session, name: str | None) -> None:
    values: dict[str, Any] = dataclasses.asdict(session.catmem.settings)
    if name is not None:
        whole, _, part = name.partition(".")
        found = values.get(whole)
        if part:
            found = found.get(part) if isinstance(found, dict) else None
        if whole not in values or found is None:
            read_setting(name, None)  # raises, and lists the names that there are
        session.result({name: found})
        if not session.as_json:
            value = json.dumps(found, ensure_ascii=False)
            session.say(value, value)
        return
    session.result(values)
    for setting in [] if session.as_json else SETTINGS:
        value = json.dumps(values[setting.name], ensure_ascii=False)
        session.say(f"{setting.name}: {value}    # {setting.en}", f"{setting.name}: {value}    # {setting.zh}")


@mem_command("set", "Change a setting; comments in config.yaml are kept.", "修改设置；config.yaml 中的注释会保留。")
@click.argument("name")
@click.argument("value")
def set(session: Session, name: str, value: str) -> None:
    typed = set_setting(session.catmem.paths, name, value)
    session.result({name: typed})
    if not session.as_json:
        shown = json.dumps(typed, ensure_ascii=False)
        session.say(f"{name} is now {shown}", f"{name} 现在是 {shown}")


set.context_settings["ignore_unknown_options"] = True  # A value may be negative.
command.add_command(get)
command.add_command(set)
