"""config.yaml: read, created with comments, changed without losing what a hand wrote into it."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode

from catmem.domain.errors import SettingsInvalid, StorageFailed
from catmem.settings import snapshot
from catmem.settings.paths import Paths, write_private
from catmem.settings.schema import SETTINGS, Settings, read_setting, settings_of
from catmem.text.faults import yaml_fault_zh


def load_settings(paths: Paths) -> Settings:
    """The settings of a data directory; defaults where config.yaml is missing or silent.

    Raises SettingsInvalid if the file cannot be used. Keeps the snapshot for the hooks fresh.
    """
    # Taken before reading: an edit made meanwhile must leave the snapshot stale, not wrong.
    source = snapshot.source_of(paths)
    settings = settings_of(_parsed(_text(paths.config), paths.config))
    if paths.run.is_dir():
        snapshot.write(paths, dataclasses.asdict(settings), source)
    return settings


def create_config(paths: Paths) -> bool:
    """Writes a commented config.yaml with the defaults, all commented out. False if there is one already."""
    if paths.config.exists():
        return False
    paths.make(paths.root)
    _write(paths.config, default_text())
    return True


def default_text() -> str:
    """What a new config.yaml says: each setting with its meaning and default, commented out."""
    lines = [
        "# catmem settings. Remove the # before a line to change its value, or use `mem config set NAME VALUE`.",
        "# catmem 的设置。去掉行首的 # 即可修改，也可以用 `mem config set 名称 值`。",
        "",
    ]
    for setting in SETTINGS:
        default = json.dumps(getattr(Settings(), setting.name), ensure_ascii=False)
        lines += [f"# {setting.en}", f"# {setting.zh}", f"# {setting.name}: {default}", ""]
    return "\n".join(lines)


def set_setting(paths: Paths, name: str, text: str) -> Any:
    """Changes one setting and no other byte of the file. `text` is YAML (`15`, `[a, b]`). Returns the typed value.

    A BOM goes: an editor of Windows wrote it, and other readers of YAML stumble over it.
    A part of a setting is named with a dot, as in `compact.idle_minutes`; its other parts stay.
    """
    try:
        value = YAML(typ="safe").load(text) if text.strip() else ""
    except (YAMLError, ValueError, RecursionError) as error:
        raise SettingsInvalid(
            f"{text!r} is not a YAML value: {error}; put it in quotes",
            f"{text!r} 不是 YAML 值：{yaml_fault_zh(error)}；请加引号",
        ) from error
    typed = read_setting(name, value)
    create_config(paths)
    before = _text(paths.config).removeprefix(_BOM)
    whole, _, part = name.partition(".")
    present = _parsed(before, paths.config)
    if part:
        value = {**(present.get(whole) or {}), part: value}
    wanted = {**present, whole: value}
    settings_of(wanted)  # Another value may be wrong; then this one is not written either.
    after = with_setting(before, whole, value)
    if _parsed(after, paths.config) != wanted:
        raise SettingsInvalid(
            f"{paths.config} is written in a way that `mem config set` cannot edit; change {name} in it by hand",
            f"`mem config set` 无法修改 {paths.config} 的这种写法；请手工修改其中的 {name}",
        )
    _write(paths.config, after)
    load_settings(paths)
    return typed


def with_setting(text: str, name: str, value: Any) -> str:
    """The text of a config.yaml with one value changed in its place, and all else as the hand left it.

    A setting that is not there yet comes below its commented default, or at the end.
    """
    line = f"{name}: {_shown(value)}"
    newline = "\r\n" if "\r\n" in text else "\n"
    place = _place(text, name)
    if place is not None:
        return text[: place[0]] + line + text[place[1] :]
    commented = re.search(rf"^#[ \t]?{re.escape(name)}:[^\r\n]*(?:\r?\n|$)", text, re.MULTILINE)
    at = commented.end() if commented else len(text)
    head = text[:at]
    if head and not head.endswith("\n"):
        head += newline
    return head + line + newline + text[at:]


def _place(text: str, name: str) -> tuple[int, int] | None:
    """Where a setting stands in the text: from its name to the end of its value, comments after it not included."""
    node = YAML().compose(text)
    for key, value in node.value if isinstance(node, MappingNode) else ():
        if key.value == name:
            start, end = key.start_mark.index, value.end_mark.index
            return start, start + len(_without_trailing_comments(text[start:end]))
    return None


def _without_trailing_comments(block: str) -> str:
    """A list in lines ends where the next thing begins: the comments between belong to what follows."""
    lines = block.splitlines(keepends=True)
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return "".join(lines).rstrip()


_BOM = "\ufeff"
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9-]*$")


def _shown(value: Any) -> str:
    """A value in one line: JSON is YAML, and a word needs no quotes unless YAML reads it as something else."""
    if isinstance(value, str) and _PLAIN.match(value) and value.lower() not in _NOT_WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)


_NOT_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f"{path} is not UTF-8; save it as UTF-8", f"{path} 不是 UTF-8 编码；请另存为 UTF-8"
        ) from error
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error.strerror}", f"无法读取 {path}：{error.strerror}") from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    try:
        document = YAML(typ="safe", pure=True).load(text.removeprefix(_BOM))
    except (YAMLError, ValueError, RecursionError) as error:
        raise SettingsInvalid(
            f"{path} is not valid YAML; mend it or move it away: {error}",
            f"{path} 不是有效的 YAML；请修正或移走：{yaml_fault_zh(error)}",
        ) from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise SettingsInvalid(f"{path} must be a list of `name: value` lines", f"{path} 必须由 `名称: 值` 的行组成")
    return document


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text.encode())
    except OSError as error:
        raise StorageFailed(f"cannot write {path}: {error.strerror}", f"无法写入 {path}：{error.strerror}") from error
