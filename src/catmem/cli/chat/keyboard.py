"""What the user types in a chat: messages from a terminal or a pipe, and answers to a question."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from catmem.cli.chat.multiline import ends_in_backslash, is_open, without_quotes
from catmem.text.encoding import printable

if TYPE_CHECKING:
    from catmem.cli.chat.editor import Editor

# Of ASCII: how wide an ellipsis is, terminals do not agree.
_WAITING = "..."
_YES = frozenset({"y", "yes", "是", "好", "对"})


class Keyboard:
    """Standard input: an editor in a terminal that can show one, else its lines; a message may be several of them.

    What is not of the terminal's encoding becomes U+FFFD instead of an error, both ways. Use it in a `with`, which
    gives the terminal back as it was.

    earlier, commands  see Editor
    """

    def __init__(self, earlier: Callable[[], Sequence[str]] = tuple, commands: Sequence[str] = ()) -> None:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self.is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._is_waiting = False
        self._sign = _sign() if self.is_terminal else ""
        self._editor = _editor(self._sign, earlier, commands) if self.is_terminal else None
        if self.is_terminal and self._editor is None:
            _edit_lines()

    def __enter__(self) -> Keyboard:
        return self

    def __exit__(self, *_: object) -> None:
        if self._editor is not None:
            self._editor.close()

    def message(self) -> str | None:
        """The next message, None at the end of the input. Raises KeyboardInterrupt at Ctrl-C."""
        try:
            self.new_line()
            return without_quotes(self._editor.message() if self._editor else self._lines())
        except EOFError:
            self.new_line()
            return None
        except KeyboardInterrupt:
            if self._editor is None or self._editor.is_left:
                raise
            # Meant for an answer that ended a moment before.
            return ""

    def says_yes(self, question: str) -> bool:
        """The end of input, and Ctrl-C, are no."""
        return self.answer(f"{question} [y/N] ").lower() in _YES

    def answer(self, question: str) -> str:
        """What is answered to a question, "" for nothing; a pipe is not shown the question, but may answer it."""
        shown = printable(question) if self.is_terminal else ""
        try:
            return (self._editor.answer(shown) if self._editor else input(shown)).strip()
        except (EOFError, KeyboardInterrupt):
            self.new_line()
            return ""

    def new_line(self) -> None:
        """In a terminal, where what is typed and what is answered stand below each other."""
        if self.is_terminal:
            click.echo()

    # -- a sign that something is awaited: a local model may take a minute

    def wait(self) -> None:
        """Shows the sign, in a terminal."""
        if self.is_terminal and not self._is_waiting:
            self._is_waiting = True
            click.echo(_WAITING, nl=False)

    def wait_no_more(self) -> bool:
        """Takes the sign away; whether it stood there."""
        stood, self._is_waiting = self._is_waiting, False
        if stood:
            click.echo(f"\r{' ' * len(_WAITING)}\r", nl=False)
        return stood

    def _lines(self) -> str:
        """A message line by line; one that the end of the input cut off is one, too. Ctrl-C amid it takes it back."""
        text = input(self._sign)
        try:
            while is_open(text):
                more = input(" " * len(self._sign))
                text = (text[:-1] if ends_in_backslash(text) else text) + "\n" + more
        except EOFError:
            return text
        except KeyboardInterrupt:
            return ""
        return text


def _sign() -> str:
    try:
        "›".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "> "
    return "› "


def _editor(sign: str, earlier: Callable[[], Sequence[str]], commands: Sequence[str]) -> Editor | None:
    """The editor, where the terminal can move its cursor and speaks UTF-8, which is all that the editor reads."""
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown") or (sys.stdin.encoding or "").lower() != "utf-8":
        return None
    try:
        from catmem.cli.chat.editor import Editor
    except ImportError:
        return None
    return Editor(sign, earlier, commands)


def _edit_lines() -> None:
    """Line editing and the history of this chat; a Python without it still reads lines."""
    with contextlib.suppress(ImportError):
        import readline

        if "libedit" not in (readline.__doc__ or ""):
            readline.parse_and_bind("set enable-bracketed-paste on")
        # A tab is a tab, not the name of a file.
        readline.parse_and_bind("tab: tab-insert")
        # A remark of ours is no line that the user would want back.
        readline.set_auto_history(True)
