"""config.yaml: read, created with comments, changed without losing what a hand wrote into it."""

from __future__ import annotations

import dataclasses
import io
import json
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from catmem.domain.errors import SettingsInvalid, StorageFailed
from catmem.settings import snapshot
from catmem.settings.paths import Paths, write_private
from catmem.settings.schema import SETTINGS, Settings, read_setting, settings_of


def load_settings(paths: Paths) -> Settings:
    """The settings of a data directory; defaults where config.yaml is missing or silent.

    Raises SettingsInvalid if the file cannot be used. Keeps the snapshot for the hooks fresh.
    """
    settings = settings_of(dict(_parsed(paths.config)))
    if paths.run.is_dir():
        snapshot.write(paths, dataclasses.asdict(settings))
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
    """Changes one setting, comments and order kept. `text` is YAML (`15`, `[a, b]`). Returns the typed value."""
    value = YAML(typ="safe").load(text) if text.strip() else ""
    typed = read_setting(name, value)
    create_config(paths)
    document = _parsed(paths.config)
    document[name] = value
    if len(document) == 1:
        # The file had comments alone: they stay above the first value.
        _write(paths.config, _text(paths.config).rstrip("\n") + "\n\n" + _dumped(document))
    else:
        _write(paths.config, _dumped(document))
    load_settings(paths)
    return typed


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise SettingsInvalid(
            f"{path} is not UTF-8; save it as UTF-8", f"{path} 不是 UTF-8 编码；请另存为 UTF-8"
        ) from error
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error.strerror}", f"无法读取 {path}：{error.strerror}") from error


def _parsed(path: Path) -> CommentedMap:
    try:
        document = YAML().load(_text(path))
    except YAMLError as error:
        raise SettingsInvalid(
            f"{path} is not valid YAML; mend it or move it away: {error}",
            f"{path} 不是有效的 YAML；请修正或移走：{error}",
        ) from error
    if document is None:
        return CommentedMap()
    if not isinstance(document, CommentedMap):
        raise SettingsInvalid(f"{path} must be a list of `name: value` lines", f"{path} 必须由 `名称: 值` 的行组成")
    return document


def _dumped(document: CommentedMap) -> str:
    buffer = io.StringIO()
    YAML().dump(document, buffer)
    return buffer.getvalue()


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text.encode())
    except OSError as error:
        raise StorageFailed(f"cannot write {path}: {error.strerror}", f"无法写入 {path}：{error.strerror}") from error
