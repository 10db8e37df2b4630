"""The system's schedulers: ours comes and goes, and no other byte changes."""

from __future__ import annotations

import plistlib
import shlex
from pathlib import Path

import pytest

from tests.cli.shell import Shell

_CRONTAB = """#!/bin/sh
table="$HOME/table"
case "$1" in
  -l) [ -f "$table" ] || { echo "no crontab for me" >&2; exit 1; }; cat "$table";;
  -r) rm "$table";;
  -) cat >"$table";;
esac
"""
_LOGGING = """#!/bin/sh
echo "$0 $*" >>"$HOME/called"
[ ! -f "$HOME/refuse" ] || { echo "Failed to connect to bus" >&2; exit 1; }
"""


@pytest.fixture
def scheduling(shell: Shell) -> Shell:
    programs = shell.root / "programs"
    programs.mkdir()
    for name, text in (("crontab", _CRONTAB), ("systemctl", _LOGGING), ("launchctl", _LOGGING)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    shell.environment["PATH"] = f"{programs}:{shell.environment['PATH']}"
    return shell


def files(shell: Shell) -> dict[Path, bytes]:
    return {
        p: p.read_bytes()
        for p in shell.home.rglob("*")
        if p.is_file() and ".catmem" not in p.parts and p.name != "called"
    }


@pytest.mark.parametrize(
    "table", [None, "", "0 5 * * * backup\n", "# no newline at the end 备份", "\n\n", "caf\xe9 =1\n"]
)
def test_cron_comes_and_goes(scheduling: Shell, table: str | None) -> None:
    if table is not None:
        (scheduling.home / "table").write_bytes(table.encode("latin-1", "ignore") if "é" in table else table.encode())
    before = files(scheduling)
    assert scheduling.json("schedule", "install", "--with", "cron")["changed"] == ["crontab"]
    assert scheduling.json("schedule", "install", "--with", "cron")["changed"] == []
    line = (scheduling.home / "table").read_bytes().decode("utf-8", "replace").splitlines()[-1]
    assert line.startswith("*/30 * * * * ") and "work --background" in line and str(scheduling.data) in line
    assert scheduling.json("schedule", "remove", "--with", "cron")["changed"] == ["crontab"]
    assert files(scheduling) == (before if table else {p: b for p, b in before.items() if b})
    assert scheduling.json("schedule", "remove", "--with", "cron")["changed"] == []


def test_lines_that_came_meanwhile_stay(scheduling: Shell) -> None:
    table = scheduling.home / "table"
    table.write_text("1 1 * * * one\n")
    scheduling.ok("schedule", "install", "--with", "cron")
    table.write_text("0 0 * * * zero\n" + table.read_text() + "2 2 * * * two\n")
    scheduling.ok("schedule", "remove", "--with", "cron")
    assert table.read_text() == "0 0 * * * zero\n1 1 * * * one\n2 2 * * * two\n"


def test_a_systemd_timer_comes_and_goes(scheduling: Shell) -> None:
    scheduling.data = scheduling.root / 'a "strange" %h $HOME folder'
    scheduling.environment["CATMEM_DIR"] = str(scheduling.data)
    before = files(scheduling)
    service, timer = scheduling.json("schedule", "install", "--with", "systemd")["changed"]
    text = Path(service).read_text()
    start = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    words = shlex.split(start.removeprefix("ExecStart=").replace("%%", "%").replace("$$", "$"), posix=True)
    assert words[-4:] == ["--dir", str(scheduling.data), "work", "--background"]
    assert "OnUnitInactiveSec=30min" in Path(timer).read_text()
    assert "enable --now " + Path(timer).name in (scheduling.home / "called").read_text()
    scheduling.ok("schedule", "remove", "--with", "systemd")
    assert files(scheduling) == before
    assert "disable --now " + Path(timer).name in (scheduling.home / "called").read_text()


def test_a_refusal_leaves_nothing_and_says_the_way_out(scheduling: Shell) -> None:
    (scheduling.home / "refuse").write_text("")
    before = files(scheduling)
    done = scheduling.mem("schedule", "install", "--with", "systemd")
    assert done.code and "Failed to connect to bus" in done.err and "--with" in done.err
    assert files(scheduling) == before


def test_a_unit_of_somebody_else_is_not_touched(scheduling: Shell) -> None:
    folder = scheduling.home / ".config" / "systemd" / "user"
    folder.mkdir(parents=True)
    (folder / "catmem-work.service").write_text("[Unit]\nDescription=mine\n")
    before = files(scheduling)
    assert scheduling.mem("schedule", "install", "--with", "systemd").code
    assert files(scheduling) == before


def test_a_launchd_agent_comes_and_goes(scheduling: Shell) -> None:
    before = files(scheduling)
    (path,) = scheduling.json("schedule", "install", "--with", "launchd")["changed"]
    agent = plistlib.loads(Path(path).read_bytes())
    assert agent["StartInterval"] == 1800 and agent["ProgramArguments"][-2:] == ["work", "--background"]
    assert agent["Label"] == Path(path).stem
    scheduling.ok("schedule", "remove", "--with", "launchd")
    assert files(scheduling) == before


def test_nothing_is_scheduled_unless_asked(scheduling: Shell) -> None:
    scheduling.ok("init")
    scheduling.ok("work")
    assert files(scheduling) == {}
