"""What the user types in a chat: lines from a terminal or a pipe, and answers to a question."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator

import click

from catmem.text.encoding import printable

_YES = frozenset({"y", "yes", "是", "好", "对"})


class Keyboard:
    """Standard input. In a terminal with GNU readline, text that is pasted over several lines is one message; elsewhere
    each line is one. What is not of the terminal's encoding becomes U+FFFD instead of an error, both ways."""

    def __init__(self) -> None:
        for stream in (sys.stdin, sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="replace")
        self.is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        self._sign = _sign() if self.is_terminal else ""
        if self.is_terminal:
            _edit_lines()

    def lines(self) -> Iterator[str]:
        """Lines until the end of input. Raises KeyboardInterrupt at Ctrl-C."""
        while True:
            self.new_line()
            try:
                line = input(self._sign)
            except EOFError:
                self.new_line()
                return
            yield line

    def says_yes(self, question: str) -> bool:
        """The end of input, and Ctrl-C, are no."""
        try:
            return input(f"{printable(question)} [y/N] " if self.is_terminal else "").strip().lower() in _YES
        except (EOFError, KeyboardInterrupt):
            self.new_line()
            return False

    def new_line(self) -> None:
        """In a terminal, where what is typed and what is answered stand below each other."""
        if self.is_terminal:
            click.echo()


def _sign() -> str:
    try:
        "›".encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return "> "
    return "› "


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
