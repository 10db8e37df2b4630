"""How the command line explains itself: help and usage errors in the user's language, in our own sentences."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import click

from catmem.domain.errors import BadInput
from catmem.settings.language import language_of

# What arguments are called in Chinese; in English they are called as they are.
_ARGUMENTS = {
    "key": "键",
    "id": "编号",
    "name": "名称",
    "value": "值",
    "file": "文件",
    "client": "助手",
    "event": "事件",
    "into": "目标键",
}


def two(en: str, zh: str) -> str:
    """A help text in the language of the locale."""
    return zh if language_of("auto") == "zh" else en


class _Formatter(click.HelpFormatter):
    def write_heading(self, heading: str) -> None:
        self.write(f"{'':>{self.current_indent}}{heading}{two(':', '：')}\n")


class _Context(click.Context):
    formatter_class = _Formatter


class _Explained(click.Command):
    """What commands and groups share: headings and usage in both languages, and no word too many."""

    context_class = _Context

    def __init__(self, *arguments: Any, **named: Any) -> None:
        named.setdefault("options_metavar", two("[OPTIONS]", "[选项]"))
        named["context_settings"] = {"help_option_names": ["-h", "--help"]}
        super().__init__(*arguments, **named)
        for argument in self.params:
            if isinstance(argument, click.Argument) and argument.metavar is None:
                name = two((argument.name or "").upper(), _ARGUMENTS[argument.name or ""])
                argument.metavar = name if argument.required else f"[{name}]"

    def format_usage(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        pieces = " ".join(self.collect_usage_pieces(context))
        formatter.write_usage(context.command_path, pieces, prefix=two("Usage: ", "用法："))

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        options = [parameter for parameter in self.get_params(context) if isinstance(parameter, click.Option)]
        rows = [row for option in options if (row := option.get_help_record(context))]
        with formatter.section(two("Options", "选项")):
            formatter.write_dl(rows)

    def get_help_option(self, context: click.Context) -> click.Option | None:
        option = super().get_help_option(context)
        if option is not None:
            option.help = two("Show this help.", "显示本帮助。")
        return option


class Command(_Explained):
    """A command of ours."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.allow_extra_args = True
        try:
            super().parse_args(context, args)
        except click.UsageError as error:
            error.ctx = error.ctx or context
            raise
        if context.args:
            extra = " ".join(context.args)
            raise BadInput(
                f"`{context.command_path}` does not take {extra!r}; `{context.command_path} --help` explains",
                f"`{context.command_path}` 不接受 {extra!r}；用 `{context.command_path} --help` 查看用法",
            )
        return context.args


class Group(_Explained, click.Group):
    """A command with verbs. Called alone, it explains itself."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        named.setdefault("subcommand_metavar", two("COMMAND …", "命令 …"))
        super().__init__(*arguments, **named)

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(context, args or ["--help"])

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        self.format_commands(context, formatter)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(two("Commands", "命令")):
            formatter.write_dl(list(self.rows(context)))

    def rows(self, context: click.Context) -> Iterable[tuple[str, str]]:
        """Name and purpose of each command."""
        for name in self.list_commands(context):
            found = self.get_command(context, name)
            if found is not None and not found.hidden:
                yield name, found.short_help or ""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            near = difflib.get_close_matches(name, self.list_commands(context), 1)
            path = context.command_path
            raise BadInput(
                f"there is no command {name!r};"
                + (f" did you mean {near[0]}?" if near else f" `{path} --help` lists them"),
                f"没有命令 {name!r}；" + (f"是否想用 {near[0]}？" if near else f"用 `{path} --help` 查看全部命令"),
            )
        return super().resolve_command(context, args)


def explained(error: click.UsageError) -> BadInput:
    """A usage error of the library's as one of ours, in both languages."""
    path = error.ctx.command_path if error.ctx else "mem"
    en, zh = _reason(error)
    return BadInput(f"{en}; `{path} --help` explains", f"{zh}；用 `{path} --help` 查看用法")


def _reason(error: click.UsageError) -> tuple[str, str]:
    if isinstance(error, click.NoSuchOption):
        near = (error.possibilities or [""])[0]
        return (
            f"there is no option {error.option_name}" + (f" (did you mean {near}?)" if near else ""),
            f"没有选项 {error.option_name}" + (f"（是否想用 {near}？）" if near else ""),
        )
    if isinstance(error, click.BadOptionUsage):
        return f"{error.option_name} needs a value", f"{error.option_name} 需要一个值"
    if isinstance(error, click.BadParameter) and error.param is not None:
        parameter = error.param
        name = (
            parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name.strip("[]{}.")
        )
        if isinstance(error, click.MissingParameter):
            return f"{name} is missing", f"缺少 {name}"
        en, zh = _takes(parameter.type, error.message)
        return f"{name} {en}", f"{name} {zh}"
    return error.format_message().rstrip("."), error.format_message().rstrip(".")


def _takes(kind: click.ParamType[Any], otherwise: str) -> tuple[str, str]:
    if isinstance(kind, click.Choice):
        choices = ", ".join(map(str, kind.choices))
        return f"takes one of: {choices}", f"只能是：{choices}"
    if isinstance(kind, click.IntRange):
        if kind.max is None:
            return f"takes a whole number from {kind.min} on", f"只能是不小于 {kind.min} 的整数"
        return f"takes a whole number from {kind.min} to {kind.max}", f"只能是 {kind.min} 到 {kind.max} 的整数"
    if isinstance(kind, click.Path) and not kind.file_okay:
        return "must be a folder", "必须是文件夹"
    if isinstance(kind, click.Path) and not kind.dir_okay:
        return "must be a file", "不能是文件夹"
    return f"cannot be used: {otherwise}", f"无法使用：{otherwise}"
