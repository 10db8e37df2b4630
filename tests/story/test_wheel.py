"""What a user installs: our wheel, in an environment with what it names and nothing else, and no network afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from catmem.clients.catalogue import CLIENTS
from tests.real.alone import leave_the_network

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parents[2]
UV = SOURCE / ".cache" / "bin" / "uv"
PROMPT = "记住：发布前先跑 make smoketest。 Remember: the lid is of clay."


@pytest.fixture(scope="module")
def mem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program in an environment of its own. The index of packages is asked for the builder and what the wheel names,
    in the way in which the environment of these tests was made."""
    folder = tmp_path_factory.mktemp("wheel")
    venv = folder / "venv"
    _run("venv", "--python", sys.executable, str(venv))
    _run("build", "--wheel", "--out-dir", str(folder), str(SOURCE))
    (wheel,) = folder.glob("*.whl")
    _run("pip", "install", "--python", str(venv / "bin" / "python"), str(wheel))
    return venv / "bin" / "mem"


def _run(*arguments: str) -> None:
    done = subprocess.run([str(UV), "--quiet", *arguments], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode and "onnect" in done.stderr and os.environ.get("CI") != "true":
        pytest.skip(f"the index of packages cannot be reached: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


class Home:
    """A newcomer without a network."""

    def __init__(self, mem: Path, root: Path) -> None:
        self.mem, self.data, self.shop = mem, root / "home" / ".catmem", root / "shop"
        self.shop.mkdir()
        self.environment = {"HOME": str(root / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def run(self, *arguments: str, typed: str = "") -> str:
        done = subprocess.run(
            [str(self.mem), *arguments], input=typed, capture_output=True, encoding="utf-8", timeout=120,
            env=self.environment, cwd=self.shop, preexec_fn=leave_the_network, check=False,
        )  # fmt: skip
        assert done.returncode == 0 and (arguments[0] != "hook" or not done.stderr), (arguments, done)
        return done.stdout


def test_every_hook_of_every_assistant_works(mem: Path, tmp_path: Path) -> None:
    home = Home(mem, tmp_path)
    for client, row in CLIENTS.items():
        for number, event in enumerate(row["events"]):
            payload = {
                "session_id": f"{client}-1", "conversation_id": f"{client}-1", "transcript_path": "", "source": "startup",
                "cwd": str(home.shop), "workspace_roots": [str(home.shop)], "hook_event_name": event,
                "prompt": f"{PROMPT} ({client})", "prompt_id": str(number), "last_assistant_message": "好的。",
            }  # fmt: skip
            home.run("hook", client, event, typed=json.dumps(payload))
    assert not (home.data / "run" / "hook-failures.jsonl").exists()
    said = {
        message["content"]
        for s in json.loads(home.run("export", "--messages"))["sessions"]
        for message in s["messages"]
    }
    called = {client for client, row in CLIENTS.items() if row["events"]}
    assert len(called) >= 5 and {text for text in said if text.startswith(PROMPT)} == {
        f"{PROMPT} ({client})" for client in called
    }


def test_all_that_it_needs_is_in_it(mem: Path, tmp_path: Path) -> None:
    """The rules, the weights, the words of both languages: a conversation becomes memory, and is found and told."""
    home = Home(mem, tmp_path)
    for number, prompt in enumerate(("Remember: the lid is of clay.", "记住：部署前先跑测试。")):
        payload = {"session_id": f"s{number}", "transcript_path": "", "cwd": str(home.shop), "prompt": prompt}
        home.run("hook", "claude-code", "UserPromptSubmit", typed=json.dumps(payload))
    home.run("work")
    for query, found in (("lid", "clay"), ("部署", "测试")):
        assert found in home.run("recall", query) and found in home.run("brief")
    home.run("doctor")
    assert "clay" in "".join(page.read_text("utf-8") for page in home.data.rglob("MEMORY.md"))
    version = home.run("--version").split()[-1]
    assert f"catmem-{version}" in " ".join(path.name for path in mem.parents[1].rglob("catmem-*.dist-info"))
