"""`mem start` as people use it: real processes, through pipes and in terminals."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable

import pytest

from tests.cli.chat import WITHOUT_EDITOR, WITHOUT_LIBRARY, Person, Terminal, asked_by_chat
from tests.llm.fake_server import FakeServer, Reply, serving

KEY = "sk-test-0123456789abcdefghij"
MEMORY = "<catmem-memory>"

Meet = Callable[..., Person]


def with_model(person: Person, server: FakeServer, api: str = "openai") -> None:
    person.environment["TEST_KEY"] = KEY
    person.configure(
        {"name": "local", "api": api, "base_url": f"{server.url}/v1", "model": "m-1", "api_key_env": "TEST_KEY"}
    )


# --- without a model -------------------------------------------------------------------------------------------------


def test_the_second_chat_answers_from_the_first(meet: Meet) -> None:
    person = meet()
    first = person.chat("hello", "From now on we use uv instead of pip.")
    assert "0 memories loaded" in first.out and "only the memory" in first.out
    assert "remembered: From now on we use uv instead of pip." in first.out
    second = person.chat("do we use uv or pip?")
    assert "1 memory loaded" in second.out
    assert re.search(r"From memory:\n- From now on we use uv instead of pip\. \(\d{4}-\d\d-\d\d\)", second.out)
    assert (first.code, second.code) == (0, 0)


def test_the_same_in_chinese(meet: Meet) -> None:
    person = meet("zh")
    first = person.chat("你好", "记住：以后都用 uv，不用 pip。")
    assert "已载入 0 条记忆" in first.out and "只由记忆作答" in first.out and "已记住：" in first.out
    second = person.chat("我们用 uv 还是 pip？", "/help")
    assert "已载入 1 条记忆" in second.out and "记忆中有：" in second.out and "检索记忆" in second.out
    assert "mem config set models" in second.out
    assert "本次对话已保存" in second.err


def test_words_of_ours_are_kept_as_ours_and_recalled_by_nobody(meet: Meet) -> None:
    person = meet()
    person.chat("From now on we use uv instead of pip.")
    person.chat("uv?")
    assert [role for role, _ in person.sessions()[1]] == ["user", "system"]
    texts = [item["text"] for item in person.asks("recall", "uv")["items"]]
    assert texts and not any("From memory" in text for text in texts)


def test_what_is_typed_is_kept_word_for_word_and_the_note_comes_last(meet: Meet) -> None:
    person = meet()
    said = ["  leading blanks", "/etc/hosts is wrong", " /help", "emoji 🦊 and 中文", "tab\there"]
    ended = person.chat(*said, merged=True)
    assert [text for role, text in person.sessions()[0] if role == "user"] == [line.strip() for line in said]
    assert re.fullmatch(
        r"Kept as chat:\S+; `mem sessions show chat:\S+` shows it\.", ended.out.rstrip().split("\n")[-1]
    )


def test_a_chat_in_which_nobody_spoke_is_none(meet: Meet) -> None:
    person = meet()
    ended = person.chat("", "   ", "/help", "/brief")
    assert ended.code == 0 and "Nothing was said" in ended.err and "Nothing is known yet." in ended.out
    assert person.sessions() == []


def test_a_pipe_that_is_not_utf_8_loses_no_other_line(meet: Meet) -> None:
    person = meet()
    person.mem("start", typed=b"first\n\xff\xfe broken\r\nthird \x00\x1b[2J\n\n\xe4\xb8\xad")
    assert [text for role, text in person.sessions()[0] if role == "user"] == [
        "first",
        "\ufffd\ufffd broken",
        "third \ufffd\x1b[2J",
        "中",
    ]


def test_nothing_that_a_terminal_obeys_is_shown(meet: Meet) -> None:
    person = meet()
    person.chat("Remember: the \x1b[31mred\x1b[0m \x9b2J switch \u202eis off")
    ended = person.chat("which red switch?", "/brief", "/recall switch", merged=True)
    assert "switch" in ended.out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ended.out)


def test_private_words_are_neither_kept_nor_sent(meet: Meet) -> None:
    with serving(Reply(("fine",))) as server:
        person = meet()
        with_model(person, server)
        ended = person.chat("<private>my pay is 48731</private>", "hello <private>48731</private> there")
        assert "neither kept nor sent" in ended.out
        assert [body["messages"][-1]["content"].split() for body in asked_by_chat(server)] == [["hello", "there"]]
    assert b"48731" not in person.everything()


def test_json_on_stdout_and_the_talk_on_stderr(meet: Meet) -> None:
    import json

    ended = meet().chat("hello")
    assert ended.code == 0
    talked = meet("zh").mem("start", "--json", typed="hello\n")
    told = json.loads(talked.out)
    assert told["memories_loaded"] == 0 and told["session"].startswith("chat:") and "已保存" in talked.err


# --- commands --------------------------------------------------------------------------------------------------------


def test_remember_recall_and_brief(meet: Meet) -> None:
    ended = meet().chat("/remember The staging port is 5439", "/recall staging", "/brief", "/remember", "/nope x")
    assert re.search(r"remembered as m[0-9a-f]+", ended.out)
    assert ended.out.count("The staging port is 5439") >= 2 and MEMORY in ended.out
    assert "write /remember TEXT" in ended.err and "there is no command /nope" in ended.err


@pytest.mark.parametrize(
    ("language", "reply", "gone"), [("en", "y", True), ("zh", "是", True), ("en", "", False), ("zh", "不", False)]
)
def test_forget_shows_asks_and_then_forgets(meet: Meet, language: str, reply: str, gone: bool) -> None:
    person = meet(language)
    person.chat("/remember 预发布端口 staging port 5439")
    ended = person.chat("/forget staging port", reply, "/brief")
    assert re.search(r"m[0-9a-f]+  \[\S+\]  预发布端口 staging port 5439", ended.out)
    left = [memory["text"] for memory in person.asks("export")["memories"] if memory["status"] == "live"]
    assert (left == []) == gone
    assert (MEMORY in ended.out) == (not gone)


def test_forget_without_an_answer_forgets_nothing(meet: Meet) -> None:
    person = meet()
    person.chat("/remember staging port 5439")
    ended = person.chat("/forget staging", merged=True)
    assert "Nothing was forgotten." in ended.out
    assert [memory["status"] for memory in person.asks("export")["memories"]] == ["live"]


# --- with a model ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_model_is_told_the_same_brief_each_time_and_recall_beside_the_newest_message(meet: Meet, api: str) -> None:
    with serving(Reply(("Use ", "uv."))) as server:
        person = meet()
        person.chat(
            "Remember: I like short answers.", *(f"/remember port of service{n} is {5400 + n}" for n in range(6))
        )
        with_model(person, server, api)
        person.mem("config", "set", "max_recall_items", "1")
        ended = person.chat("hello", "which port has service3?", "and the port of service4?", "thanks")
        assert "local (m-1, 127.0.0.1:" in ended.out and ended.out.count("Use uv.") == 4
    systems = [
        body["system"] if api == "anthropic" else body["messages"][0]["content"] for body in asked_by_chat(server)
    ]
    assert len(systems) == 4 and all(system == systems[0] for system in systems)
    assert "short answers" in str(systems[0])
    talks = [[m["content"] for m in body["messages"] if m["role"] != "system"] for body in asked_by_chat(server)]
    assert talks[3] == [
        "hello",
        "Use uv.",
        "which port has service3?",
        "Use uv.",
        "and the port of service4?",
        "Use uv.",
        "thanks",
    ]
    assert "5404" in talks[2][-1] and MEMORY in talks[2][-1]
    assert not any("tool" in key for body in asked_by_chat(server) for key in body)
    assert person.sessions()[1] == [
        pair for text in talks[3][::2] for pair in (("user", text), ("assistant", "Use uv."))
    ]


def test_secrets_are_not_sent_and_the_key_is_kept_nowhere(meet: Meet) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    refusal = Reply(status=401, body=f'{{"error": {{"message": "bad key {KEY}"}}}}')
    with serving(Reply(("noted",)), refusal) as server:
        person = meet()
        with_model(person, server)
        ended = person.chat(f"my token is {secret}", "again", merged=True)
        assert secret not in str(server.bodies) and server.requests[0][1]["authorization"] == f"Bearer {KEY}"
    assert "refused the key in TEST_KEY (401)" in ended.out and "bad key" not in ended.out
    assert KEY.encode() not in person.everything() and secret.encode() not in person.everything()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_where_no_model_answers_the_memory_does(meet: Meet, language: str) -> None:
    with serving(Reply(status=503)) as server:
        person = meet(language)
        person.chat("/remember 端口 port 5439")
        with_model(person, server)
        ended = person.chat("which port? 端口？", merged=True)
    assert ended.code == 0 and "503" in ended.out
    assert ("(so from memory alone)\nFrom memory:\n- 端口 port 5439" in ended.out) == (language == "en")
    assert ("（以下仅凭记忆）\n记忆中有：\n- 端口 port 5439" in ended.out) == (language == "zh")
    assert person.sessions()[-1][0] == ("user", "which port? 端口？")


def test_the_second_model_answers_where_the_first_is_dead(meet: Meet) -> None:
    with serving(Reply(status=500)) as dead, serving(Reply(("I am here.",))) as alive:
        person = meet()
        rows = [("first", "openai", dead), ("second", "anthropic", alive)]
        person.configure(*({"name": n, "api": a, "base_url": s.url, "model": "m"} for n, a, s in rows))
        ended = person.chat("hello", "again", merged=True)
    assert "if it cannot, second (m, 127.0.0.1:" in ended.out
    assert ended.out.count("(asking second)") == 1 and ended.out.count("I am here.") == 2
    assert len(asked_by_chat(dead)) == 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_the_http_library_the_chat_goes_on(meet: Meet, language: str) -> None:
    with serving(Reply(("never",))) as server:
        person = meet(language)
        with_model(person, server)
        ended = person.chat("hello", program=WITHOUT_LIBRARY)
    assert ended.code == 0 and "pip install 'catmem[llm]'" in ended.err and server.requests == []
    assert person.sessions()[0][0] == ("user", "hello")


def test_no_model_is_asked_before_the_user_says_something(meet: Meet) -> None:
    with serving(Reply(("late",), delay=60.0)) as server:
        person = meet()
        person.chat("Remember: I like short answers.", "From now on we use uv instead of pip.")
        with_model(person, server)
        # Whatever background work would ask a model, a person who starts a chat does not wait for it.
        assert "short answers" in person.mem("start", typed="/brief\n").out
        assert server.requests == []


def test_an_answer_that_dies_on_the_way_is_kept_as_far_as_it_came(meet: Meet) -> None:
    with serving(Reply(("Half an ", "answer"), breaks=True), Reply(("whole",))) as server:
        person = meet()
        with_model(person, server)
        ended = person.chat("hello", "go on", merged=True)
    assert "Half an answer\n! the answer broke off" in ended.out
    assert person.sessions()[0] == [
        ("user", "hello"),
        ("assistant", "Half an answer"),
        ("user", "go on"),
        ("assistant", "whole"),
    ]
    assert [m["content"] for m in asked_by_chat(server)[1]["messages"]][1:] == ["hello", "Half an answer", "go on"]


def test_a_long_talk_is_sent_from_its_end(meet: Meet) -> None:
    long = "word " * 4000
    with serving(Reply(("ok",))) as server:
        person = meet()
        with_model(person, server)
        person.chat(f"a {long}", f"b {long}", f"c {long}", "d")
    last = [m["content"][:1] for m in asked_by_chat(server)[-1]["messages"][1:]]
    assert last in (["c", "o", "d"], ["b", "o", "c", "o", "d"])


# --- interruptions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\x03", "\x04", "/exit\r"])
def test_every_way_out_is_a_clean_one(meet: Meet, end: str) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("hello\r")
    terminal.wait_for("Nothing in memory")
    terminal.wait_for_prompt()
    terminal.type(end)
    assert terminal.ended(insist="\x03") == 0
    assert "".join(terminal.shown).endswith("shows it.") and "Traceback" not in terminal.seen
    assert person.sessions()[0][0] == ("user", "hello")


def test_ctrl_c_during_an_answer_stops_the_answer_only(meet: Meet) -> None:
    with serving(Reply(("One. ", *("more " for _ in range(600))), pause=0.1), Reply(("Two.",))) as server:
        person = meet()
        with_model(person, server)
        terminal = Terminal(person)
        terminal.wait_for_prompt()
        terminal.type("first\r")
        terminal.wait_for("more more")
        terminal.type("\x03")
        terminal.wait_for(r"\(stopped\)")
        terminal.wait_for_prompt()
        terminal.type("second\r")
        terminal.wait_for(r"Two\.")
        terminal.wait_for_prompt()
        terminal.type("\x04")
        assert terminal.ended() == 0
    (_, one), (_, first), (_, two), (_, second) = person.sessions()[0]
    assert (one, two, second) == ("first", "second", "Two.") and first.startswith("One. more more")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_kill_9_loses_nothing_and_the_next_chat_knows_it(meet: Meet, language: str) -> None:
    said = {"en": "From now on we use PostgreSQL 16 for the shop.", "zh": "记住：这个商店以后都用 PostgreSQL 16。"}[
        language
    ]
    with serving(Reply(("Fine, ", *("on " for _ in range(600))), pause=0.1)) as server:
        person = meet(language)
        with_model(person, server)
        terminal = Terminal(person)
        terminal.wait_for_prompt()
        terminal.type(f"{said}\r")
        terminal.wait_for("Fine")
        terminal.kill()
    assert person.sessions()[0] == [("user", said)]
    person.configure()
    ended = person.chat("PostgreSQL?")
    assert ("1 memory loaded" in ended.out) or ("已载入 1 条记忆" in ended.out)
    assert "PostgreSQL 16" in ended.out


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_terminal_ends_the_chat(meet: Meet, number: signal.Signals) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("hello\r")
    terminal.wait_for("Nothing in memory")
    terminal.wait_for_prompt()
    os.kill(terminal.pid, number)
    assert terminal.ended() == 128 + number
    assert person.asks("sessions")["sessions"][0]["metadata"]["ended"]


def _has_gnu_readline() -> bool:
    try:
        import readline
    except ImportError:
        return False
    return "libedit" not in (readline.__doc__ or "") and sys.platform != "win32"


@pytest.mark.skipif(not _has_gnu_readline(), reason="this Python has no GNU readline: each pasted line is a message")
def test_a_paste_is_one_message_to_readline_too(meet: Meet) -> None:
    person = meet()
    terminal = Terminal(person, program=WITHOUT_EDITOR)
    terminal.wait_for_prompt()
    terminal.type("\x1b[200~def f():\r    return 1\r第三行\x1b[201~")
    terminal.type("\r")
    terminal.wait_for("Nothing in memory")
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert person.sessions()[0][0] == ("user", "def f():\n    return 1\n第三行")
