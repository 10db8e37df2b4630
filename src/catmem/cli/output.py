"""How commands speak: one JSON object on stdout with `--json`, else text in the user's language; messages on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from catmem.cli.usage import Command
from catmem.cli.usage import two as two
from catmem.domain.errors import CatmemError, NotConfirmed, StorageFailed
from catmem.settings.language import language_of
from catmem.settings.paths import default_root
from catmem.text.encoding import printable
from catmem.wiring import Catmem


class Session:
    """What a command works with: the assembled catmem, and a voice."""

    def __init__(self, root: Path, as_json: bool) -> None:
        self.catmem = Catmem(root)
        self.as_json = as_json

    @property
    def language(self) -> str:
        """The user's, even where config.yaml cannot be read: that must be said, too."""
        try:
            return self.catmem.language
        except CatmemError:
            return language_of("auto")

    def say(self, en: str, zh: str) -> None:
        """A line for the person: on stdout, or on stderr where stdout belongs to JSON."""
        write(printable(self._chosen(en, zh)) + "\n", err=self.as_json)

    def note(self, en: str, zh: str) -> None:
        """A remark beside the result, always on stderr."""
        write(printable(self._chosen(en, zh)) + "\n", err=True)

    def result(self, value: dict[str, Any]) -> None:
        """The JSON object of a command, printed with `--json` only."""
        if self.as_json:
            write(json_text(value) + "\n")

    def confirm(self, en: str, zh: str) -> bool:
        """Asks; only a yes is one. Raises NotConfirmed where there is nobody to ask."""
        write(f"{printable(self._chosen(en, zh))} [y/N] ", err=self.as_json)
        answer = sys.stdin.readline()
        if not sys.stdin.isatty() or not answer.endswith("\n"):
            write("\n", err=self.as_json)  # No key was pressed that would have ended the line of the question.
        if not answer:
            raise NotConfirmed(
                "there is nobody to ask, so nothing was changed; add --yes", "无法询问，未作任何改动；请加 --yes"
            )
        return answer.strip().lower() in ("y", "yes", "是", "好")

    def _chosen(self, en: str, zh: str) -> str:
        return zh if self.language == "zh" else en


def write(text: str, *, err: bool = False) -> None:
    """Text to stdout or stderr, at once. Raises BrokenPipeError if the reader has left, StorageFailed for a full disk."""
    stream = sys.stderr if err else sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageFailed(f"cannot write the output: {error.strerror}", f"无法写出结果：{error.strerror}") from error


def json_text(value: dict[str, Any], indent: int | None = None) -> str:
    """JSON that stdout can hold: as it is in UTF-8, escaped for a terminal of another encoding."""
    return json.dumps(value, ensure_ascii=(sys.stdout.encoding or "").lower() not in ("utf-8", "utf8"), indent=indent)


def complain(error: CatmemError, language: str) -> None:
    """One error as one sentence on stderr."""
    write(f"mem: {printable(' '.join(error.said(language).split()))}\n", err=True)


def counted(count: int, one: str, many: str = "") -> str:
    """`1 session`, `2 sessions`; `many` where it is not `one` with an s."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def local_minute(instant: str) -> str:
    """A stamp in the user's own zone, to the minute: `2026-05-31 14:05`."""
    return datetime.fromisoformat(instant.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")


def mem_command(name: str, en: str, zh: str) -> Callable[[Callable[..., None]], click.Command]:
    """A subcommand that takes `--dir` and `--json` and is handed a Session first; its `--project` takes names, too."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @click.pass_context
        def run(context: click.Context, /, dir: Path | None, as_json: bool, **arguments: Any) -> None:
            inherited: dict[str, Any] = context.obj or {}
            root = dir or inherited.get("dir") or default_root()
            session = Session(Path(root).expanduser(), as_json or bool(inherited.get("as_json")))
            try:
                if arguments.get("project"):
                    arguments["project"] = session.catmem.projects.meant(arguments["project"])
                function(session, **arguments)
            except CatmemError as error:
                # Said here, where the setting `language` is known.
                complain(error, session.language)
                raise click.exceptions.Exit(error.exit_code) from error
            finally:
                session.catmem.close()

        # Options that the decorators below attached to the function belong to the command.
        run.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        made = click.command(name, cls=Command, help=two(en, zh), short_help=two(en, zh))(with_common(run))
        assert isinstance(made, click.Command)
        return made

    return decorate


def with_common(function: Callable[..., None]) -> Callable[..., None]:
    """The two options that every command takes, before its name or after."""
    function = click.option(
        "--json", "as_json", is_flag=True, help=two("Print one JSON object.", "输出一个 JSON 对象。")
    )(function)
    return click.option(
        "--dir",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help=two(
            "The data directory (default ~/.catmem, or CATMEM_DIR).", "数据目录（默认 ~/.catmem 或 CATMEM_DIR）。"
        ),
    )(function)


def mem_group(name: str, cls: type[click.Group], en: str, zh: str) -> click.Group:
    """A command with verbs of its own; what it is told of `--dir` and `--json` they hear, too."""

    @click.pass_context
    def run(context: click.Context, /, dir: Path | None, as_json: bool) -> None:
        inherited: dict[str, Any] = context.obj or {}
        context.obj = {
            "dir": dir or inherited.get("dir"),
            "as_json": as_json or bool(inherited.get("as_json")),
        }

    made = click.command(name, cls=cls, help=two(en, zh), short_help=two(en, zh))(with_common(run))
    assert isinstance(made, click.Group)
    return made
