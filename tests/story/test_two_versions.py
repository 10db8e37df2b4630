"""Two installations of ours that call each other's data their own: an older one and one that is a schema ahead."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import catmem

pytestmark = pytest.mark.slow

EVENTS = 100
_AHEAD = "\nMIGRATIONS = (*MIGRATIONS, 'CREATE TABLE ahead(x)')\n"


class Installation:
    """Our program in a folder of its own; `ahead` is one whose database has a step more."""

    def __init__(self, folder: Path, home: Path, *, ahead: bool) -> None:
        self._folder, self._home = folder, home
        shutil.copytree(Path(catmem.__file__).parent, folder / "catmem")
        if ahead:
            schema = folder / "catmem" / "store" / "schema.py"
            before, after = re.split(r"(?m)^(?=def )", schema.read_text("utf-8"), maxsplit=1)
            schema.write_text(before + _AHEAD + "\n\n" + after, "utf-8")
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder)], check=True)

    def mem(self, *arguments: str, typed: str = "", language: str = "en_US") -> subprocess.CompletedProcess[str]:
        environment = {
            "HOME": str(self._home), "PATH": os.environ["PATH"], "PYTHONPATH": str(self._folder),
            "LANG": f"{language}.UTF-8",
        }  # fmt: skip
        return subprocess.run(
            [sys.executable, "-m", "catmem", *arguments],
            input=typed, capture_output=True, encoding="utf-8", timeout=120, env=environment, cwd=self._home, check=False,
        )  # fmt: skip

    def hook(self, event: str, session: str, **payload: object) -> None:
        told = {
            "session_id": session,
            "transcript_path": "",
            "cwd": str(self._home),
            "hook_event_name": event,
            **payload,
        }
        done = self.mem("hook", "claude-code", event, typed=json.dumps(told))
        assert (done.returncode, done.stderr) == (0, "")


def test_used_in_turn_they_lose_nothing_and_the_older_one_says_why_it_does_not_write(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    older = Installation(tmp_path / "older", home, ahead=False)
    newer = Installation(tmp_path / "newer", home, ahead=True)
    assert older.mem("recall", "--save", "the lid is of clay 壶盖是陶土做的").returncode == 0
    for number in range(EVENTS):
        program = (older, newer)[number % 2]
        program.hook("UserPromptSubmit", f"s{number % 7}", prompt=f"turn 第 {number} 次", prompt_id=f"p{number}")
        if number == EVENTS // 2:
            assert newer.mem("work").returncode == 0
            for language, word in (("en_US", "update catmem"), ("zh_CN", "请升级")):
                refused = older.mem("work", language=language)
                assert refused.returncode == 9 and word in refused.stderr and "Traceback" not in refused.stderr
            assert older.mem("recall", "--save", "the handle is of wood").returncode == 9
    assert newer.mem("work").returncode == 0
    exported = json.loads(newer.mem("export", "--messages").stdout)
    said = [m["content"] for session in exported["sessions"] for m in session["messages"]]
    wanted = {f"turn 第 {number} 次" for number in range(EVENTS)}
    notes = home / ".catmem" / "run" / "hook-failures.jsonl"
    cut_off = notes.read_text().count("TimeoutError") if notes.exists() else 0  # on a machine that is too busy
    assert len(said) == len(set(said)) and set(said) <= wanted and len(wanted) - len(said) <= cut_off
    assert [m["text"] for m in exported["memories"]] == ["the lid is of clay 壶盖是陶土做的"]
    assert newer.mem("doctor").returncode == 0
