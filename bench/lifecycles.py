"""Hosts that are killed with their hooks under way: what of ours is still running a minute later."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Bar

SESSIONS = 200
# Hosts at a time, as an editor with a few windows has them.
AT_ONCE = 4
# Every so many hosts have our MCP server, too; it takes a second to start.
WITH_SERVER = 10
SECONDS = 60

# A host: runs each hook with a payload, in turn, as an assistant does.
_HOST = """
import json, subprocess, sys
mem, options, payloads, server = json.loads(sys.argv[1])
if server:
    pipe = subprocess.PIPE
    kept = subprocess.Popen([mem, "mcp", *options], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
for event, payload in payloads:
    hook = [mem, "hook", "claude-code", event, *options]
    subprocess.run(hook, input=json.dumps(payload).encode(), stdout=subprocess.DEVNULL, check=False)
"""


def measure(sessions: int = SESSIONS) -> list[Bar]:
    """Kills each host at a random moment of its session, and looks for what stays."""
    dice = random.Random(11)
    mark = uuid.uuid4().hex
    with tempfile.TemporaryDirectory() as folder:
        root, workspace = Path(folder, "data"), Path(folder, "shop")
        workspace.mkdir()
        waiting = list(range(sessions))
        running: list[tuple[subprocess.Popen[bytes], float]] = []
        killed = 0
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                host = _host(root, workspace, waiting.pop(), mark)
                running.append((host, time.monotonic() + dice.uniform(0, 1.2)))
            for host, end in [pair for pair in running if time.monotonic() >= pair[1] or pair[0].poll() is not None]:
                killed += host.poll() is None
                host.send_signal(signal.SIGKILL)
                host.wait()
                running.remove((host, end))
            time.sleep(0.01)
        begun = time.monotonic()
        while (left := len(list(_marked(mark)))) and time.monotonic() < begun + SECONDS:
            time.sleep(0.1)
        gone = time.monotonic() - begun
        for pid in _marked(mark):
            os.kill(pid, signal.SIGKILL)
    return [
        Bar(f"processes left {SECONDS} s after {sessions} sessions, {killed} hosts killed -9", left, 0, unit=" "),
        Bar("until the last process of a killed host is gone", gone, SECONDS, unit="s"),
    ]


def _host(root: Path, workspace: Path, number: int, mark: str) -> subprocess.Popen[bytes]:
    common = {"session_id": f"s{number}", "transcript_path": "", "cwd": str(workspace)}
    payloads = [
        ("SessionStart", {**common, "source": "startup"}),
        ("UserPromptSubmit", {**common, "prompt": f"Remember: the port of service {number} is {4000 + number}."}),
        ("Stop", {**common, "last_assistant_message": "Noted. 记下了。"}),
        ("SessionEnd", {**common, "reason": "other"}),
    ]
    mem = str(Path(sys.executable).with_name("mem"))
    told = json.dumps([mem, ["--dir", str(root)], payloads, number % WITH_SERVER == 0])
    environment = {**os.environ, "CATMEM_BENCH_MARK": mark}
    return subprocess.Popen(
        [sys.executable, "-c", _HOST, told], env=environment, stdin=subprocess.DEVNULL, start_new_session=True
    )


def _marked(mark: str) -> Iterator[int]:
    """The processes with our mark in their environment."""
    wanted = f"CATMEM_BENCH_MARK={mark}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                marked = wanted in (folder / "environ").read_bytes().split(b"\0")
            except OSError:
                continue  # ended meanwhile, or not ours to see
            if marked:
                yield int(folder.name)


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
