"""A person at `mem start`: the real program, in a folder of its own, through a pipe or in a terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyte

from catmem.cli.chat.answers import INSTRUCTION
from catmem.inject.worker import wait_for_worker
from catmem.settings.paths import Paths
from tests.cli.shell import Nursery
from tests.llm.fake_server import FakeServer

# Far above any wait seen (2 s); it only turns a hang into a failure.
PATIENCE = 60.0
INSIST_AFTER = 3.0
LOCALES = {"en": "en_US.UTF-8", "zh": "zh_CN.UTF-8"}

# The program where the HTTP library is not installed.
WITHOUT_LIBRARY = "import sys; sys.modules['httpx2'] = None; from catmem.cli.app import main; sys.exit(main())"
# And where the editor is not: the terminal's own lines, or readline's.
WITHOUT_EDITOR = "import sys; sys.modules['prompt_toolkit'] = None; from catmem.cli.app import main; sys.exit(main())"


def asked_by_chat(server: FakeServer) -> list[dict[str, Any]]:
    """What the chat asked a server, and not what background work did meanwhile."""
    said = [(body, json.dumps(body, ensure_ascii=False)) for body in server.bodies]
    return [body for body, text in said if INSTRUCTION["en"][:40] in text or INSTRUCTION["zh"][:20] in text]


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


class Person:
    """What is not the chat itself is a child of `nursery`, where there is one: that takes a tenth of the time."""

    def __init__(self, root: Path, language: str = "en", nursery: Nursery | None = None) -> None:
        self._nursery = nursery
        self.data = root / "data"
        self.folder = root / "teapot"
        self.folder.mkdir(exist_ok=True)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(root),
            "CATMEM_DIR": str(self.data),
            "LANG": "C.UTF-8",
            "LC_MESSAGES": LOCALES[language],
            "TERM": "xterm",
        }

    def mem(self, *arguments: str, typed: str | bytes = "", program: str = "", merged: bool = False) -> Ended:
        """Runs a command; `merged` gives both outputs as one, in the order in which they were written."""
        if self._nursery and arguments[0] != "start" and not (typed or program or merged):
            return self._forked(self._nursery, arguments)
        start = ["-c", program] if program else ["-m", "catmem"]
        done = subprocess.run(
            [sys.executable, *start, *arguments],
            input=typed if isinstance(typed, bytes) else typed.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merged else subprocess.PIPE,
            cwd=self.folder,
            env=self.environment,
            timeout=PATIENCE,
        )
        return Ended(done.returncode, done.stdout.decode(), (done.stderr or b"").decode())

    def _forked(self, nursery: Nursery, arguments: Sequence[str]) -> Ended:
        out, err = self.folder.with_name("out"), self.folder.with_name("err")
        for file in (out, err):
            file.write_bytes(b"")
        code = nursery.run(
            arguments, environment=self.environment, folder=self.folder, stdin=os.devnull, stdout=out, stderr=err
        )
        return Ended(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def chat(self, *lines: str, **options: Any) -> Ended:
        """A chat through a pipe; returns when what it leaves to the background is done, too."""
        ended = self.mem("start", typed="".join(f"{line}\n" for line in lines), **options)
        self.settle()
        return ended

    def settle(self) -> None:
        self.mem("work")

    def configure(self, *rows: Mapping[str, str]) -> None:
        """With these models, and without an embedder, which each worker would load."""
        assert self.mem("config", "set", "models", json.dumps(rows)).code == 0
        assert self.mem("config", "set", "embedder", "none").code == 0

    def asks(self, *arguments: str) -> Any:
        return json.loads(self.mem(*arguments, "--json").out)

    def sessions(self) -> list[list[tuple[str, str]]]:
        """Each session as (role, text), oldest first."""
        keys = sorted(session["key"] for session in self.asks("sessions")["sessions"])
        shown = [self.asks("sessions", "show", key)["messages"] for key in keys]
        return [[(message["role"], message["content"]) for message in messages] for messages in shown]

    def everything(self) -> bytes:
        """All bytes of the data directory."""
        return b"".join(path.read_bytes() for path in sorted(self.data.rglob("*")) if path.is_file())

    def leave(self) -> None:
        wait_for_worker(Paths(self.data), PATIENCE)


class Terminal:
    """`mem start` in a terminal; `seen` is all that it has written, `shown` what a person sees."""

    def __init__(self, person: Person, *arguments: str, program: str = "", columns: int = 80, rows: int = 40) -> None:
        start = ["-c", program] if program else ["-m", "catmem"]
        self.pid, self._master = pty.fork()
        if self.pid == 0:
            os.chdir(person.folder)
            os.execve(sys.executable, [sys.executable, *start, "start", *arguments], person.environment)
        self.seen = ""
        self._heard = 0
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.resize(columns, rows)

    @property
    def shown(self) -> list[str]:
        """The lines of the screen from the top, without blanks at their ends and empty ones at the end."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip().split("\n")

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._screen.resize(rows, columns)

    @property
    def echoes(self) -> bool:
        """Whether the terminal itself shows what is typed."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    @echoes.setter
    def echoes(self, wanted: bool) -> None:
        attributes = termios.tcgetattr(self._master)
        attributes[3] = attributes[3] | termios.ECHO if wanted else attributes[3] & ~termios.ECHO
        termios.tcsetattr(self._master, termios.TCSANOW, attributes)

    def settle(self) -> None:
        """Returns when nothing more was written for a moment."""
        end = time.monotonic() + PATIENCE
        before = -1
        while before != len(self.seen) and time.monotonic() < end:
            before = len(self.seen)
            self._read(0.7)

    def type(self, text: str) -> None:
        """Types, and reads meanwhile, as a terminal does: who did not would wait for the program, and it for them."""
        data = text.encode()
        while data:
            data = data[os.write(self._master, data[:1000]) :]
            self._read(0.0)

    def paste(self, text: str) -> None:
        """As a terminal pastes into a program that has asked for brackets."""
        assert self.seen.rfind("\x1b[?2004h") > self.seen.rfind("\x1b[?2004l")
        self.type("\x1b[200~" + text.replace("\n", "\r") + "\x1b[201~")

    def wait_for(self, pattern: str) -> None:
        """Returns when the pattern has appeared beyond what an earlier call waited for."""
        end = time.monotonic() + PATIENCE
        while (found := re.compile(pattern).search(self.seen, self._heard)) is None:
            assert time.monotonic() < end and self._read(), f"no {pattern!r} in {self.seen!r}"
        self._heard = found.end()

    def wait_for_prompt(self) -> None:
        """Returns when the program waits for a message, with nothing typed yet."""
        end = time.monotonic() + PATIENCE
        while self.shown[-1] != "›" or self._screen.cursor.y != len(self.shown) - 1:
            assert time.monotonic() < end and self._read(), f"no prompt in {self.seen!r}"

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._master)

    def ended(self, insist: str = "") -> int:
        """The exit code, when the program has ended by itself.

        `insist` is typed again every few seconds: CPython's readline does not notice a signal that comes in the moment
        before it waits for a key, and a person presses Ctrl-C once more.
        """
        end = time.monotonic() + PATIENCE
        again = time.monotonic() + INSIST_AFTER
        while self._read():
            assert time.monotonic() < end, self.seen
            if insist and time.monotonic() > again:
                self.type(insist)
                again += INSIST_AFTER
        status = os.waitpid(self.pid, 0)[1]
        os.close(self._master)
        return os.waitstatus_to_exitcode(status)

    def _read(self, moment: float = 0.2) -> bool:
        """More of the output, waited for a moment; False when there will be none."""
        if not select.select([self._master], [], [], moment)[0]:
            return True
        try:
            piece = os.read(self._master, 65536)
        except OSError:
            return False
        self._stream.feed(piece)
        self.seen += piece.decode(errors="replace")
        return bool(piece)
