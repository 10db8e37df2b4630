"""Importing 100 MB of transcripts: how fast, and in how much memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.measure import Bar

MEGABYTES = 100
FILES = 40
# What a process of ours weighs before it reads anything is about 40 MB; the rest must not grow with the input.
MOST_RSS = 200


def measure() -> list[Bar]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "projects", "-home-u-shop")
        tree.mkdir(parents=True)
        written = sum(_write(tree, number) for number in range(FILES)) / 1e6
        program = str(Path(sys.executable).with_name("mem"))
        started = time.perf_counter()
        command = [program, "import", str(tree.parent), "--dir", f"{folder}/data", "--json"]
        done = subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - started
        rss = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        report = json.loads(done.stdout)
        again = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert again["messages_new"] == 0 and again["messages_known"] == report["messages_new"]
    print(f"     import: {written:.0f} MB, {report['messages_new']:,} messages, {written / seconds:.1f} MB/s")
    return [Bar(f"import of {written:.0f} MB of transcripts, peak memory", rss, MOST_RSS, unit="MB")]


def _write(tree: Path, number: int) -> int:
    """One transcript in the form of Claude Code: prompts, replies and bulky tool results."""
    session = f"{number:08d}-0000-4000-8000-000000000000"
    bulk = "line of a log that nobody reads again\n" * 300
    parent, lines, size = None, [], 0
    turn = 0
    while size < MEGABYTES * 1e6 / FILES:
        turn += 1
        for kind, content in (
            ("user", f"turn {turn}: why does the upload retry so slowly? 队列又积压了 {turn}"),
            ("assistant", [{"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "cat log"}}]),
            ("user", [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": bulk}]),
            ("assistant", [{"type": "text", "text": f"The back-off doubles without a ceiling; see line {turn}."}]),
        ):
            uuid = f"{number}-{turn}-{len(lines)}"
            message = {"role": kind, "content": content, "id": f"msg_{uuid}"}
            line = json.dumps(
                {
                    "type": kind,
                    "uuid": uuid,
                    "parentUuid": parent,
                    "sessionId": session,
                    "cwd": "/home/u/shop",
                    "timestamp": f"2026-03-01T{turn // 3600 % 24:02}:{turn // 60 % 60:02}:{turn % 60:02}.000Z",
                    "message": message,
                }
            )
            lines.append(line)
            size += len(line) + 1
            parent = uuid
    (tree / f"{session}.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return size


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
