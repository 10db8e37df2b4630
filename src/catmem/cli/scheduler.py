"""The operating system's own schedulers: what makes one of them run `mem work` now and then, and back again.

Only files and lines of our own are written, and taking them away leaves every other byte as it was.
"""

from __future__ import annotations

import os
import plistlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.hashing import short_hash
from catmem.settings.paths import Paths, write_private

# A session is worth distilling after half an hour without news; asking more often finds nothing.
INTERVAL_MINUTES = 30
_PATIENCE = 30.0
_NOTE = "Written by `mem schedule install`; `mem schedule remove` takes it away."


class Scheduler(Protocol):
    """`install` and `remove` return the places that they changed, [] if it was so already."""

    def install(self) -> list[str]: ...

    def remove(self) -> list[str]: ...


def scheduler(kind: str, paths: Paths) -> Scheduler:
    """The scheduler `systemd`, `launchd` or `cron`; for `auto` what this system has. Raises BadInput if it has none."""
    command = [sys.executable, "-P", "-m", "catmem", "--dir", str(paths.root.absolute()), "work", "--background"]
    # Each data directory may have its own; the usual one needs no hash.
    usual = paths.root.absolute() == Path.home() / ".catmem"
    name = "catmem-work" if usual else f"catmem-work-{short_hash(str(paths.root.absolute()), 4)}"
    kind = _present() if kind == "auto" else kind
    if kind == "launchd":
        return Launchd(name, command)
    return Systemd(name, command) if kind == "systemd" else Cron(name, command, paths)


class Systemd:
    """A timer of the user's own instance."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._folder = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user"
        self._timer = f"{name}.timer"
        start = " ".join(_unit_word(word) for word in command)
        self._files = {
            self._folder / f"{name}.service": f"# {_NOTE}\n[Unit]\nDescription=catmem background work\n\n"
            f"[Service]\nType=oneshot\nNice=10\nExecStart={start}\n",
            self._folder / self._timer: f"# {_NOTE}\n[Unit]\nDescription=catmem background work\n\n"
            f"[Timer]\nOnBootSec={INTERVAL_MINUTES}min\nOnUnitInactiveSec={INTERVAL_MINUTES}min\n\n"
            "[Install]\nWantedBy=timers.target\n",
        }

    def install(self) -> list[str]:
        changed = _write(self._files)
        try:
            _run("systemctl", "--user", "daemon-reload")
            _run("systemctl", "--user", "enable", "--now", self._timer)
        except StorageFailed:
            _unlink(changed)
            raise
        return changed

    def remove(self) -> list[str]:
        present = [str(path) for path in self._files if path.exists()]
        if present:
            _run("systemctl", "--user", "disable", "--now", self._timer)
            _unlink(present)
            _run("systemctl", "--user", "daemon-reload")
        return present


class Launchd:
    """An agent of the user."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._path = Path.home() / "Library" / "LaunchAgents" / f"{name}.plist"
        self._domain = f"gui/{os.getuid()}"
        agent = {
            "Label": name,
            "ProgramArguments": list(command),
            "StartInterval": INTERVAL_MINUTES * 60,
            "LowPriorityIO": True,
            "ProcessType": "Background",
        }
        self._text = plistlib.dumps(agent).decode()

    def install(self) -> list[str]:
        changed = _write({self._path: self._text})
        if changed:
            try:
                _run("launchctl", "bootstrap", self._domain, str(self._path))
            except StorageFailed:
                _unlink(changed)
                raise
        return changed

    def remove(self) -> list[str]:
        if not self._path.exists():
            return []
        _run("launchctl", "bootout", self._domain, str(self._path))
        return _unlink([str(self._path)])


class Cron:
    """Two lines of the user's crontab."""

    def __init__(self, name: str, command: Sequence[str], paths: Paths) -> None:
        # A percent sign ends the command of a crontab line.
        line = f"*/{INTERVAL_MINUTES} * * * * {shlex.join(command)} >/dev/null 2>&1".replace("%", "\\%")
        self._lines = f"# {name}: {_NOTE}\n{line}\n"
        self._head = f"# {name}: "
        self._paths = paths
        self._before = paths.run / "crontab.before"

    def install(self) -> list[str]:
        table = self._read()
        if table is not None and self._head in table:
            return []
        joint = "" if not table or table.endswith("\n") else "\n"
        self._keep(table)
        self._write((table or "") + joint + self._lines)
        return ["crontab"]

    def remove(self) -> list[str]:
        table = self._read()
        if table is None or self._head not in table:
            return []
        before = self._kept()
        joint = "" if not before or before.endswith("\n") else "\n"
        if before is not None and table == before + joint + self._lines:
            rest = before
        else:  # other lines came or went since
            lines = table.splitlines(keepends=True)
            own = next(number for number, line in enumerate(lines) if line.startswith(self._head))
            rest = "".join(lines[:own] + lines[own + 2 :])
        if rest or before:
            self._write(rest)
        else:
            _run("crontab", "-r")
        self._before.unlink(missing_ok=True)
        return ["crontab"]

    def _read(self) -> str | None:
        """The user's table; None if there is none."""
        done = _called("crontab", "-l")
        if done.returncode == 0:
            return done.stdout
        if "no crontab" in done.stderr.lower():
            return None
        raise _refused("crontab", done.stderr)

    def _write(self, table: str) -> None:
        _run("crontab", "-", typed=table)

    def _keep(self, table: str | None) -> None:
        self._paths.make(self._paths.run)
        write_private(self._before, (table or "").encode("utf-8", "surrogateescape"))

    def _kept(self) -> str | None:
        try:
            return self._before.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return None


def _present() -> str:
    if sys.platform == "darwin":
        return "launchd"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime, "systemd").is_dir() and shutil.which("systemctl"):
        return "systemd"
    if shutil.which("crontab"):
        return "cron"
    raise BadInput(
        "this system has neither systemd for users, nor cron; work is done at the start and end of each session anyway",
        "此系统既没有用户级 systemd，也没有 cron；每个会话开始和结束时仍会处理后台工作",
    )


def _unit_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _write(files: dict[Path, str]) -> list[str]:
    """Writes what is not there yet. Raises BadInput for a file that somebody else wrote."""
    changed = []
    for path, text in files.items():
        try:
            if path.exists():
                if path.read_text("utf-8") == text:
                    continue
                if _NOTE not in path.read_text("utf-8") and not path.name.endswith(".plist"):
                    raise BadInput(f"{path} is not ours; move it away first", f"{path} 不是 catmem 写的；请先移走")
            path.parent.mkdir(parents=True, exist_ok=True)
            write_private(path, text.encode())
        except OSError as error:
            raise StorageFailed(
                f"cannot write {path}: {error.strerror}", f"无法写入 {path}：{error.strerror}"
            ) from error
        changed.append(str(path))
    return changed


def _unlink(names: list[str]) -> list[str]:
    for name in names:
        Path(name).unlink(missing_ok=True)
    return names


def _run(*command: str, typed: str | None = None) -> None:
    done = _called(*command, typed=typed)
    if done.returncode:
        raise _refused(command[0], done.stderr)


def _called(*command: str, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            input=typed,
            stdin=None if typed is not None else subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _refused(command[0], str(error)) from error


def _refused(program: str, why: str) -> StorageFailed:
    said = why.strip() or "no reason given"
    return StorageFailed(
        f"{program} refused: {said}; choose another with --with",
        f"{program} 拒绝了请求：{said}；可用 --with 换一种方式",
    )
