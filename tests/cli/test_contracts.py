"""The JSON of each command (docs: "Command-line contracts"): the very keys, one object on stdout, all else on stderr."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell

LINE_1 = {"key", "title", "preview", "created_at", "updated_at", "last_consolidated", "metadata"}
ITEM = {"type", "id", "text", "kind", "scope", "project", "score", "why", "session", "message_id", "at"}
ENTRY = {
    "id", "scope", "project", "kind", "subject", "predicate", "object", "text", "tags", "confidence", "confirmations",
    "pinned", "status", "version", "created_at", "updated_at", "valid_from", "valid_to", "evidence",
}  # fmt: skip
PAYLOAD = json.dumps(
    {
        "session_id": "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11",
        "transcript_path": "",
        "cwd": "/home/me/shop",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Which port has the staging database?",
    }
)


@pytest.fixture
def known(shell: Shell) -> Shell:
    """With two sessions, memories of a project and one of the profile."""
    shell.talk("monday", "Remember: I always use npm.", "The staging database is on port 5432.", day="2026-06-29")
    shell.talk(
        "tuesday",
        "Remember: from now on I always use pnpm instead of npm.",
        "记住：测试环境的端口是 8080。",
        day="2026-06-30",
    )
    shell.ok("import", "monday.jsonl", "tuesday.jsonl")
    shell.ok("work")
    return shell


def test_import(shell: Shell) -> None:
    shell.talk("monday", "One.", "Two.")
    shell.write("bad.jsonl", "nonsense\n")
    first = shell.json("import", "monday.jsonl", "bad.jsonl", "--from", "messages")
    problems = first.pop("problems")
    assert first == {"sessions": 1, "messages_new": 2, "messages_known": 0}
    assert [set(problem) for problem in problems] == [{"file", "line", "reason"}] * len(problems)
    assert (problems[0]["file"], problems[0]["line"]) == ("bad.jsonl", 1)
    again = {"sessions": 1, "messages_new": 0, "messages_known": 2, "problems": []}
    assert shell.json("import", "monday.jsonl") == again
    assert shell.json("import", "monday.jsonl", "--dry-run") == again


def test_an_import_of_nothing_prints_its_object_and_fails(shell: Shell) -> None:
    shell.write("bad.jsonl", "nonsense\n")
    done = shell.mem("import", "bad.jsonl", "--json")
    assert done.code == 10
    assert set(done.json) == {"sessions", "messages_new", "messages_known", "problems"}
    assert done.err.startswith("mem: nothing could be imported")


def test_a_folder_is_walked(shell: Shell) -> None:
    shell.talk("talks/one", "One.", session="one")
    shell.talk("talks/deep/two", "Two.", session="two")
    assert shell.json("import", "talks")["sessions"] == 2


def test_sessions(known: Shell) -> None:
    listed = known.json("sessions")
    assert set(listed) == {"sessions"}
    assert [(set(line), line["key"]) for line in listed["sessions"]] == [(LINE_1, "tuesday"), (LINE_1, "monday")]
    assert {"project", "cwd", "client", "count"} <= set(listed["sessions"][0]["metadata"])
    assert known.json("sessions", "--project", "nowhere") == {"sessions": []}
    shown = known.json("sessions", "show", "monday")
    assert set(shown) == {"session", "messages"}
    assert shown["session"] == listed["sessions"][1]
    assert [(m["id"], m["role"], m["sessionKey"]) for m in shown["messages"]] == [
        (1, "user", "monday"),
        (2, "user", "monday"),
    ]
    assert shown["messages"][1]["content"] == "The staging database is on port 5432."


def test_work(known: Shell) -> None:
    assert known.json("work") == {"distilled": 0, "dreamed": 0, "compacted": 0, "failed": 0, "pending": 0}


def test_recall(known: Shell) -> None:
    found = known.json("recall", "staging database", "--project", "shop")
    assert set(found) == {"mode", "items"} and found["mode"] in ("keyword", "hybrid")
    assert [set(item) for item in found["items"]] == [ITEM] * len(found["items"])
    best = found["items"][0]
    assert (best["type"], best["kind"], best["scope"], best["project"]) == ("memory", "environment", "project", "shop")
    assert (best["session"], best["message_id"], best["at"]) == ("monday", 2, "2026-06-29T09:01:00.000Z")
    assert [it["id"] for it in known.json("recall", "staging", "--project", "shop", "--limit", "1")["items"]] == [
        best["id"]
    ]
    assert known.json("recall", "staging", "--project", "elsewhere")["items"] == []
    assert known.json("recall", "staging", "--all-projects")["items"]
    kinds = {
        item["kind"] for item in known.json("recall", "port 端口", "--all-projects", "--kind", "environment")["items"]
    }
    assert kinds == {"environment"}


def test_since_and_until_are_both_included(known: Shell) -> None:
    found = [
        len(known.json("recall", "5432", "--all-projects", *when)["items"])
        for when in (
            ("--since", "2026-06-29"),
            ("--until", "2026-06-29"),
            ("--since", "2026-06-30"),
            ("--until", "2026-06-28"),
        )
    ]
    assert found[0] == found[1] > 0 == found[2] == found[3]


def test_brief(known: Shell) -> None:
    brief = known.json("brief", "--project", "shop", "--prompt", "Where is the staging database?")
    assert set(brief) == {"text", "tokens", "bytes", "items"}
    assert brief["bytes"] == len(brief["text"].encode()) <= 9000
    assert "pnpm" in brief["text"] and "5432" in brief["text"]
    assert all(isinstance(id, str) for id in brief["items"]) and len(brief["items"]) >= 2
    assert set(known.json("brief", "--cwd", "/somewhere/else")) == {"text", "tokens", "bytes", "items"}
    empty = known.json("brief", "--project", "nowhere", "--dir", known.root / "none")
    assert empty == {"text": "", "tokens": 0, "bytes": 0, "items": []}


def test_save(known: Shell) -> None:
    saved = known.json("recall", "--save", "  Keep   this — 原样保留  ", "--project", "shop")
    assert set(saved) == {"id"}
    entry = known.json("show", saved["id"])["entries"][-1]
    assert (entry["pinned"], entry["scope"], entry["project"], entry["kind"]) == (True, "project", "shop", "note")
    assert entry["text"].strip() == "Keep   this — 原样保留"
    profile = known.json("recall", "--save", "I read first", "--global")["id"]
    assert known.json("show", profile)["entries"][-1]["scope"] == "global"


def test_export(known: Shell) -> None:
    export = known.json("export")
    assert set(export) == {"format", "exported_at", "memories", "sessions"}
    assert export["format"] == "catmem-export/1"
    assert all(set(entry) == ENTRY for entry in export["memories"])
    assert all({"session", "message_id", "quote", "at"} <= set(e) for m in export["memories"] for e in m["evidence"])
    assert {entry["status"] for entry in export["memories"]} == {"live", "superseded"}
    assert [set(line) for line in export["sessions"]] == [LINE_1, LINE_1]
    whole = known.json("export", "--messages")
    assert [set(line) for line in whole["sessions"]] == [LINE_1 | {"messages"}] * 2
    assert [len(line["messages"]) for line in whole["sessions"]] == [2, 2]
    assert known.json("export", "--project", "nowhere")["sessions"] == []
    # The same for a person and for a program; and into a file.
    known.ok("export", "out.json")
    for text in (known.ok("export"), (known.folder / "out.json").read_text("utf-8")):
        assert json.loads(text) | {"exported_at": 0} == export | {"exported_at": 0}
    assert known.json("export", "out.json") == {"file": "out.json", "memories": 3, "sessions": 2}


def test_show_and_log(known: Shell) -> None:
    id = known.json("recall", "pnpm", "--project", "shop")["items"][0]["id"]
    shown = known.json("show", id)
    assert set(shown) == {"id", "superseded_by", "entries"}
    assert [entry["status"] for entry in shown["entries"]] == ["superseded", "live"]
    assert shown["entries"][0]["valid_to"] == shown["entries"][1]["valid_from"]
    log = known.json("log")
    assert set(log) == {"changes"}
    assert {"seq", "at", "device", "op", "by"} <= set(log["changes"][0])
    assert len(known.json("log", id)["changes"]) == 2


def test_forget(known: Shell) -> None:
    keys = {"forgotten", "would_forget", "purged"}
    shown = known.json("forget", "pnpm", "--dry-run")
    assert set(shown) == keys and shown["forgotten"] == []
    assert [set(memory) for memory in shown["would_forget"]] == [{"id", "text", "sessions"}]
    declined = known.mem("forget", "pnpm", "--json", typed="n\n")
    assert declined.code == 12 and declined.out == "" and "pnpm" in declined.err
    gone = known.json("forget", "pnpm", "--yes", "--purge")
    assert set(gone) == keys and gone["forgotten"] == shown["would_forget"] and gone["purged"] == 2


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        (("init",), {"dir", "created"}),
        (
            ("status",),
            {
                "dir", "bytes", "sessions", "messages", "last_captured", "memories", "pending", "failing", "parked",
                "clients", "connected", "distilling", "meaning", "sources", "models", "findings",
            },
        ),
        (("stats",), {"memories", "kinds", "projects", "sessions", "messages", "bytes", "spend"}),
        (("doctor",), {"findings", "repaired"}),
        (("config", "get", "language"), {"language"}),
        (("config", "set", "language", "en"), {"language"}),
        (("install", "claude-code"), {"client", "file", "files", "changed"}),
        (("uninstall", "claude-code"), {"client", "file", "files", "changed"}),
    ],
    ids=lambda it: " ".join(it) if isinstance(it, tuple) else "",
)  # fmt: skip
def test_the_others(known: Shell, command: tuple[str, ...], keys: set[str]) -> None:
    done = known.mem(*command, "--json")
    assert (done.code, set(done.json), done.err) == (0, keys, "")


def test_doctor_exits_1_on_a_finding(known: Shell) -> None:
    known.data.chmod(0o755)
    done = known.mem("doctor", "--json")
    assert done.code == 1
    assert [set(finding) for finding in done.json["findings"]] == [{"name", "message", "repairable"}]
    repaired = known.json("doctor", "--repair")
    assert repaired["findings"] == [] and [it["name"] for it in repaired["repaired"]] == ["permissions"]
    assert known.json("doctor") == {"findings": [], "repaired": []}


def test_a_hook_answers_on_stdout(known: Shell) -> None:
    for arguments in (
        ("hook", "claude-code", "UserPromptSubmit"),
        ("hook", "claude-code", "UserPromptSubmit", "--dir", known.data),
        ("--dir", known.data, "hook", "claude-code", "UserPromptSubmit"),
    ):
        done = known.mem(*arguments, typed=PAYLOAD)
        assert (done.code, done.err) == (0, "")
        assert done.out == "" or json.loads(done.out)["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert known.json("sessions")["sessions"][0]["metadata"]["count"] in (1, 3)


# -- where the two common options may stand


PLACES = [
    ("--json", "--dir", "D", "sessions"),
    ("--json", "sessions", "--dir", "D"),
    ("--dir", "D", "sessions", "--json"),
    ("sessions", "--json", "--dir", "D"),
    ("sessions", "list", "--json", "--dir", "D"),
    ("sessions", "--json", "list", "--dir", "D"),
    ("--dir", "nowhere", "sessions", "--json", "--dir", "D"),
]


@pytest.mark.parametrize("arguments", PLACES, ids=" ".join)
def test_dir_and_json_stand_before_the_command_or_after(known: Shell, arguments: tuple[str, ...]) -> None:
    elsewhere = known.data.rename(known.root / "elsewhere")
    done = known.mem(*(elsewhere if word == "D" else word for word in arguments))
    assert (done.code, len(done.json["sessions"])) == (0, 2)
    assert not known.data.exists()


def test_verbs_hear_the_options_of_their_group(known: Shell) -> None:
    elsewhere = known.data.rename(known.root / "show")  # called like a verb, to make it hard
    assert known.mem("sessions", "--dir", elsewhere, "--json", "show", "monday").json["session"]["key"] == "monday"
    assert known.mem("config", "--json", "--dir", elsewhere, "get", "language").json == {"language": "auto"}


def test_the_variable_names_the_directory_and_the_option_wins(known: Shell) -> None:
    elsewhere = str(known.data.rename(known.root / "elsewhere"))
    assert len(known.json("sessions", environment={"CATMEM_DIR": elsewhere})["sessions"]) == 2
    assert known.json("sessions", "--dir", known.root / "empty", environment={"CATMEM_DIR": elsewhere}) == {
        "sessions": []
    }
    assert not known.data.exists()


def test_nothing_is_created_in_the_home_with_a_directory_of_ones_own(shell: Shell) -> None:
    shell.talk("monday", "Remember: I always use npm.")
    own = ("--dir", shell.root / "own")
    for command in (("init",), ("import", "monday.jsonl"), ("work",), ("recall", "npm"), ("brief",), ("export",)):
        shell.ok(*own, *command)
    assert list(shell.home.iterdir()) == []


@pytest.mark.parametrize("arguments", [("status", "--bogus"), ("--bogus", "status"), ("recall", "x", "--limit", "0")])
def test_what_is_not_understood_says_nothing_on_stdout(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell.mem(*arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("mem: ") and done.err.count("\n") == 1


def test_an_error_is_in_the_language_of_the_setting(shell: Shell) -> None:
    assert shell.mem("show", "m12345").err.startswith("mem: there is no memory")
    shell.ok("config", "set", "language", "zh")
    assert shell.mem("show", "m12345").err.startswith("mem: 没有记忆")


def test_text_of_others_cannot_command_the_terminal(shell: Shell) -> None:
    shell.talk("trap", "hello \x1b[2J\x1b]0;owned\x07 world \u202e evil")
    shell.ok("import", "trap.jsonl")
    for command in (("sessions",), ("sessions", "show", "trap"), ("recall", "hello", "--all-projects")):
        out = shell.ok(*command)
        assert "\x1b" not in out and "\u202e" not in out and "hello" in out
    # A program gets what was said.
    assert "\u202e" in shell.json("sessions", "show", "trap")["messages"][0]["content"]
