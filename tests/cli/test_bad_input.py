"""Whatever is given to a command, or wrong with its data: a clear sentence in the user's language, the documented
exit code, no traceback, and nothing lost."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import subprocess
from collections.abc import Callable

import pytest

from tests.cli.clear import COMMANDS, GARBAGE, is_clear, kept, started
from tests.cli.shell import Ended, Shell

# -- files


FILES: dict[str, bytes] = {
    "empty": b"",
    "binary": os.urandom(4096),
    "text": b"Dear diary,\n",
    "utf16": "{}".encode("utf-16"),
    "cut": b'{"session":"x","role":"user","content":"\xe5\xbf',
    "line": b'{"session":"x","role":"user","content":"' + b"x" * (3 << 20),
    "format9": b'{"format":"catmem-export/9","memories":[],"sessions":[]}',
    "holes": b'{"format":"catmem-export/1","memories":[{"id":1}],"sessions":[{}]}',
    "deep": b"[" * 100_000,
    "number": b"42",
}


@pytest.mark.parametrize("source", ["auto", "messages", "claude-code", "catmem-export"])
def test_import_of_what_is_none(known: Shell, source: str) -> None:
    before = kept(known)
    for name, data in FILES.items():
        path = known.write(name, data)
        is_clear(known, known.mem("import", path, "--from", source), 0, 10)
        assert known.mem("import", path, "--from", source, "--json").out.count("\n") == 1
    known.write("folder/inside", b"")
    is_clear(known, known.mem("import", "folder", "--from", source), 0, 10)
    assert kept(known) == before


def test_an_invalid_line_costs_itself_only(known: Shell) -> None:
    good = '{"session":"x","project":"shop","role":"user","content":"%s","timestamp":"2026-06-01T09:00:00Z"}\n'
    known.write("mixed.jsonl", (good % "one").encode() + b"\xff\xfe\n{\n" + (good % "two 😀").encode())
    assert known.json("import", "mixed.jsonl")["messages_new"] == 2


def test_import_of_what_is_not_there(known: Shell) -> None:
    before = kept(known)
    for paths in (("nowhere",), ("new.jsonl", "nowhere"), ("",)):
        is_clear(known, known.mem("import", *paths), 4)
    assert kept(known) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_import_of_what_may_not_be_read(known: Shell) -> None:
    known.write("mine", b"{}").chmod(0)
    is_clear(known, known.mem("import", "mine"), 10)


def test_export_to_where_nothing_can_be(known: Shell) -> None:
    is_clear(known, known.mem("export", known.folder), 2)
    for place in ("nowhere/out.json", "new.jsonl/out.json", "/proc/out.json", "x" * 300):
        is_clear(known, known.mem("export", place), 8)
    assert sorted(path.name for path in known.folder.iterdir()) == ["monday.jsonl", "new.jsonl"]


# -- words


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "m000000000000"), ("show", ""), ("log", "nope"), ("forget", "m0000000"), ("forget", "unheard-of"),
        ("forget", "--project", "nope", "--yes"), ("sessions", "show", "nope"), ("sessions", "show", ""),
        ("sessions", "show", "../../etc/passwd"), ("sessions", "show", "monday", "--project", "nope"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_unknown(known: Shell, arguments: tuple[str, ...]) -> None:
    is_clear(known, known.mem(*arguments), 4)


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall",), ("recall", "x", "--limit", "-1"), ("recall", "x", "--limit", "9999999999999999999999"),
        ("recall", "x", "--since", "yesterday"), ("recall", "x", "--until", "2026-13-45"), ("recall", "x", "--kind", ""),
        ("recall", "--save", ""), ("recall", "--save", "x" * 100_000), ("recall", "x", "--global"), ("forget",),
        ("forget", "--before", "0000-00-00"), ("log", "--limit", "-3"), ("install", "emacs"), ("bogus",), ("status", "x"),
    ],
    ids=lambda it: " ".join(it)[:40],
)  # fmt: skip
def test_what_is_not_understood(known: Shell, arguments: tuple[str, ...]) -> None:
    before = kept(known)
    is_clear(known, known.mem(*arguments), 2)
    assert kept(known) == before


@pytest.mark.parametrize(
    "value", ["colour blue", "max_recall_items -1", "max_recall_items [", "language klingon", "models {}"]
)
def test_a_setting_that_cannot_be(known: Shell, value: str) -> None:
    before = kept(known)
    is_clear(known, known.mem("config", "set", *value.split()), 3)
    assert kept(known) == before


@pytest.mark.parametrize(
    "query",
    ["", " ", '"', "AND OR NOT", "a:b^2~3 (", "*", "😀", "\\", "-pnpm", "\x00".replace("\x00", "\x01"), "ü" * 50_000],
)
def test_any_query_is_safe(english: Shell, query: str) -> None:
    for options in ((), ("--all-projects",)):
        done = english.mem("recall", *options, "--json", "--", query)
        assert (done.code, set(done.json)) == (0, {"mode", "items"}), done.err
    assert english.mem("brief", "--prompt", query).code == 0


def test_a_query_of_a_megabyte(english: Shell) -> None:
    found = english.json("recall", "--all-projects", "pnpm " + "数据库 words " * 80_000)
    assert "pnpm" in found["items"][0]["text"]


def test_a_project_of_any_name(english: Shell) -> None:
    for name in ("../../x", "/", "名字 with space", "x" * 300, "CON", "."):
        english.ok("recall", "--save", f"a memory of {name[:20]}", "--project", name)
        assert english.json("recall", "memory", "--project", name)["items"]
    assert sorted(path.name for path in english.root.iterdir()) == ["err", "home", "out", "shop", "typed"]


# -- data


def _yaml(shell: Shell) -> None:
    (shell.data / "config.yaml").write_text("a: [\nb\n")


def _value(shell: Shell) -> None:
    (shell.data / "config.yaml").write_text("max_recall_items: many\n")


def _bytes(shell: Shell) -> None:
    (shell.data / "config.yaml").write_bytes(b"\xff\xfe\x00")


@pytest.mark.parametrize("broken", [_yaml, _value, _bytes])
def test_config_that_is_broken(known: Shell, broken: Callable[[Shell], None]) -> None:
    broken(known)
    before = kept(known)
    for command in COMMANDS:
        done = known.mem(*command)
        is_clear(known, done, *((1,) if command == ("doctor",) else (0, 3)))
        # Setting the wrong value right is the way out.
        assert kept(known) == before or (command[:2] == ("config", "set") and broken is _value), command


def _corrupt(shell: Shell) -> None:
    for path in shell.data.glob("memories.db*"):
        path.write_bytes(GARBAGE)


def _truncated(shell: Shell) -> None:
    os.truncate(shell.data / "memories.db", 5000)


def _no_index(shell: Shell) -> None:
    for path in (shell.data / "search").rglob("*"):
        if path.is_file():
            path.write_bytes(GARBAGE)


@pytest.mark.parametrize("broken", [_corrupt, _truncated, _no_index])
def test_what_is_derived_is_made_again(english: Shell, broken: Callable[[Shell], None]) -> None:
    whole = english.json("export", "--messages") | {"exported_at": ""}
    for command in COMMANDS:
        broken(english)
        if command[0] not in ("forget", "import", "init", "config") and "--save" not in command:
            is_clear(english, english.mem(*command), 0, 1)
    broken(english)
    assert english.mem("doctor").code == 1
    english.ok("doctor", "--repair")
    english.ok("doctor")
    assert english.json("export", "--messages") | {"exported_at": ""} == whole
    assert english.json("recall", "pnpm", "--project", "shop")["items"]


def test_a_database_of_a_newer_catmem_is_refused_and_left_alone(known: Shell) -> None:
    with sqlite3.connect(known.data / "memories.db") as database:
        database.execute("PRAGMA user_version = 9999")
    database.close()
    before = kept(known)
    for command in COMMANDS:
        if command[0] in ("init", "sessions", "import", "config"):
            continue
        is_clear(known, known.mem(*command), 1 if command == ("doctor",) else 9)
    assert kept(known) == before
    assert known.mem("doctor", "--repair").code in (1, 9)


def test_a_ledger_line_that_is_damaged(english: Shell) -> None:
    [ledger] = (english.data / "ledger").glob("*.jsonl")
    english.ok("recall", "--save", "said before the damage", "--project", "shop")
    with ledger.open("ab") as file:
        file.write(b"\xff\xfe broken\n")
    english.ok("recall", "--save", "said after the damage", "--project", "shop")
    (english.data / "memories.db").unlink()
    for command in COMMANDS[1:2] + COMMANDS[6:8] + COMMANDS[9:13]:
        is_clear(english, english.mem(*command), 0)
    done = english.mem("doctor")
    assert done.code == 1 and "ledger/" in done.out
    found = {item["text"] for item in english.json("recall", "damage", "--project", "shop")["items"]}
    assert found == {"said before the damage", "said after the damage"}


def test_a_session_that_is_damaged(english: Shell) -> None:
    [path] = (english.data / "messages").rglob("*.jsonl")
    with path.open("ab") as file:
        file.write(GARBAGE)
    for command in COMMANDS:
        is_clear(english, english.mem(*command))
    english.mem("doctor", "--repair")
    assert len(english.json("sessions", "show", "monday")["messages"]) == 2


def test_a_lock_that_others_hold(english: Shell) -> None:
    english.ok("work")
    with (english.data / "run" / "locks" / "work.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in (("status",), ("recall", "pnpm"), ("sessions",), ("work", "--background")):
            is_clear(english, english.mem(*command), 0)


def test_a_database_that_is_locked_is_waited_for(english: Shell) -> None:
    holder = sqlite3.connect(english.data / "memories.db", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        waiting = started(english, "recall", "--save", "in the end", "--project", "shop", stdout=subprocess.PIPE)
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(1.5)
    finally:
        holder.close()
    assert waiting.wait(30) == 0
    assert english.json("recall", "end", "--project", "shop")["items"]


def test_a_database_that_stays_locked(known: Shell) -> None:
    holder = sqlite3.connect(known.data / "memories.db", isolation_level=None)
    try:
        holder.execute("BEGIN EXCLUSIVE")
        before = kept(known)
        known.environment["BUSY_SECONDS"] = "1"
        is_clear(known, known.mem("recall", "--save", "x"), 6)
        assert kept(known) == before
    finally:
        holder.close()


@pytest.mark.parametrize("limit", [0, 1000, 20_000, 80_000])
def test_a_disk_that_is_full(known: Shell, limit: int) -> None:
    """No file may grow beyond a size: the kernel refuses as a full disk does."""
    before = kept(known)
    for command in COMMANDS:
        if command[0] in ("forget", "config", "init"):
            continue
        done = known.mem(*command, file_limit=limit, stdout="/dev/null")
        is_clear(known, Ended(done.code, "", done.err), 0, 1, 8, 10) if done.err else None
        assert done.code in (0, 1, 6, 8, 10), (command, done)
    after = kept(known)
    # Line 1 of a session may have been patched; nothing of what follows may be gone.
    assert all(data[2048:] in after[name] for name, data in before.items())
    known.ok("recall", "pnpm", "--project", "shop")
    assert len(known.json("sessions", "show", "monday")["messages"]) == 2
    known.ok("work")
    assert known.json("recall", "--save", "space again", "--project", "shop")["id"]
    assert known.mem("doctor", "--repair").code in (0, 1)
    known.ok("doctor")


def test_a_file_where_the_directory_should_be(known: Shell) -> None:
    known.write("file", b"mine")
    for command in COMMANDS:
        is_clear(known, known.mem(*command, environment={"CATMEM_DIR": str(known.folder / "file")}))
    is_clear(known, known.mem("--dir", "file", "status"), 2)
    assert (known.folder / "file").read_bytes() == b"mine"


def test_without_a_home(known: Shell) -> None:
    for command in (("status",), ("recall", "pnpm"), ("doctor",)):
        is_clear(known, known.mem(*command, "--dir", known.data, environment={"HOME": None}), 0)
