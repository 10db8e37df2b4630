"""Reads every real transcript and small case that lies beside the repository, and prints what came out, a row a tool.

    python bench/transcripts.py [--tool NAME …] [--files] [--said]

Files of no known format are counted and not read; `again` is what a second import changed, which must be nothing.
`--files` prints a row a file with its problems, `--said` each text that was taken for a person's, for a reader to judge.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from catmem.capture.importing import Importer, files_of, format_of
from catmem.domain.errors import CatmemError
from catmem.domain.message import ROLES, Message
from catmem.sessions.history import History
from catmem.settings.paths import Paths
from catmem.settings.workspace import project_of

SHARED = Path(__file__).resolve().parents[2] / "shared"
# Where each tool's files lie. Cases that are not named are of Claude Code, or of other parts of the product.
TOOLS = {
    "claude-code": (
        "transcripts/claude-code",
        "clients/transcripts/claude*",
        "cases/0*",
        "cases/10-*",
        "cases/2[1345]-*",
    ),
    "codex": ("transcripts/codex", "clients/transcripts/codex*", "cases/11-*", "cases/12-*"),
    "gemini": ("transcripts/gemini-cli", "clients/transcripts/gemini*", "cases/14-*"),
    "opencode": ("transcripts/opencode", "clients/transcripts/opencode*", "cases/28-*"),
    "cursor": ("transcripts/cursor",),
    "aider": ("transcripts/aider", "clients/transcripts/aider*"),
    "cline": ("transcripts/cline-roo",),
    "chatgpt": ("transcripts/chatgpt-export", "cases/26-*"),
    "specstory": ("transcripts/specstory",),
    "others": ("transcripts/other", "transcripts/llm-logs"),
}
COLUMNS = ("files", "unknown", "sessions", *ROLES, "problems", "failed", "again")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tool", nargs="*", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--said", action="store_true")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print("no transcripts beside the repository: nothing to measure")
        return
    _row("tool", {name: name for name in COLUMNS})
    total: Counter[str] = Counter()
    for tool in options.tool:
        counted: Counter[str] = Counter()
        for path in _files(tool):
            counted += _measure(path, options.files or options.said, options.said)
        _row(tool, counted)
        total += counted
    _row("all", total)


def _row(name: str, counted: Counter[str] | dict[str, str], after: str = "") -> None:
    print(f"{name:<12}" + "".join(f"{counted.get(column, 0):>10}" for column in COLUMNS) + after)


def _files(tool: str) -> Iterator[Path]:
    roots = [root for pattern in TOOLS[tool] for root in sorted(SHARED.glob(pattern))]
    return (path for path, _ in files_of(roots))


def _measure(path: Path, print_row: bool, said: bool) -> Counter[str]:
    try:
        if not format_of(path):
            return Counter(unknown=1)
    except CatmemError as error:
        print(f"{'':<12}{path.relative_to(SHARED)}: {error.en}")
        return Counter(files=1, failed=1, problems=1)
    with tempfile.TemporaryDirectory() as folder:
        history = History(Paths(Path(folder)), durability="none", redact=lambda text, source: text)
        report = _import(history, path)
        before = _bytes(Path(folder))
        again = _import(history, path)
        changed = again.messages_new + (_bytes(Path(folder)) != before)
        messages = [m for header in history.headers() for m in history.read(header.ref).messages]
    counted = Counter(
        files=1, sessions=report.sessions, problems=len(report.problems), failed=len(report.failed), again=changed
    )
    counted.update(str(message.role) for message in messages)
    if print_row:
        _row("", counted, f"  {path.relative_to(SHARED)}")
        for problem in report.problems:
            print(f"{'':>20}line {problem.line}: {problem.reason[:110]}")
    if said:
        _print_said(messages)
    return counted


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
            print(f"{'':>20}> {text!r}")


if __name__ == "__main__":
    main()
