"""The command line: a table of commands, each loaded only when it is called."""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import sys
import traceback
from collections import namedtuple
from pathlib import Path

import click

from catmem import __version__
from catmem.cli.output import complain, with_common
from catmem.cli.usage import Group, explained, two
from catmem.domain.errors import CatmemError, StorageFailed
from catmem.settings.language import language_of

Row = namedtuple("Row", "name en zh")

COMMANDS = (
    Row("init", "Make the data directory and say what to do next.", "建立数据目录，并提示下一步。"),
    Row("start", "Chat with memory in this terminal.", "在终端里开始带记忆的对话。"),
    Row("recall", "Search the memory; --save keeps a text word for word.", "检索记忆；--save 逐字保存一段文字。"),
    Row("brief", "Show what the next session would be told.", "显示下一个会话会看到的简报。"),
    Row("show", "One memory with its history and evidence.", "一条记忆的来龙去脉。"),
    Row("why", "What a session was told from memory, and why.", "某个会话从记忆中得知了什么，为什么。"),
    Row("log", "What changed in the memory, newest first.", "记忆的变更记录，最新在前。"),
    Row("diff", "What became of the memory, old beside new.", "记忆的变化，新旧对照。"),
    Row("revert", "Bring an earlier state of a memory back.", "让一条记忆回到从前的说法。"),
    Row("forget", "Remove memories for good, after showing them.", "先展示再彻底删除记忆。"),
    Row("sessions", "List sessions, or show one.", "列出会话，或查看其中一个。"),
    Row("search", "Search everything that was ever said, word for word.", "在所有说过的原话中检索。"),
    Row("replay", "Print a conversation as it was.", "按原样重放一次对话。"),
    Row("project", "List projects, join, part or name them.", "列出、合并、拆分或命名项目。"),
    Row("import", "Bring in conversations or an export.", "导入对话记录或导出文件。"),
    Row("export", "Write all memories as one JSON object.", "把全部记忆导出为一个 JSON 对象。"),
    Row("work", "Do all pending background work now.", "立即完成所有待办的后台工作。"),
    Row("dream", "Tidy the memory with a model, now.", "立即用模型整理记忆。"),
    Row("distil", "Distil one session anew; --explain says why.", "重新提炼一个会话；--explain 说明理由。"),
    Row(
        "review", "What was decided without you, and unusable answers.", "查看自动作出的取舍，以及模型无法使用的回答。"
    ),
    Row("schedule", "Let the system do that work now and then.", "让系统定时处理后台工作。"),
    Row("status", "What is captured, pending, failing.", "查看采集、待办与失败情况。"),
    Row("stats", "Counts and sizes.", "数量与占用空间。"),
    Row("doctor", "Check the data; --repair mends it.", "检查数据；--repair 修复。"),
    Row("gc", "Give back the space that nothing needs.", "释放无用空间。"),
    Row("config", "Read or change a setting.", "读取或修改设置。"),
    Row("models", "Try the configured models.", "检查所配置的模型。"),
    Row("install", "Connect an assistant to the memory.", "把助手接入记忆。"),
    Row("uninstall", "Disconnect an assistant again.", "断开助手。"),
    Row("mcp", "Serve the memory to an assistant as tools.", "以工具形式把记忆提供给助手。"),
    Row("proxy", "Stand between assistants and their models.", "位于助手与模型之间的代理。"),
    Row("eval", "Measure how well things are found.", "衡量检索的效果。"),
    Row("hook", "Called by an assistant, not by people.", "由助手调用，不需手动运行。"),
)
# Called by assistants, and by who works on catmem.
_HIDDEN = ("hook", "eval")
# What a disk, or a file in place of stdout, answers to the library's own writing.
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_MODULES = {"import": "import_", "install": "install", "uninstall": "install"}


class CommandTable(Group):
    """Lists commands from the table; imports the module of the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [row.name for row in COMMANDS]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if all(row.name != name for row in COMMANDS):
            return None
        module = importlib.import_module(f"catmem.cli.{_MODULES.get(name, name)}")
        found = getattr(module, "command_" + name if name in _MODULES else "command")
        return found if isinstance(found, click.Command) else None

    def rows(self, context: click.Context) -> list[tuple[str, str]]:
        return [(row.name, two(row.en, row.zh)) for row in COMMANDS if row.name not in _HIDDEN]


@click.command(
    cls=CommandTable,
    help=two(
        "Long-term memory for AI assistants: every conversation kept on this machine, the few things worth knowing "
        "brought into the next one.",
        "AI 助手的长期记忆：对话逐字保存在本机，值得记住的几件事带进下一次会话。",
    ),
)
@click.version_option(
    __version__, prog_name="mem", message="mem %(version)s", help=two("Show the version.", "显示版本。")
)
@click.pass_context
def app(context: click.Context, dir: Path | None, as_json: bool) -> None:
    context.obj = {"dir": dir, "as_json": as_json}


app = with_common(app)  # type: ignore[assignment]


def main() -> int:
    """Runs a command; returns its exit code. Every error of ours is one clear sentence on stderr."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character shows a mark in its place.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = _run()
        _silence()
        return code
    except BrokenPipeError:
        # The reader of our output has left; that is no error.
        _silence()
        return 0
    except CatmemError as error:
        return _complained(error)
    except (click.Abort, KeyboardInterrupt):
        return _complained(Stopped("stopped; nothing was lost", "已停止；没有丢失任何内容"))
    except Exception as error:
        if os.environ.get("CATMEM_DEBUG"):
            traceback.print_exc()
        said = f"{type(error).__name__}: {error}"
        return _complained(
            CatmemError(
                f"unexpected fault ({said}); nothing is half-written. Run with CATMEM_DEBUG=1 and report it",
                f"意外故障（{said}）；不会留下改了一半的数据。请用 CATMEM_DEBUG=1 重试并反馈",
            )
        )


class Stopped(CatmemError):
    """The user pressed Ctrl-C."""

    exit_code = 130


def _run() -> int:
    try:
        code = app.main(prog_name="mem", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except SystemExit as stop:
        # 128 and a signal's number where a signal ended it; else the library's answer to a reader that has left.
        return stop.code if isinstance(stop.code, int) and stop.code > 128 else 0
    except click.UsageError as error:
        raise explained(error) from error
    except OSError as error:
        if error.errno not in _DISK:
            raise
        raise StorageFailed(f"cannot write: {error.strerror}", f"无法写入：{error.strerror}") from error


def _complained(error: CatmemError) -> int:
    # Where there is nowhere left to say it, the exit code does.
    with contextlib.suppress(CatmemError, BrokenPipeError):
        complain(error, language_of("auto"))
    _silence()
    return error.exit_code


def _silence() -> None:
    """Whatever could not be written must not be tried again when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
