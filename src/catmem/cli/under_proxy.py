"""`mem start -- COMMAND`: any assistant under a proxy of its own, as if it ran alone: terminal, signals, exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

from catmem.cli.output import Session
from catmem.domain.clock import now
from catmem.domain.errors import CatmemError, NotConfirmed
from catmem.proxy.programs import gemini_settings, is_gemini, start_of, upstreams_of
from catmem.proxy.reading import Manner
from catmem.proxy.recorder import Recorder
from catmem.proxy.server import ProxyThread
from catmem.sessions.pure import PURE_ENV, set_pure, unset_pure
from catmem.settings.config import create_config

# What a shell answers with where a command cannot be run.
_NOT_FOUND, _NOT_RUNNABLE = 127, 126
# An answer that was just given is read within a fraction of this.
_FLUSH_SECONDS = 5.0


def run_under_proxy(
    session: Session, command: tuple[str, ...], *, project: str | None, pure: bool, inject: bool
) -> int:
    """Runs a command and returns its exit code, 128 and its number where a signal ended it.

    If our own part cannot begin, the command runs without it: a memory must not keep anybody from working.
    """
    environment = dict(os.environ)
    asks = pure and sys.stdin.isatty() and sys.stderr.isatty()
    try:
        create_config(session.catmem.paths)
        home = project if project is not None else session.catmem.project_of(os.getcwd()).key
        manner = Manner(inject=inject and not pure, hold=asks, project=home)
        proxy, recorder = session.catmem.proxy(
            upstreams_of(environment, command), manner, pure=pure, environment=environment
        )
        thread = ProxyThread(proxy)
        thread.start()
    except Exception as error:
        why = error if isinstance(error, CatmemError) else CatmemError(f"{type(error).__name__}: {error}")
        session.note(f"! no memory in this session: {why.en}", f"! 本次会话没有记忆：{why.zh}")
        return _run(session, command, environment)
    recorder.start(work=not pure)
    try:
        start = start_of(command, f"http://127.0.0.1:{proxy.port}", home, environment, pure=pure)
        with _settings_of_gemini(command, environment) as more:
            marked = {PURE_ENV: "1"} if pure else {}
            return _run(session, start.command, {**start.environment, **more, **marked})
    finally:
        thread.stop()
        if asks:
            _keep_or_not(session, recorder)
        recorder.stop()


@contextlib.contextmanager
def _settings_of_gemini(command: tuple[str, ...], environment: Mapping[str, str]) -> Iterator[dict[str, str]]:
    if not is_gemini(command):
        yield {}
        return
    with tempfile.TemporaryDirectory(prefix="catmem-") as folder:
        yield gemini_settings(environment, Path(folder))


def _keep_or_not(session: Session, recorder: Recorder) -> None:
    """The end of a pure session: what was said is in memory only, and goes, unless the user wants it."""
    root = str(session.catmem.paths.root)
    recorder.flush(_FLUSH_SECONDS)
    refs = frozenset(recorder.open)
    if not refs:
        return
    try:
        kept = session.confirm("Keep what was said in this pure session?", "保留这次纯净会话中所说的话吗？")
    except NotConfirmed:
        kept = False
    for ref in refs:
        if kept:
            unset_pure(root, ref.key)
        else:
            set_pure(root, ref.key, at=now())
    if kept:
        recorder.release()


def _run(session: Session, command: tuple[str, ...], environment: Mapping[str, str]) -> int:
    with _passed_on() as receive:
        try:
            # The same process group: the terminal's Ctrl-C, Ctrl-Z and resize reach the command as they reach us.
            child = subprocess.Popen(command, env=environment)
        except FileNotFoundError:
            session.note(f"mem: no program {command[0]!r}", f"mem：没有程序 {command[0]!r}")
            return _NOT_FOUND
        except OSError as error:
            session.note(
                f"mem: cannot run {command[0]!r}: {error.strerror}", f"mem：无法运行 {command[0]!r}：{error.strerror}"
            )
            return _NOT_RUNNABLE
        receive(child)
        code = child.wait()
    return code if code >= 0 else 128 - code


@contextlib.contextmanager
def _passed_on() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Signals are the command's, not ours: the terminal's reach it by themselves, those sent to us are handed on to the
    child that is given to what this yields.

    Handlers, not SIG_IGN, which the command would inherit.
    """
    children: list[subprocess.Popen[bytes]] = []
    early: list[int] = []  # Of a command that runs already, and that we do not know yet.

    def receive(child: subprocess.Popen[bytes]) -> None:
        children.append(child)
        for number in early:
            child.send_signal(number)

    def leave_it(number: int, _: FrameType | None) -> None:
        """The terminal has sent it to the command, too."""

    def hand_on(number: int, _: FrameType | None) -> None:
        if not children:
            early.append(number)
        for child in children:
            child.send_signal(number)

    handlers = {
        "SIGINT": leave_it,
        "SIGQUIT": leave_it,
        "SIGTERM": hand_on,
        "SIGHUP": hand_on,
        "SIGUSR1": hand_on,
        "SIGUSR2": hand_on,
    }
    before = {
        name: signal.signal(getattr(signal, name), handler)
        for name, handler in handlers.items()
        if hasattr(signal, name)
    }
    try:
        yield receive
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
