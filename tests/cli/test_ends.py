"""Every end of a command: a full or closed output, a reader that leaves, a question without an answer, Ctrl-C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.clear import COMMANDS, is_clear, kept, started
from tests.cli.shell import Ended, Shell


def test_stdout_full(english: Shell) -> None:
    for command in (("status",), ("export",), ("status", "--json"), ("--help",), ("brief", "--project", "shop")):
        full = english.mem(*command, stdout="/dev/full")
        assert (full.code, full.err.count("\n")) == (8, 1), (command, full)
        assert full.err.startswith("mem: cannot write")


def test_stdout_closed(english: Shell) -> None:
    for command in COMMANDS:
        closed = english.mem(*command, stdout=None)
        assert closed.code == 0, (command, closed)


def test_stdin_closed(known: Shell) -> None:
    for command in COMMANDS:
        if command[0] != "forget":
            is_clear(known, known.mem(*command, typed=None), 0)
    is_clear(known, known.mem("forget", "pnpm", typed=None), 12)
    assert known.mem("hook", "claude-code", "UserPromptSubmit", typed=None).code == 0
    assert known.json("recall", "pnpm", "--project", "shop")["items"]


@pytest.mark.parametrize("answer", ["", "n", "no\n", "\n", "maybe\n", "ja\n"])
def test_only_a_yes_is_one(known: Shell, answer: str) -> None:
    before = kept(known)
    is_clear(known, known.mem("forget", "pnpm", typed=answer), 12)
    assert kept(known) == before


def test_a_reader_that_leaves(english: Shell) -> None:
    for number in range(300):
        english.talk(f"many/{number}", "x" * 2000)
    english.ok("import", "many")
    process = started(english, "export", "--messages", stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"{\n"
    process.stdout.close()
    assert (process.wait(30), process.stderr.read() if process.stderr else b"") == (0, b"")


def test_ctrl_c(known: Shell) -> None:
    before = kept(known)
    process = started(known, "forget", "pnpm", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout
    shown = b""
    while b"[y/N]" not in shown:
        shown += process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    is_clear(known, Ended(process.returncode, "", told.decode().lstrip("\n")), 130)
    assert kept(known) == before


def test_ctrl_c_at_any_moment_of_an_import(english: Shell) -> None:
    """What was taken in before is there, the rest comes with the next try, once."""
    for number in range(200):
        english.talk(f"many/{number}", f"message {number}", "and another", session=f"s{number}")
    for delay in (0.05, 0.3, 0.5, 0.8):
        process = started(english, "import", "many", stdout=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        # Before our first line runs, Python itself answers.
        assert process.returncode in (0, 130, -signal.SIGINT), told
    english.ok("import", "many")
    sessions = english.json("sessions", "--project", "shop")["sessions"]
    assert sorted(line["metadata"]["count"] for line in sessions) == [2] * 201
    assert english.json("import", "many")["messages_new"] == 0
    english.ok("doctor")


def test_json_stays_json_in_a_terminal_of_another_encoding(english: Shell, tmp_path: Path) -> None:
    english.ok("recall", "--save", "记住 é 😀", "--project", "shop")
    done = subprocess.run(
        [sys.executable, "-m", "catmem", "recall", "记住", "--project", "shop", "--json"],
        cwd=english.folder,
        env={**english.environment, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout.decode("latin-1"))["items"][0]["text"] == "记住 é 😀"
    for command in (("recall", "记住", "--project", "shop"), ("log",)):
        subprocess.run(
            [sys.executable, "-m", "catmem", *command],
            cwd=english.folder,
            env={**english.environment, "PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
        )
