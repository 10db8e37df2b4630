"""Reads every real transcript and small case that lies beside the repository, and prints what came out, a row a tool.

    python bench/transcripts.py [--tool NAME …] [--files] [--said]

Files of no known format are counted and not read; `again` is what a second import changed, which must be nothing.
`--files` prints a row a file with its problems, `--said` each text that was taken for a person's, for a reader to judge.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from catmem.capture.formats import files_of, format_of
from catmem.capture.importing import Importer
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
    "openclaw": ("transcripts/other/*/tests/fixtures/pi_agent",),
    "llm": ("transcripts/llm-logs",),
    "others": ("transcripts/other/*/tests/fixtures/[!p]*", "transcripts/other/*/test"),
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
        with tempfile.TemporaryDirectory() as folder:
            for path in _files(tool):
                counted += _measure(_database(path, Path(folder)), options.files or options.said, options.said)
        _row(tool, counted)
        total += counted
    _row("all", total)


def _row(name: str, counted: Counter[str] | dict[str, str], after: str = "") -> None:
    print(f"{name:<12}" + "".join(f"{counted.get(column, 0):>10}" for column in COLUMNS) + after)


def _files(tool: str) -> Iterator[Path]:
    roots = [root for pattern in TOOLS[tool] for root in sorted(SHARED.glob(pattern))]
    return (path for path, _ in files_of(roots))


def _shown(path: Path) -> Path:
    return path.relative_to(SHARED) if path.is_relative_to(SHARED) else Path(path.name)


def _database(path: Path, folder: Path) -> Path:
    """Cursor's rows that lie there as JSON, as the database that they are of; any other file itself."""
    if path.suffix != ".json" or b'"bubble_rows"' not in path.read_bytes():
        return path
    rows = json.loads(path.read_bytes())
    made = folder / f"{path.stem}.vscdb"
    with closing(sqlite3.connect(made)) as connection, connection:
        connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        values = [(rows["composer_key"], rows["composer_data"])]
        values += [(row["key"], row["value"]) for row in rows["bubble_rows"]]
        told = [(name, json.dumps(value)) for name, value in values]
        connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", told)
    return made


def _measure(path: Path, print_row: bool, said: bool) -> Counter[str]:
    try:
        if not format_of(path):
            return Counter(unknown=1)
    except CatmemError as error:
        print(f"{'':<12}{_shown(path)}: {error.en}")
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
        _row("", counted, f"  {_shown(path)}")
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
