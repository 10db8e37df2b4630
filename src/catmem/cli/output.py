"""How commands speak: one JSON object on stdout with `--json`, else text in the user's language; messages on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from catmem.settings.language import language_of
from catmem.settings.paths import default_root
from catmem.text.encoding import printable
from catmem.wiring import Catmem


def two(en: str, zh: str) -> str:
    """A help text in the language of the locale."""
    return zh if language_of("auto") == "zh" else en


class Session:
    """What a command works with: the assembled catmem, and a voice."""

    def __init__(self, root: Path, as_json: bool) -> None:
        self.catmem = Catmem(root)
        self.as_json = as_json

    def say(self, en: str, zh: str) -> None:
        """A line for the person: on stdout, or on stderr where stdout belongs to JSON."""
        text = zh if self.catmem.language == "zh" else en
        click.echo(printable(text), err=self.as_json)

    def note(self, en: str, zh: str) -> None:
        """A remark beside the result, always on stderr."""
        click.echo(printable(zh if self.catmem.language == "zh" else en), err=True)

    def result(self, value: dict[str, Any]) -> None:
        """The JSON object of a command, printed with `--json` only."""
        if self.as_json:
            sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def confirm(self, en: str, zh: str) -> bool:
        return click.confirm(zh if self.catmem.language == "zh" else en, default=False, err=self.as_json)


def mem_command(name: str, en: str, zh: str) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand that takes `--dir` and `--json` and is handed a Session first."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @click.pass_context
        def run(context: click.Context, /, dir: Path | None, as_json: bool, **arguments: Any) -> None:
            inherited: dict[str, Any] = context.obj or {}
            root = dir or inherited.get("dir") or default_root()
            session = Session(Path(root).expanduser(), as_json or bool(inherited.get("as_json")))
            try:
                function(session, **arguments)
            finally:
                session.catmem.close()

        # Options that the decorators below attached to the function belong to the command.
        run.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        made = click.command(name, help=two(en, zh), short_help=two(en, zh).split("\n")[0])(with_common(run))
        assert isinstance(made, click.Command)
        return made

    return decorate


def with_common(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option(
        "--json", "as_json", is_flag=True, help=two("Print one JSON object.", "输出一个 JSON 对象。")
    )(function)
    return click.option(
        "--dir",
        type=click.Path(path_type=Path, file_okay=False),
        help=two(
            "The data directory (default ~/.catmem, or CATMEM_DIR).", "数据目录（默认 ~/.catmem 或 CATMEM_DIR）。"
        ),
    )(function)
