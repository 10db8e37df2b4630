"""What users of such tools have met, told from outside: the command line and the hooks of a fresh home."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.story.machine import Machine, talk_file


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "teapot"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("prompt", ["the lid is of clay", "壶盖是陶土做的"])
def test_a_prompt_on_a_busy_machine_is_kept(machine: Machine, workspace: Path, prompt: str) -> None:
    process = machine.start("hook", "claude-code", "UserPromptSubmit", cwd=workspace)
    time.sleep(1.3)  # past the time for an answer, which a machine under load may take to get this far
    payload = {"session_id": "s1", "transcript_path": "/nonexistent", "cwd": str(workspace), "prompt": prompt}
    process.communicate(json.dumps(payload), timeout=60)
    assert process.returncode == 0
    assert machine.said() == [prompt]


def test_a_hook_that_is_cut_off_says_so(machine: Machine, workspace: Path) -> None:
    machine.run("init")
    process = machine.start("hook", "claude-code", "UserPromptSubmit", cwd=workspace)
    assert process.wait(timeout=60) == 0  # nobody ever sends its payload
    assert "hook call" in machine.start("doctor").communicate(timeout=60)[0]


def test_the_worker_imports_nothing_of_the_users_project(machine: Machine, workspace: Path) -> None:
    for name in ("json", "catmem", "typing", "queue"):
        (workspace / f"{name}.py").write_text("open('was_run', 'w').close()\n")
    machine.hook("UserPromptSubmit", workspace, prompt="we use pnpm here, never npm. 记住：回答先给结论，再讲理由")
    end = time.monotonic() + 30
    while time.monotonic() < end and not machine.exported()["memories"]:
        time.sleep(0.2)
    assert machine.exported()["memories"]
    assert sorted(os.listdir(workspace)) == ["catmem.py", "json.py", "queue.py", "typing.py"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_fork_is_told_once_whichever_file_comes_first(
    machine: Machine, tmp_path: Path, order: tuple[int, int]
) -> None:
    began = (("user", "we decided: clay, not glass"), ("assistant", "clay it is"), ("user", "杯子用六个"))
    went_on = (*began, ("user", "and a lid"), ("assistant", "with a lid"))
    original = talk_file(tmp_path, "aaaa0001-0000-4000-8000-000000000001", *began)
    copy = talk_file(tmp_path, "aaaa0001-0000-4000-8000-000000000001", *went_on, name="copy")
    copy.write_text(copy.read_text().replace('"sessionId": "aaaa0001', '"sessionId": "aaaa0002'))
    for number in order:
        machine.run("import", (original, copy)[number])
    exported = machine.exported()
    assert [[m["content"] for m in session["messages"]] for session in exported["sessions"]] == [
        [text for _, text in began],
        ["and a lid", "with a lid"],
    ]
    fork = exported["sessions"][1]
    assert fork["metadata"]["continues"] == "claude-code:aaaa0001-0000-4000-8000-000000000001"
    assert (fork["preview"], fork["metadata"]["count"]) == ("and a lid", 2)
    assert machine.json("import", original, copy)["messages_new"] == 0
    other = Machine(tmp_path / "other")
    (tmp_path / "all.json").write_text(json.dumps(exported))
    other.run("import", tmp_path / "all.json")
    assert {**other.exported(), "exported_at": ""} == {**exported, "exported_at": ""}


def test_a_tree_of_400_files_is_counted_resumed_after_a_kill_and_taken_once(machine: Machine, tmp_path: Path) -> None:
    tree = machine.home / ".claude/projects/-home-kim-teapot"
    for number in range(400):
        said = (("user", f"we chose handle {number} 第 {number} 个"), ("assistant", "noted"))
        talk_file(tree, f"{number:04d}{number:04x}-0000-4000-8000-000000000001", *said)
    machine.run("config", "set", "models", "[{api: openai, model: small, base_url: 'http://127.0.0.1:9/v1'}]")
    foreseen = machine.run("import", "--from", "claude-code", "--dry-run")
    assert "400 sessions: 800 messages would be new" in foreseen and "tokens" in foreseen
    assert not (machine.root / "messages").exists() or not list((machine.root / "messages").rglob("*.jsonl"))
    first = machine.start("import", tree)
    while first.poll() is None and len(list((machine.root / "messages").rglob("*.jsonl"))) < 60:
        time.sleep(0.01)
    first.kill()
    first.communicate(timeout=60)
    rest = machine.json("import", tree)
    assert (rest["sessions"], rest["messages_new"] + rest["messages_known"]) == (400, 800)
    assert 0 < rest["messages_new"] < 800, "it went on where the killed one was"
    before = {path: path.read_bytes() for path in (machine.root / "messages").rglob("*.jsonl")}
    again = machine.json("import", tree)
    assert (again["messages_new"], again["messages_known"]) == (0, 800)
    assert {path: path.read_bytes() for path in (machine.root / "messages").rglob("*.jsonl")} == before
    assert len(machine.said()) == 800


def test_pasted_megabytes_are_kept_but_not_searched_to_their_end(machine: Machine, workspace: Path) -> None:
    machine.run("config", "set", "embedder", "none")
    for number in range(3):
        data = " ".join(f"{number}x{row:06x}" for row in range(100_000))
        machine.hook("UserPromptSubmit", workspace, prompt=f"look at this 看看这个: {data}", prompt_id=f"p{number}")
    machine.run("work")
    size = {place: _size(machine.root / place) for place in ("messages", "search", "memories.db")}
    assert size["search"] + size["memories.db"] < size["messages"] / 4
    assert [len(text) > 800_000 for text in machine.said()] == [True] * 3
    assert machine.json("recall", "看看这个", "--all-projects")["items"]
    assert "MB" in machine.run("status")


def test_of_a_huge_record_the_words_are_found_and_the_bulk_is_nowhere(machine: Machine, tmp_path: Path) -> None:
    session = "aaaa0001-0000-4000-8000-000000000001"
    path = talk_file(tmp_path, session, ("user", "The lid must stay round."), ("user", "盖子用 512 px 的那张"))
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "QUJD" * 999_999},
    }
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "line of output\n" * 300_000}
    shared = {"isSidechain": False, "type": "user", "cwd": "/home/kim/teapot", "sessionId": session}
    with path.open("a") as file:
        for name, content in (("i", [image, {"type": "text", "text": "Here is the logo."}]), ("r", [result])):
            line = {**shared, "uuid": name, "parentUuid": "aaaa-2", "timestamp": "2026-03-01T10:09:00.000Z"}
            file.write(json.dumps({**line, "message": {"role": "user", "content": content}}) + "\n")
    assert machine.json("import", path)["messages_new"] == 4
    for words, found in (
        ("lid round", 1),
        ("盖子", 1),
        ("logo", 1),
        ("line of output", 1),
        ("iVBORw0KGgo", 0),
        ("QUJDQUJD", 0),
    ):
        assert len(machine.json("search", words, "--all-projects")["items"]) == found, words
    assert _size(machine.root) < 1_000_000


@pytest.mark.slow
def test_hooks_of_many_sessions_a_reader_and_a_killed_writer(machine: Machine, workspace: Path) -> None:
    """Eight assistants at once and a long reader: no call fails, nothing is lost, a payload that comes twice is one."""
    machine.run("recall", "--save", "the lid is of clay", cwd=workspace)
    reader = sqlite3.connect(machine.root / "memories.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()

    def stop(session: int, number: int) -> None:
        said = f"Done: 端口 is {8000 + number} in {session}."
        payload = {"session_id": f"s{session}", "prompt_id": f"p{number}", "last_assistant_message": said}
        for _ in range(1 + (number == 0)):
            machine.hook("Stop", workspace, **payload)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda session: [stop(session, number) for number in range(5)], range(8)))
    reader.execute("ROLLBACK")
    killed = machine.start("import", talk_file(workspace, "k", *(("user", f"word {n}") for n in range(2000))))
    time.sleep(0.3)
    killed.kill()
    killed.communicate(timeout=60)
    said = [text for text in machine.said() if text.startswith("Done")]
    wanted = {f"Done: 端口 is {8000 + n} in {s}." for n in range(5) for s in range(8)}
    notes = machine.root / "run/hook-failures.jsonl"
    cut_off = notes.read_text().count("TimeoutError") if notes.exists() else 0  # on a machine that is too busy
    assert len(said) == len(set(said)) and set(said) <= wanted and len(wanted) - len(said) <= cut_off
    assert "locked" not in (notes.read_text() if notes.exists() else "")
    assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    reader.close()
    for path in (machine.root / "messages").rglob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            json.loads(line)


def _size(place: Path) -> int:
    return sum(path.stat().st_size for path in (place, *place.rglob("*")) if path.is_file())


KEPT = (
    "我们的登录入口走端口 9443", "压缩sync-itgc后三十条坏账消失", "用户身份核验改成刷脸加密钥", "上线顺序：先灰度再放量",
    "会議は毎週月曜日の夜にする", "結合テストは失敗した", "결제 서버는 대구 리전에 있다", "The db rotates its key every 30 days",
    "Database file is /var/lib/app/main.db", "𠮷田屋 pays by invoice", "Run the post-edit hook after every save",
    "Reports go to Exports/monthly", "Throughput must stay above 7 GB/s", "Don't use bots for refunds",
    "Set --fail-on-hints in CI", "Debian 12.4 is the base image", "Field team:lead holds the approver",
    "C++ and C# teams share a linter", 'Write "quoted text" as it is', "NOT every OR is an AND",
)  # fmt: skip
SOUGHT = (
    ("登录", {0}), ("登錄", {0}), ("端口", {0}), ("坏账", {1}), ("itgc", {1}), ("用户", {2}), ("用户身份", {2}), ("上线", {3}),
    ("灰度", {3}), ("月曜日", {4}), ("テスト", {5}), ("결제", {6}), ("대구 리전", {6}), ("db", {7, 8}), ("database", {8}),
    ("𠮷田屋", {9}), ("密钥", {2}), ("post-edit", {10}), ("Exports/monthly", {11}), ("GB/s", {12}), ("don't use bots", {13}),
    ('"--fail-on-hints"', {14}), ("debian 12.4", {15}), ("team:lead", {16}), ("C++", {17}), ('"quoted text', {18}),
    ("NOT OR AND", {19}),
)  # fmt: skip


def test_any_words_typed_at_the_command_line_find_their_row(machine: Machine) -> None:
    for text in KEPT:
        machine.run("recall", "--save", text, "--global")

    def found(query: str) -> list[int]:
        return [KEPT.index(item["text"]) for item in machine.json("recall", query)["items"]]

    for query, wanted in SOUGHT:
        assert set(found(query)[: len(wanted)]) == wanted, query
    assert found("db") in ([7, 8], [8, 7]), "letters inside a word are not the word"
    assert found("密钥") == [2], "an English word for it is for when none has the word itself"
    for query in ("*", "(", "   ", "NEAR(", "' OR 1=1 --", "^hull", '"'):
        assert found(query) == [], query
