"""The editor of a chat in a real terminal: several lines, pastes, wide characters, resizing, what was typed before.

Between two messages the terminal shows nothing of what is typed ahead, and a paste stays one: it waits, in its
brackets, for the next message instead of falling apart into lines amid an answer.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import termios
from collections.abc import Callable, Sequence
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import TabsProcessor
from prompt_toolkit.output.vt100 import Vt100_Output

from catmem.cli.chat.ahead import TypedAhead
from catmem.cli.chat.multiline import ends_in_backslash, is_open

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
# Where termios.tcgetattr has what is changed here.
_INPUT, _LOCAL, _CHARACTERS = 0, 3, 6


class Editor:
    """Asks for messages. What is typed is remembered while the chat lasts, and nowhere written down.

    earlier   what was typed before, for the arrow keys, oldest first
    commands  what the tabulator completes after a slash
    is_left   True once Ctrl-C was pressed with nothing typed
    """

    def __init__(self, sign: str, earlier: Callable[[], Sequence[str]], commands: Sequence[str]) -> None:
        self.is_left = False
        self._input = Vt100Input(sys.stdin)
        self._output = Vt100_Output.from_pty(sys.stdout, term=os.environ.get("TERM"))
        # It is not asked where its cursor is: some terminals never answer, and the answer would be read as typed.
        self._output.enable_cpr = False
        self._messages: PromptSession[str] = PromptSession(
            sign,
            multiline=True,
            prompt_continuation=" " * len(sign),
            history=_Earlier(earlier),
            key_bindings=self._keys(commands),
            enable_suspend=True,
            input_processors=[TabsProcessor(char1=" ", char2=" ")],
            input=self._input,
            output=self._output,
        )
        self._answers: PromptSession[str] = PromptSession(input=self._input, output=self._output)
        self._before = termios.tcgetattr(sys.stdin.fileno())
        self._ahead = TypedAhead(sys.stdin.fileno())
        self._is_asking = False
        # After Ctrl-Z the shell has made the terminal its own.
        self._resumed = signal.signal(signal.SIGCONT, lambda *_: None if self._is_asking else self._rest())
        self._rest()

    def message(self) -> str:
        """One message. Raises EOFError at Ctrl-D, KeyboardInterrupt at Ctrl-C with nothing typed."""
        return self._asked(self._messages.prompt)

    def answer(self, question: str) -> str:
        """What is answered to a question; raises like `message`."""
        return self._asked(lambda: self._answers.prompt(question))

    def close(self) -> None:
        """Gives the terminal back as it was found."""
        self._ahead.stop()
        signal.signal(signal.SIGCONT, self._resumed)
        self._write(_PASTE_OFF)
        _set(sys.stdin.fileno(), self._before)

    def _asked(self, ask: Callable[[], str]) -> str:
        self._input.vt100_parser.feed(self._ahead.stop())
        store_typeahead(self._input, self._input.read_keys())
        self._is_asking = True
        try:
            return ask()
        finally:
            self._is_asking = False
            self._rest()

    def _rest(self) -> None:
        """How the terminal is between two questions."""
        _set(sys.stdin.fileno(), _quiet(self._before))
        self._write(_PASTE_ON)
        self._ahead.start()

    def _write(self, sequence: str) -> None:
        # Past the buffer of stdout: a signal may come while that is being written, and it takes no second writer.
        with contextlib.suppress(OSError):
            os.write(sys.stdout.fileno(), sequence.encode())

    def _keys(self, commands: Sequence[str]) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if not buffer.document.is_cursor_at_the_end or not is_open(buffer.text):
                buffer.validate_and_handle()
                return
            if ends_in_backslash(buffer.text):
                buffer.delete_before_cursor()
            buffer.insert_text("\n")

        @keys.add("escape", "enter")
        def alt_enter(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add("tab")
        def tabulator(event: KeyPressEvent) -> None:
            """Completes a command, if only one is meant; else it is a tab."""
            buffer = event.current_buffer
            if not re.fullmatch(r"/\w*", buffer.text):
                buffer.insert_text("\t")
                return
            fitting = [command for command in commands if command.startswith(buffer.text)]
            if len(fitting) == 1:
                buffer.insert_text(fitting[0][len(buffer.text) :])

        @keys.add("c-@")
        def ctrl_space(event: KeyPressEvent) -> None:
            """Switches input methods for many who write Chinese; by itself it would select, and what follows be lost."""

        @keys.add("c-c")
        @keys.add("<sigint>")
        def interrupt(event: KeyPressEvent) -> None:
            """Takes back what is typed, which the arrow keys bring again; with nothing typed it ends the chat."""
            buffer = event.current_buffer
            if buffer.text:
                buffer.reset(append_to_history=True)
            else:
                self.is_left = True
                event.app.exit(exception=KeyboardInterrupt, style="class:aborting")

        return keys


class _Earlier(InMemoryHistory):
    """Reads what was typed before when the first question is asked, and not while the chat begins."""

    def __init__(self, earlier: Callable[[], Sequence[str]]) -> None:
        super().__init__()
        self._earlier = earlier

    def load_history_strings(self) -> Any:
        self._storage = [*self._earlier(), *self._storage]
        yield from super().load_history_strings()


def _quiet(attributes: list[Any]) -> list[Any]:
    """A terminal without echo and line editing: what is typed ahead waits unseen."""
    quiet: list[Any] = list(attributes)
    quiet[_LOCAL] &= ~(termios.ECHO | termios.ICANON)
    # Ctrl-C does not throw away what was typed before it: half a paste would never end.
    quiet[_LOCAL] |= termios.NOFLSH
    quiet[_INPUT] &= ~termios.ICRNL
    # Each key is heard at once.
    quiet[_CHARACTERS] = list(attributes[_CHARACTERS])
    quiet[_CHARACTERS][termios.VMIN], quiet[_CHARACTERS][termios.VTIME] = 1, 0
    return quiet


def _set(descriptor: int, attributes: list[Any]) -> None:
    # A terminal that was closed needs nothing any more.
    with contextlib.suppress(termios.error):
        termios.tcsetattr(descriptor, termios.TCSANOW, attributes)
