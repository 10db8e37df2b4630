"""Registers our hooks in Claude Code's settings.json, and puts the file back as it was."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from catmem.clients.claude_code import settings_json
from catmem.clients.claude_code.settings_json import Settings
from catmem.domain.errors import StorageFailed
from catmem.settings.paths import Paths, write_private

# Event -> seconds after which the host gives the hook up. Ours ends itself far earlier; this is for a machine that
# stands still. Without a value SessionEnd has 1.5 s for the hooks of all tools together.
TIMEOUTS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 10, "SessionEnd": 5}


def default_config_dir() -> Path:
    """`CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named).expanduser() if named else Path.home() / ".claude"


@dataclass(frozen=True, slots=True)
class _Backup:
    """What we found and what we wrote: `original` is None where there was no file; `made` where we made its folder."""

    original: bytes | None
    written: str
    made: bool

    def encode(self) -> bytes:
        kept = None if self.original is None else base64.b64encode(self.original).decode()
        return json.dumps({"original": kept, "written": self.written, "made": self.made}).encode()

    @classmethod
    def decode(cls, data: bytes) -> _Backup | None:
        try:
            record = json.loads(data)
            kept = record["original"]
            original = None if kept is None else base64.b64decode(kept)
            return cls(original, str(record["written"]), bool(record["made"]))
        except (ValueError, KeyError, TypeError):
            return None


class ClaudeCodeInstaller:
    """The Installer of one configuration folder.

    `command` starts our program, absolute and with the options it needs: ("/home/u/.local/bin/mem",).
    """

    def __init__(self, paths: Paths, command: Sequence[str], config_dir: Path | None = None) -> None:
        self._paths = paths
        self._command = tuple(command)
        # Through links: a settings file kept among dotfiles stays there.
        self.file = Path(os.path.realpath((config_dir or default_config_dir()) / "settings.json"))

    def install(self) -> str:
        """Puts our hooks in. Returns the changed file, "" if all was in place.

        Raises BadInput, and changes nothing, if the file cannot be understood; StorageFailed if the disk refuses.
        """
        with _disk(self.file):
            found = self._read()
            text, settings = settings_json.parse(found or b"", self.file)
            groups = self._groups()
            if settings_json.has_exactly(settings, groups):
                return ""
            clean = settings_json.without_ours(settings)
            data = settings_json.rendered(text, settings_json.with_ours(clean, groups))
            settings_json.parse(data, self.file)
            self._keep(self._backup_of(found, text, settings, clean, data))
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._write(data)
            return str(self.file)

    def uninstall(self) -> str:
        """Takes our hooks out: the file of before, byte for byte, if only we changed it. Returns the changed file."""
        with _disk(self.file):
            found, backup = self._read(), self._backup()
            changed = ""
            if found is not None and backup is not None and _digest(found) == backup.written:
                self._restore(backup)
                changed = str(self.file)
            elif found is not None:
                text, settings = settings_json.parse(found, self.file)
                clean = settings_json.without_ours(settings)
                if clean != settings:
                    self._write(settings_json.rendered(text, clean))
                    changed = str(self.file)
            self._backup_file.unlink(missing_ok=True)
            return changed

    def is_installed(self) -> bool:
        """True if the settings call the program that would be installed now, at every event."""
        found = self._read()
        return found is not None and settings_json.has_exactly(settings_json.parse(found, self.file)[1], self._groups())

    def _groups(self) -> dict[str, Settings]:
        return {
            event: {"hooks": [{"type": "command", "command": self._spelled(event), "timeout": seconds}]}
            for event, seconds in TIMEOUTS.items()
        }

    def _spelled(self, event: str) -> str:
        program, *options = self._command
        words = [program, "hook", "claude-code", event, *options]
        if sys.platform == "win32":
            # Git Bash runs it: forward slashes need no quoting there.
            words = [word.replace("\\", "/") for word in words]
        return " ".join(map(shlex.quote, words))

    def _backup_of(self, found: bytes | None, text: str, settings: Settings, clean: Settings, data: bytes) -> _Backup:
        earlier = self._backup()
        if earlier is not None and found is not None and _digest(found) == earlier.written:
            return _Backup(earlier.original, _digest(data), earlier.made)
        original = found if clean == settings else settings_json.rendered(text, clean)
        return _Backup(original, _digest(data), not self.file.parent.is_dir())

    def _restore(self, backup: _Backup) -> None:
        if backup.original is not None:
            self._write(backup.original)
            return
        self.file.unlink()
        if backup.made:
            with contextlib.suppress(OSError):  # not empty: others use it by now
                self.file.parent.rmdir()

    @property
    def _backup_file(self) -> Path:
        name = hashlib.blake2b(str(self.file).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        return self._paths.run / "installs" / f"claude-code-{name}.json"

    def _backup(self) -> _Backup | None:
        try:
            return _Backup.decode(self._backup_file.read_bytes())
        except FileNotFoundError:
            return None

    def _keep(self, backup: _Backup) -> None:
        self._paths.make(self._backup_file.parent)
        write_private(self._backup_file, backup.encode())

    def _read(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None

    def _write(self, data: bytes) -> None:
        """Whole or not at all, with the rights that the file had."""
        mode = self.file.stat().st_mode & 0o777 if self.file.exists() else None
        write_private(self.file, data)
        if mode is not None:
            self.file.chmod(mode)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@contextlib.contextmanager
def _disk(file: Path) -> Iterator[None]:
    """Translates what the disk refuses."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error)
        raise StorageFailed(
            f"{error.filename or file}: {why}. Check the folder and its permissions, then try again.",
            f"{error.filename or file}：{why}。请检查目录及其权限后重试。",
        ) from error


INSTALLER = ClaudeCodeInstaller
