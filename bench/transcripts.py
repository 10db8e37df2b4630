"""Reads every real transcript and small case of Claude Code that lies beside the repository, and prints what came out.

    python bench/transcripts.py [--said] [--folder DIR …]

A row a file: messages by role, lines that could not be read, and what a second import changed (which must be nothing).
`--said` prints each text that was taken for a person's, for a reader to judge.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

from catmem.capture.importing import Importer, files_of
from catmem.domain.message import ROLES, Message
from catmem.sessions.history import History
from catmem.settings.paths import Paths
from catmem.settings.workspace import project_of

SHARED = Path(__file__).resolve().parents[2] / "shared"
FOLDERS = ("transcripts/claude-code", "clients/transcripts", "cases")
# Cases of other clients and of other parts of the product.
NOT_OURS = ("11-", "12-", "14-", "15-", "16-", "18-", "19-", "20-", "26-", "28-", "32-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--said", action="store_true")
    parser.add_argument("--folder", type=Path, nargs="*", default=[SHARED / name for name in FOLDERS])
    options = parser.parse_args()
    folders = [folder for folder in options.folder if folder.is_dir()]
    if not folders:
        print("no transcripts beside the repository: nothing to measure")
        return
    print(f"{'user':>5} {'asst':>5} {'tool':>5} {'syst':>5} {'bad':>4} {'again':>6} {'s':>5}  file")
    total: Counter[str] = Counter()
    for path in _files(folders):
        total += _measure(path, path.relative_to(SHARED) if path.is_relative_to(SHARED) else path, options.said)
    print(f"\n{total['files']} files: " + ", ".join(f"{total[role]} {role}" for role in ROLES))
    print(
        f"{total['problems']} problems; {total['failed']} files failed; a second import added {total['again']} messages"
    )


def _files(folders: list[Path]) -> list[Path]:
    found = [path for path, _ in files_of(folders, "claude-code")]
    return [path for path in found if not path.parent.name.startswith(NOT_OURS) and "codex" not in path.name]


def _measure(path: Path, name: Path, said: bool) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        history = History(Paths(Path(folder)), durability="none", redact=lambda text, source: text)
        begun = time.perf_counter()
        report = _import(history, path)
        seconds = time.perf_counter() - begun
        before = _bytes(Path(folder))
        again = _import(history, path)
        changed = again.messages_new + (_bytes(Path(folder)) != before)
        messages = [m for header in history.headers() for m in history.read(header.ref).messages]
    roles = Counter(message.role for message in messages)
    counts = " ".join(f"{roles[role]:>5}" for role in ("user", "assistant", "tool", "system"))
    print(f"{counts} {len(report.problems):>4} {changed:>6} {seconds:>5.1f}  {name}")
    for problem in report.problems:
        print(f"{'':>38}  line {problem.line}: {problem.reason[:110]}")
    if said:
        _print_said(messages)
    failed = Counter(files=1, problems=len(report.problems), failed=len(report.failed), again=changed)
    return failed + Counter({str(role): count for role, count in roles.items()})


def _import(history: History, path: Path):  # type: ignore[no-untyped-def]
    return Importer(history, project_of=lambda cwd: project_of(cwd).key).run([path])


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*.jsonl")}


def _print_said(messages: list[Message]) -> None:
    for message in messages:
        if message.role == "user":
            text = (
                message.content if len(message.content) < 400 else message.content[:300] + " … " + message.content[-90:]
            )
            print(f"{'':>38}  > {text!r}")


if __name__ == "__main__":
    main()
