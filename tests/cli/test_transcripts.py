"""What people see: each file of transcripts/ is a talk with the shell, and must come out as it stands there.

A line that begins with `$ ` is typed, what follows is the answer, both streams in order; `[4]` is an exit code other
than 0. Lines that begin with `# ` before a command are remarks. `CATMEM_UPDATE=1 pytest tests/cli/test_transcripts.py`
writes the answers anew, for a person to read before they are committed.

What differs from run to run is normalised: places, ids (`m<1>` may be typed, too), scores, sizes, seconds.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import LOCALES, Shell

FOLDER = Path(__file__).with_name("transcripts")
TRANSCRIPTS = sorted(FOLDER.glob("*.txt"))
ID = re.compile(r"\bm[0-9a-f]{12}\b")


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path, shell_in: Callable[[str], Shell]) -> None:
    written = path.read_text("utf-8")
    shell = shell_in(path.stem.rpartition("-")[2])
    shutil.copytree(FOLDER / "files", shell.folder, dirs_exist_ok=True)
    came_out = Transcript(shell).play(written)
    if os.environ.get("CATMEM_UPDATE") == "1":
        path.write_text(came_out, "utf-8")
    else:
        assert came_out == written


def test_there_is_a_transcript_in_each_language() -> None:
    languages = {path.stem.rpartition("-")[2] for path in TRANSCRIPTS}
    assert languages == set(LOCALES)


class Transcript:
    """Plays the typed lines of a transcript in a shell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._ids: list[str] = []

    def play(self, written: str) -> str:
        """The transcript with the answers of now; everything else as it is written."""
        lines: list[str] = []
        answering = False
        for line in written.splitlines():
            if line.startswith("$ "):
                lines += [line, *self._answer(line[2:])]
                answering = True
            elif not line or line.startswith("# "):
                # A blank line ends an answer only if a remark or a command follows: answers have blank lines, too.
                lines.append(line) if not answering or line.startswith("# ") else None
                answering = answering and not line.startswith("# ")
            elif not answering:
                lines.append(line)
        return "\n".join(lines).rstrip("\n") + "\n"

    def _answer(self, command: str) -> list[str]:
        typed = ""
        if " | " in command:
            said, _, command = command.partition(" | ")
            typed = shlex.split(said.removeprefix("echo "))[0] + "\n"
        words = [self._known(word) for word in shlex.split(command)]
        if words[0] == "cat":
            return self._normal((self._shell.folder / words[1]).expanduser().read_text("utf-8")).splitlines()
        if words[0] == "cp":
            (self._shell.folder / words[2]).write_bytes((self._shell.folder / words[1]).read_bytes())
            return []
        assert words[0] == "mem", command
        done = self._shell.mem(*words[1:], typed=typed, merged=True)
        answer = self._normal(done.out).rstrip("\n").splitlines()
        return [*answer, *([f"[{done.code}]"] if done.code else [])]

    def _known(self, word: str) -> str:
        word = re.sub(r"m<(\d+)>", lambda m: self._ids[int(m[1]) - 1], word)
        return str(self._shell.home) + word[1:] if word.startswith("~/") else word

    def _normal(self, text: str) -> str:
        text = text.replace(str(self._shell.home), "~").replace(str(self._shell.folder), "…/shop")
        text = ID.sub(lambda m: f"m<{self._number(m[0])}>", text)
        text = re.sub(r"\bshop-[0-9a-f]{8}\b", "shop-<hash>", text)
        text = re.sub(r"^0\.\d\d  ", "0.··  ", text, flags=re.MULTILINE)
        text = re.sub(r"\b\d+(\.\d)? (k?B|MB)\b", "… kB", text)
        text = re.sub(r"(2026-07-01T\d\d:\d\d):\d\d\.\d{3}Z", r"\1:00.000Z", text)
        text = re.sub(r'("command": ").*( hook claude-code)', r"\1…/mem\2", text)
        text = re.sub(r"\b\w+\.py:\d+\b", "….py", text)
        text = re.sub(r"\b(ledger/)[0-9a-f]{8}\b", r"\1<device>", text)
        return re.sub(r"(约|about) \d+ (个 )?token", r"\1 … \2token", text)

    def _number(self, id: str) -> int:
        if id not in self._ids:
            self._ids.append(id)
        return self._ids.index(id) + 1
