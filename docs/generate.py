"""Writes reference.md and reference.zh.md: commands, settings and exit codes, as the code has them.

`--check` writes nothing, and fails if a page is out of date (`make check` runs it).
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

PAGES = {"en": "reference.md", "zh": "reference.zh.md"}

TEXTS = {
    "en": {
        "title": "Reference",
        "note": "Written by `docs/generate.py` from the code; do not edit. "
        "Every command takes `--dir` and `--json` (see the top of `mem --help`).",
        "commands": "Commands",
        "option": ("option", "default", "meaning"),
        "settings": "Settings",
        "settings_note": "In `config.yaml` of the data directory, or with `mem config set NAME VALUE`.",
        "setting": ("name", "default", "takes", "meaning"),
        "codes": "Exit codes",
        "code": ("code", "name", "when"),
    },
    "zh": {
        "title": "参考",
        "note": "由 `docs/generate.py` 从代码生成，请勿手改。"
        "每条命令都接受 `--dir` 和 `--json`（见 `mem --help` 开头）。",
        "commands": "命令",
        "option": ("选项", "默认值", "含义"),
        "settings": "设置",
        "settings_note": "写在数据目录的 `config.yaml` 里，或用 `mem config set 名称 值`。",
        "setting": ("名称", "默认值", "可取值", "含义"),
        "codes": "退出码",
        "code": ("退出码", "名称", "何时出现"),
    },
}

# An error's English is its docstring; its Chinese stands here, and a class without one stops the generator.
ERRORS_IN_CHINESE = {
    "CatmemError": "catmem 自身的故障。",
    "BadInput": "命令行、输入内容或文件无法理解。",
    "SettingsInvalid": "config.yaml 里有不能使用的值。",
    "NotFound": "没有这个名字的会话、记忆、项目或文件。",
    "VersionConflict": "记忆在读取之后、写入之前被改动；请重新读取再试。",
    "LockBusy": "另一个进程占用锁的时间超过了等待上限。",
    "DataDamaged": "我们的某个文件无法完整读取；`mem doctor` 会指出位置。",
    "StorageFailed": "磁盘拒绝读写。",
    "SchemaTooNew": "数据目录由更新版本的 catmem 写成。",
    "ImportFailed": "给定的文件里没有一条记录可以导入。",
    "ModelFailed": "配置的模型无法连接，或没有给出可用的结果。",
    "NotConfirmed": "破坏性命令被拒绝，或无法询问。",
}
OTHER_CODES = {
    "en": (
        (0, "", "Done."),
        (1, "", "`mem doctor` found something, or `mem models check` no model that works."),
        (130, "", "Stopped with Ctrl-C; nothing was lost."),
    ),
    "zh": (
        (0, "", "完成。"),
        (1, "", "`mem doctor` 有发现，或 `mem models check` 没有找到可用的模型。"),
        (130, "", "被 Ctrl-C 停止；没有丢失任何内容。"),
    ),
}


def page(language: str) -> str:
    """The whole page. The locale must already be of that language, since help texts are chosen as they are loaded."""
    texts = TEXTS[language]
    parts = [
        f"# {texts['title']}",
        str(texts["note"]),
        f"## {texts['commands']}",
        *_commands(texts["option"]),
        f"## {texts['settings']}",
        str(texts["settings_note"]),
        _table(texts["setting"], _settings(language)),
        f"## {texts['codes']}",
        _table(texts["code"], _exit_codes(language)),
    ]
    return "\n\n".join(parts) + "\n"


def _commands(heading: Iterable[str]) -> Iterator[str]:
    from catmem.cli.app import app

    def described(command: click.Command, path: str, parent: click.Context | None) -> Iterator[str]:
        context = click.Context(command, info_name=path.rpartition(" ")[2], parent=parent)
        if isinstance(command, click.Group):
            if parent is not None:
                yield f"### `{path}`"
                yield command.help or ""
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None, f"{path} {name} is listed and cannot be loaded"
                yield from described(found, f"{path} {name}", context)
            return
        yield f"### `{path}`" if parent is None or parent.parent is None else f"#### `{path}`"
        yield command.help or ""
        yield f"    {path} {' '.join(command.collect_usage_pieces(context))}"
        options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
        rows = [_option(option) for option in options if option.name not in ("dir", "as_json")]
        if rows:
            yield _table(heading, rows)

    yield from described(app, "mem", None)


def _option(option: click.Option) -> tuple[str, str, str]:
    names = "/".join([*option.opts, *option.secondary_opts])
    takes = "" if option.is_flag else " " + option.make_metavar(click.Context(click.Command("mem")))
    shown = option.default if isinstance(option.default, str | int | float) else None
    default = "" if option.is_flag or shown is None else f"`{shown}`"
    return f"`{names}{takes}`", default, option.help or ""


def _settings(language: str) -> Iterator[tuple[str, ...]]:
    from catmem.settings.schema import SETTINGS, Settings

    values = dataclasses.asdict(Settings())
    for setting in SETTINGS:
        default = json.dumps(values[setting.name], ensure_ascii=False)
        yield f"`{setting.name}`", f"`{default}`", setting.takes, setting.zh if language == "zh" else setting.en


def _exit_codes(language: str) -> list[tuple[str, str, str]]:
    from catmem.domain import errors

    rows = list(OTHER_CODES[language])
    kinds: list[type[errors.CatmemError]] = [errors.CatmemError, *errors.CatmemError.__subclasses__()]
    for kind in (kind for kind in kinds if kind.__module__ == errors.__name__):
        meaning = ERRORS_IN_CHINESE[kind.__name__] if language == "zh" else (kind.__doc__ or "").strip()
        rows.append((kind.exit_code, f"`{kind.__name__}`", meaning))
    return [(str(code), name, meaning) for code, name, meaning in sorted(rows)]


def _table(heading: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(heading)]
    lines += [
        ("---",) * len(lines[0]),
        *(tuple(cell.replace("|", "\\|").replace("\n", " ") for cell in row) for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--print"]:
        print(page(arguments[1]), end="")
        return 0
    stale = []
    for language, name in PAGES.items():
        environment = {**os.environ, "LC_ALL": {"en": "C.UTF-8", "zh": "zh_CN.UTF-8"}[language], "PYTHONUTF8": "1"}
        printed = [sys.executable, __file__, "--print", language]
        text = subprocess.run(printed, env=environment, capture_output=True, check=False, encoding="utf-8")
        if text.returncode:
            print(text.stderr, file=sys.stderr)
            return 1
        target = Path(__file__).with_name(name)
        if target.exists() and target.read_text("utf-8") == text.stdout:
            continue
        stale.append(name)
        if "--check" not in arguments:
            target.write_text(text.stdout, "utf-8")
            print(f"wrote docs/{name}")
    if stale and "--check" in arguments:
        print(f"out of date: {', '.join(stale)}; run docs/generate.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
