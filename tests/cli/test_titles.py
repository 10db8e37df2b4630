"""What was imported is found at once by what it was called, whichever tool called it so and in whatever script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Shell
from tests.clients.chatgpt.test_history import node
from tests.clients.chatgpt.test_history import talk as chatgpt_talk
from tests.clients.claude_ai.test_history import said as claude_said
from tests.clients.claude_ai.test_history import talk as claude_ai_talk
from tests.clients.cursor.test_history import composer, database
from tests.clients.gemini_cli.test_history import HEAD, log
from tests.clients.gemini_cli.test_history import said as gemini_said
from tests.clients.llm.test_history import OLD
from tests.clients.llm.test_history import database as llm_database
from tests.clients.opencode.test_history import Store, message, text
from tests.clients.reading import lines, written
from tests.clients.rollout import Rollout
from tests.clients.talk import Talk

# As models and people call their talks: sentences, names, what looks like an operator, a word of small talk, one sign.
TITLES = [
    "Migrating the orders table to partitions", "订单表按月分区的迁移方案", "用户身份", "队列", "docker 部署踩坑",
    "キューの設計を見直す", "결제 서버 배포 절차", "C++ vs. Rust?", "foo -bar NOT (baz)", '"quoted" title: half',
    "src/core/x.py fails with ERR_CONN_REFUSED", "getUserName 重构", "How to do it", "Hello", "你好", "茶", "v2.10.3",
    "數據庫備份策略", "Émigré résumé naïve", "🚀 launch 🚀", "long title " * 40, "New chat", "New chat about orders",
]  # fmt: skip
SAID = "please look into the thing from before"


def chatgpt(folder: Path, titles: list[str]) -> Path:
    talks = [
        {**chatgpt_talk(node("root", None), node("a", "root", "user", SAID, 1770000000.0), key=f"c{n}"), "title": title}
        for n, title in enumerate(titles)
    ]
    return written(folder / "conversations.json", talks)


def claude_ai(folder: Path, titles: list[str]) -> Path:
    talks = [claude_ai_talk(claude_said(f"m{n}", "human", SAID), uuid=f"t{n}", name=t) for n, t in enumerate(titles)]
    return written(folder / "conversations.json", talks)


def claude_code(folder: Path, titles: list[str]) -> Path:
    folder.mkdir()
    for number, title in enumerate(titles):
        kind, field = (("custom-title", "customTitle"), ("ai-title", "aiTitle"))[number % 2]
        talk = Talk(f"0f0e0d0c-0000-4000-8000-{number:012}").user(f"u{number}", SAID).note(kind, **{field: title})
        talk.write(folder)
    return folder


def codex(folder: Path, titles: list[str]) -> Path:
    names = []
    for number, title in enumerate(titles):
        session = f"0199aaaa-0000-7000-8000-{number:012}"
        names.append({"id": session, "thread_name": title})
        (Rollout(session).asked(SAID).says("ok")).write(folder / "sessions/2026/04/01")
    written(folder / "session_index.jsonl", lines(*names))
    return folder


def gemini(folder: Path, titles: list[str]) -> Path:
    for number, title in enumerate(titles):
        head = {**HEAD, "sessionId": f"g{number}", "summary": title}
        log(folder / "tmp" / f"p{number}" / "chats", gemini_said(f"u{number}", "user", SAID), head=head)
    return folder


def cursor(folder: Path, titles: list[str]) -> Path:
    values: dict[str, Any] = {}
    for number, title in enumerate(titles):
        values |= composer({"type": 1, "text": SAID, "timestamp": 1770000000000}, key=f"c{number}", name=title)
    return database(folder / "state.vscdb", **values)


def opencode(folder: Path, titles: list[str]) -> Path:
    store = Store(folder).create()
    for n, title in enumerate(titles):
        store.session(f"s{n}", title=title).says(f"s{n}", message(f"m{n}", "user"), text(f"p{n}", SAID))
    return folder


def openclaw(folder: Path, titles: list[str]) -> Path:
    for n, title in enumerate(titles):
        said = {"role": "user", "content": [{"type": "text", "text": SAID}], "timestamp": 1770091506000}
        records = (
            {"type": "session", "id": f"s{n}", "cwd": "/home/kim/pot", "timestamp": "2026-02-03T04:05:06Z"},
            {"type": "session_info", "id": "i", "parentId": None, "name": title},
            {"type": "message", "id": f"m{n}", "parentId": None, "timestamp": "2026-02-03T04:05:06Z", "message": said},
        )
        written(folder / f"s{n}.jsonl", lines(*records))
    return folder


def nanobot(folder: Path, titles: list[str]) -> Path:
    for number, title in enumerate(titles):
        head = {"_type": "metadata", "created_at": "2026-02-03T04:05:06", "metadata": {"title": title}}
        said = {"role": "user", "content": SAID, "timestamp": "2026-02-03T04:05:07"}
        written(folder / f"telegram_{number}.jsonl", lines(head, said))
    return folder


def llm(folder: Path, titles: list[str]) -> Path:
    rows = [
        f"INSERT INTO conversations VALUES ('c{n}', '{title}', 'm');"
        f"INSERT INTO responses VALUES ('r{n}', 'm', '{SAID}', '', 'ok', 'c{n}', '2026-02-03T04:05:06.5', NULL, NULL);"
        for n, title in enumerate(titles)
    ]
    folder.mkdir()
    return llm_database(folder / "logs.db", OLD, *rows)


def untitled(folder: Path, titles: list[str]) -> Path:
    """Tools that call a talk nothing: it is known by how it began."""
    said = [{"session": f"s{n}", "project": "pot", "role": "user", "content": t} for n, t in enumerate(titles)]
    return written(folder / "talk.jsonl", lines(*said))


def found(shell: Shell, command: str, title: str) -> Any:
    return shell.mem("--json", command, "--all-projects", "--", title).json["items"]


def missed(shell: Shell, titles: list[str]) -> list[tuple[str, str]]:
    """Which titles do not find their conversations, by which command."""
    keys: dict[str, set[str]] = {}
    for line in shell.json("sessions")["sessions"]:
        keys.setdefault(line["title"] or line["preview"], set()).add(line["key"])
    assert len(keys) == len(titles)
    return [
        (command, title)
        for title, sessions in keys.items()
        for command in ("search", "recall")
        if not sessions <= {item["session"] for item in found(shell, command, title)}
    ]


TWO = ["Migrating the orders table to partitions", "订单表按月分区的迁移方案"]
Make = Callable[[Path, list[str]], Path]


@pytest.mark.parametrize(
    "make", [chatgpt, claude_ai, claude_code, codex, gemini, cursor, opencode, openclaw, nanobot, llm, untitled]
)
def test_each_title_of_each_tool_finds_its_conversation(shell: Shell, tmp_path: Path, make: Make) -> None:
    assert shell.json("import", make(tmp_path / "theirs", TWO))["messages_new"] >= 2
    assert missed(shell, TWO) == []


@pytest.mark.slow
@pytest.mark.parametrize("make", [chatgpt, untitled])
def test_whatever_it_is_called(shell: Shell, tmp_path: Path, make: Make) -> None:
    shell.ok("import", make(tmp_path / "theirs", TITLES))
    assert missed(shell, TITLES) == []
