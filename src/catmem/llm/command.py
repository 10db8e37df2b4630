"""Any program as a model: `claude -p`, `ollama run qwen3`. It is asked on stdin and answers on stdout."""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from catmem.domain.errors import StorageFailed
from catmem.domain.helper import HELPER_ENV, HELPER_MARKER
from catmem.llm import failures
from catmem.llm.forms import as_words, without_thoughts
from catmem.llm.port import MOST_TOKENS, Completion, Row, Schema, Turn

# Seconds. A program starts, loads a model and answers; what takes longer than this has hung.
ANSWER_SECONDS = 300.0
# What a program that is asked to end has for it.
END_SECONDS = 2.0
# How long a program may still be silent once its first process has ended: what is left of it is not waited for.
_LINGER_SECONDS = 0.3
ANSWER_BYTES = 8_000_000
_ERROR_BYTES = 20_000


def make(row: Row, environment: Mapping[str, str]) -> Command:
    """The model of a row of the setting `models`: `command` is the program with its arguments; no shell reads it."""
    return Command(row["command"], environment)


class Command:
    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv = [os.path.expanduser(argv[0]), *argv[1:]]
        self._name = Path(argv[0]).name
        # Hooks of ours that the program may call know by it that nobody speaks to an assistant here.
        self._environment = {**environment, HELPER_ENV: "1"}

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        begun = False
        for piece in self._answer(prompt_of(system, turns)):
            begun = begun or bool(piece.strip())
            yield piece
        if not begun:
            raise failures.command_silent(self._name)

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        # A program is not told a bound of tokens: its time and the length of its answer are bounded.
        text = "".join(self._answer(prompt_of((*system, as_words(schema)), turns)))
        return without_thoughts(Completion(text))

    def _answer(self, prompt: str) -> Iterator[str]:
        """What the program says, as it says it; nothing of it is alive afterwards. Raises Failure."""
        with tempfile.TemporaryFile() as errors:
            process = self._start(errors)
            try:
                threading.Thread(target=_tell, args=(process, prompt), daemon=True).start()
                yield from _decoded(self._heard(process))
                code = process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                # It has closed its stdout, and so has said what it had to say.
                code = 0
            finally:
                _end(process)
            if code:
                raise failures.command_failed(self._name, code, _last_line(errors))

    def _start(self, errors: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=_workplace(),
                env=self._environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise failures.no_command(self._name, getattr(error, "strerror", None) or str(error)) from None

    def _heard(self, process: subprocess.Popen[bytes]) -> Iterator[bytes]:
        end, left, heard = time.monotonic() + ANSWER_SECONDS, ANSWER_BYTES, False
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                ready = selector.select(min(_LINGER_SECONDS, max(0.0, end - time.monotonic())))
                if ready:
                    data = os.read(process.stdout.fileno(), 65536)
                    if not data:
                        return
                    heard, left = True, left - len(data)
                    yield data
                elif process.poll() is not None:
                    # Something that it started holds its stdout open.
                    return
                if left < 0:
                    raise failures.command_endless(self._name)
                if time.monotonic() >= end:
                    raise failures.command_too_slow(self._name, ANSWER_SECONDS, begun=heard)


def prompt_of(system: Sequence[str], turns: Sequence[Turn]) -> str:
    """One text of it all. It begins with the marker by which our own prompts are known where transcripts are read."""
    said = [f"{turn.role}: {turn.text}" for turn in turns] if len(turns) > 1 else [turn.text for turn in turns]
    return "\n\n".join([HELPER_MARKER, *filter(None, system), *said]) + "\n"


def _tell(process: subprocess.Popen[bytes], prompt: str) -> None:
    assert process.stdin is not None
    # It may have answered without reading to the end.
    with contextlib.suppress(OSError, ValueError), process.stdin:
        process.stdin.write(prompt.encode("utf-8", "replace"))


def _decoded(pieces: Iterator[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for piece in pieces:
        if text := decoder.decode(piece):
            yield text
    if text := decoder.decode(b"", final=True):
        yield text


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program with all that it started."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # It began a group of its own, which outlives its first process.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _last_line(errors: IO[bytes]) -> str:
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - _ERROR_BYTES))
    lines = errors.read().decode("utf-8", "replace").split("\n")
    return next((" ".join(line.split()) for line in reversed(lines) if line.strip()), "")


def _workplace() -> str:
    """An empty folder of the user's own: a program that reads instructions or settings from where it is finds none.

    It is the same each time, since assistants keep their transcripts by folder.
    """
    folder = Path(tempfile.gettempdir()) / f"catmem-helper-{os.getuid()}"
    try:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        about = folder.lstat()
        private = stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077
        return str(folder) if private else tempfile.mkdtemp(prefix="catmem-helper-")
    except OSError as error:
        raise StorageFailed(
            f"cannot make {folder}: {error.strerror}; check the folder for temporary files",
            f"无法创建 {folder}：{error.strerror}；请检查临时文件夹",
        ) from error
