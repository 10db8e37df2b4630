"""The chat of `mem start` and its sessions: what it was told, pure mode, earlier sessions and going on with one."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.chat import Person, Terminal, asked_by_chat
from tests.llm.fake_server import FakeServer, Reply, serving

WORD = "xylophone"

Meet = Callable[..., Person]


def with_model(person: Person, server: FakeServer) -> None:
    person.configure({"name": "local", "api": "anthropic", "base_url": server.url, "model": "m-1"})


def talk(body: dict[str, Any]) -> list[str]:
    return [message["content"] for message in body["messages"]]


# --- what it was told ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["en", "zh"])
def test_why_shows_what_the_model_was_told_and_from_where(meet: Meet, language: str) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet(language)
        ports = (f"/remember port of service{n} is {5400 + n}" for n in range(4))
        person.chat("Remember: I like short answers.", *ports)
        with_model(person, server)
        person.mem("config", "set", "max_recall_items", "1")
        ended = person.chat("/why", "which port has service2?", "thanks", "/why")
    before, _, told = ended.out.split("Fine.")
    assert "short answers" in before and "5402" not in before
    assert re.search(r"(said in|出自) chat:\S+ #\d", told) and "short answers" in told and "5402" in told
    assert told.count("beside a message") + told.count("随消息附上") == 1
    outside = person.asks("why")["told"]
    assert [(record["door"], record["event"]) for record in outside] == [("chat", "brief"), ("chat", "prompt")]
    # Word for word what went out.
    assert outside[0]["text"] == asked_by_chat(server)[0]["system"][-1]["text"]
    assert talk(asked_by_chat(server)[0])[-1] == f"which port has service2?\n\n{outside[1]['text']}"
    assert talk(asked_by_chat(server)[1])[-1] == "thanks"


def test_a_chat_in_which_nobody_spoke_was_told_nothing(meet: Meet) -> None:
    person = meet()
    person.chat("/remember The staging port is 5439")
    assert "staging port" in person.chat("/why", "/brief").out
    assert person.mem("why").code != 0


def test_what_is_remembered_amid_a_talk_is_told_and_the_brief_stays_as_it_was(meet: Meet) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet()
        with_model(person, server)
        person.chat("hello", "/remember The xylophone is blue", "go on", "/forget xylophone", "y", "and now?")
    systems = [body["system"] for body in asked_by_chat(server)]
    assert systems[0] == systems[1] == systems[2]
    assert "The xylophone is blue" in talk(asked_by_chat(server)[1])[-1] and "The xylophone" not in str(
        server.bodies[2]
    )


def test_what_is_forgotten_leaves_the_brief(meet: Meet) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet()
        person.chat("/remember The xylophone is blue", "/remember The cello is brown")
        with_model(person, server)
        person.chat("hello", "/forget xylophone", "y", "and now?", "/why")
    first, second = (str(body["system"]) for body in asked_by_chat(server))
    assert WORD in first and WORD not in second and "cello" in second
    assert person.asks("why")["told"][-1]["text"] in second.encode().decode("unicode_escape")
    assert all(WORD not in str(record) for record in person.asks("why")["told"])


# --- pure mode -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["option", "variable", "command"])
def test_nothing_comes_into_a_pure_chat_and_nothing_of_it_stays(meet: Meet, how: str) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet()
        person.chat("Remember: I like short answers.", "/remember The staging port is 5439")
        with_model(person, server)
        before = person.asks("export")["memories"]
        if how == "variable":
            person.environment["CATMEM_PURE"] = "1"
        said = [f"From now on the {WORD} is blue. Which staging port?", f"/remember {WORD}", "/why", "/brief"]
        typed = "".join(f"{line}\n" for line in (["/pure"] if how == "command" else []) + said)
        ended = person.mem("start", *(["--pure"] if how == "option" else []), typed=typed, merged=True)
        person.environment.pop("CATMEM_PURE", None)
        person.settle()
    assert ended.code == 0 and "Fine." in ended.out and "nothing of it is remembered" in ended.out
    assert "is gone" in ended.out and "Kept as" not in ended.out
    assert "catmem-memory" not in str(asked_by_chat(server)[0]["system"][1:]) + str(
        asked_by_chat(server)[0]["messages"]
    )
    assert "5439" not in str(asked_by_chat(server)[0]) and len(asked_by_chat(server)[0]["system"]) == 1
    assert WORD.encode() not in person.everything()
    assert person.asks("export")["memories"] == before and len(person.sessions()) == 1


def test_an_earlier_chat_is_gone_on_with_in_pure_mode(meet: Meet) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet()
        person.chat("Remember: I like short answers.")
        with_model(person, server)
        ended = person.mem("start", "--pure", "--continue", typed=f"the {WORD}\n", merged=True)
    assert "Going on with chat:" in ended.out and "is gone" in ended.out
    assert talk(asked_by_chat(server)[0]) == [f"Remember: I like short answers.\n\nthe {WORD}"]
    assert "catmem-memory" not in str(asked_by_chat(server)[0]["system"][1:])
    assert [len(session) for session in person.sessions()] == [1] and WORD.encode() not in person.everything()


def test_before_pure_a_chat_is_kept_and_after_it_not(meet: Meet) -> None:
    person = meet("zh")
    ended = person.chat("先说一句", "/pure", f"然后说 {WORD}", merged=True)
    assert "纯净模式" in ended.out and "没有保存" in ended.out and "本次对话已保存" in ended.out
    assert [text for role, text in person.sessions()[0] if role == "user"] == ["先说一句"]
    assert WORD.encode() not in person.everything()


@pytest.mark.parametrize(("language", "answer", "kept"), [("en", "y", True), ("zh", "是", True), ("en", "", False)])
def test_at_its_end_a_pure_chat_asks_whether_to_keep_it(meet: Meet, language: str, answer: str, kept: bool) -> None:
    person = meet(language)
    terminal = Terminal(person, "--pure")
    terminal.wait_for("pure|纯净")
    terminal.wait_for_prompt()
    terminal.type(f"the {WORD}\r")
    terminal.wait_for("Pure:|纯净模式：")
    terminal.wait_for_prompt()
    assert WORD.encode() not in person.everything()
    terminal.type("\x04")
    terminal.wait_for(r"\[y/N\]")
    terminal.settle()
    terminal.type(f"{answer}\r")
    assert terminal.ended() == 0
    assert person.sessions() == ([[("user", f"the {WORD}")]] if kept else [])
    assert ("Kept as" in terminal.seen or "已保存" in terminal.seen) == kept


def test_a_pure_chat_that_is_killed_is_not_kept(meet: Meet) -> None:
    import os

    person = meet()
    terminal = Terminal(person, "--pure")
    terminal.wait_for_prompt()
    terminal.type(f"the {WORD}\r")
    terminal.wait_for("Pure:")
    terminal.wait_for_prompt()
    os.kill(terminal.pid, signal.SIGTERM)
    assert terminal.ended() == 128 + signal.SIGTERM
    assert person.sessions() == [] and WORD.encode() not in person.everything()


# --- earlier sessions ------------------------------------------------------------------------------------------------


def test_a_chat_is_gone_on_with_in_its_own_session_and_the_model_knows_what_was_said(meet: Meet) -> None:
    with serving(Reply(("Fine.",))) as server:
        person = meet()
        person.chat("Remember: I like short answers.")
        with_model(person, server)
        person.chat("one")
        ended = person.mem("start", "--continue", typed="two\n")
        key = person.asks("sessions")["sessions"][0]["key"]
        again = person.mem("start", "--resume", key.rpartition("-")[2], typed="three\n")
    assert "Going on with chat:" in ended.out and "› one" in ended.out and "Fine." in ended.out
    assert "4 messages since" in again.out
    assert [talk(body) for body in asked_by_chat(server)] == [
        ["one"],
        ["one", "Fine.", "two"],
        ["one", "Fine.", "two", "Fine.", "three"],
    ]
    assert (
        asked_by_chat(server)[0]["system"] == asked_by_chat(server)[1]["system"] == asked_by_chat(server)[2]["system"]
    )
    assert "short answers" in str(asked_by_chat(server)[0]["system"])
    assert [len(session) for session in person.sessions()] == [1, 6]
    assert all(row["metadata"]["ended"] for row in person.asks("sessions")["sessions"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_history_lists_and_resume_goes_on_with_one_of_the_list(meet: Meet, language: str) -> None:
    person = meet(language)
    person.chat("the cello")
    person.chat("the oboe")
    lines = (
        '{"session":"s1","project":"teapot","role":"user","content":"elsewhere","timestamp":"2026-01-01T00:00:00Z"}\n'
    )
    (person.folder / "others.jsonl").write_text(lines)
    project = person.asks("sessions")["sessions"][0]["metadata"]["project"]
    assert person.mem("import", "others.jsonl", "--from", "messages", "--project", project).code == 0
    ended = person.chat("now", "/history", "/resume 2", "more", "/resume s1", merged=True)
    listed = re.findall(r"^ {0,2}([12 ])  \S+ \S+ +\d+  \S+  (.*)$", ended.out, re.M)
    assert listed == [("1", "the oboe"), ("2", "the cello"), (" ", "elsewhere")]
    assert ("Going on with" in ended.out) == (language == "en") and ("继续 chat:" in ended.out) == (language == "zh")
    assert "held elsewhere" in ended.out or "不是在这里进行的" in ended.out
    users = [[text for role, text in session if role == "user"] for session in person.sessions()]
    assert sorted(users) == [["elsewhere"], ["now"], ["the cello", "more"], ["the oboe"]]


def test_who_asks_to_resume_is_asked_which(meet: Meet) -> None:
    person = meet()
    person.chat("the cello")
    person.chat("the oboe")
    terminal = Terminal(person, "--resume")
    terminal.wait_for(r"Which one\? \[1\]")
    terminal.settle()
    terminal.type("2\r")
    terminal.wait_for("› the cello")
    terminal.wait_for_prompt()
    terminal.type("more\r")
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert [text for role, text in person.sessions()[0] if role == "user"] == ["the cello", "more"]


def test_nothing_to_resume_and_a_chat_that_is_open_are_told(meet: Meet) -> None:
    person = meet()
    for options in (("--continue",), ("--resume",), ("--resume", "nobody")):
        ended = person.mem("start", *options, typed="lost?\n")
        assert ended.code == 4 and ended.err.count("\n") == 1 and person.sessions() == []
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("hello\r")
    terminal.wait_for("Nothing in memory")
    ended = person.mem("start", "--continue", typed="me too\n")
    assert ended.code != 0 and "open in another terminal" in ended.err
    terminal.kill()
    # Whoever had it open is dead: then it is free.
    assert person.mem("start", "--continue", typed="me too\n").code == 0
    assert [text for role, text in person.sessions()[0] if role == "user"] == ["hello", "me too"]
