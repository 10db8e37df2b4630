"""Importing 1 GB of transcripts, half of it one session: how fast, in how much memory, and again for nothing."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Bar, watched

MEGABYTES = 1000
# One session takes half of them, these the rest.
FILES = 40
# Of the output of a tool.
NEW_NAMES, REPEATED = 40, 7
# Measured: 40 MB before anything is read, 90 while it is, 230 while the search index is made.
MOST_MEGABYTES = 300


def measure() -> list[Bar]:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "projects", "-home-u-shop")
        tree.mkdir(parents=True)
        written = _write(tree, FILES, MEGABYTES / 2) / 1e6
        written += sum(_write(tree, number, MEGABYTES / 2 / FILES) for number in range(FILES)) / 1e6
        program = str(Path(sys.executable).with_name("mem"))
        command = [program, "import", str(tree.parent), "--dir", f"{folder}/data", "--json"]
        printed, seconds, peak = watched(command)
        report = json.loads(printed)
        again = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert again["messages_known"] == report["messages_new"]
    print(f"     import: {written:.0f} MB, {report['messages_new']:,} messages, {written / seconds:.1f} MB/s")
    return [
        Bar(
            f"import of {written:.0f} MB of transcripts, half of it one session, peak memory",
            peak / 1e6,
            MOST_MEGABYTES,
            unit="MB",
        ),
        Bar("the same import again, new messages", again["messages_new"], 0, unit=""),
    ]


def _write(tree: Path, number: int, megabytes: float) -> int:
    """One transcript in the form of Claude Code: prompts, replies and bulky tool results."""
    session = f"{number:08d}-0000-4000-8000-000000000000"
    chance = random.Random(number)
    parent, turn, size = None, 0, 0
    with (tree / f"{session}.jsonl").open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            turn += 1
            for step, (kind, content) in enumerate(_turn(turn, _log(chance))):
                uuid = f"{number}-{turn}-{step}"
                line = json.dumps(
                    {
                        "type": kind,
                        "uuid": uuid,
                        "parentUuid": parent,
                        "sessionId": session,
                        "cwd": "/home/u/shop",
                        "timestamp": f"2026-03-01T{turn // 3600 % 24:02}:{turn // 60 % 60:02}:{turn % 60:02}.000Z",
                        "message": {"role": kind, "content": content, "id": f"msg_{uuid}"},
                    }
                )
                size += file.write(line + "\n")
                parent = uuid
    return size


def _log(chance: random.Random) -> str:
    """24 KB of what a build says: the same lines over and over, and now and then names that were never there."""
    line = "compiled another file of the project; nothing in it that anybody reads again\n"
    names = chance.randbytes(NEW_NAMES * 4).hex(" ", -4).split()
    return "".join(f"{line * REPEATED}object {name} written for step {name[:3]} of the build\n" for name in names)


def _turn(turn: int, bulk: str) -> tuple[tuple[str, Any], ...]:
    return (
        ("user", f"turn {turn}: why does the upload retry so slowly? 队列又积压了 {turn}"),
        ("assistant", [{"type": "tool_use", "id": f"t{turn}", "name": "Bash", "input": {"command": "cat log"}}]),
        ("user", [{"type": "tool_result", "tool_use_id": f"t{turn}", "content": bulk}]),
        ("assistant", [{"type": "text", "text": f"The back-off doubles without a ceiling; see line {turn}."}]),
    )


if __name__ == "__main__":
    for bar in measure():
        print(bar.line())
