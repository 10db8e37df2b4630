"""The chat of `mem start` as a person at a real terminal meets it: what the screen shows, and what was kept."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from tests.cli.chat import WITHOUT_EDITOR, Person, Terminal
from tests.llm.fake_server import FakeServer, Reply, serving

LONG = tuple("这是一个很长的回答，有宽字符 and narrow words, 混排 🦊。" for _ in range(40))
PASTED = "\n".join(f"line {n}\ttab \x1b[31mred\x1b[0m 第{n}行" for n in range(200))

Meet = Callable[..., Person]


def with_model(person: Person, server: FakeServer) -> None:
    person.configure({"name": "local", "api": "openai", "base_url": server.url, "model": "m-1"})


def typed(person: Person) -> list[str]:
    return [text for role, text in person.sessions()[-1] if role == "user"]


def left(terminal: Terminal) -> None:
    """Ends the chat, and takes care that it did so cleanly."""
    terminal.wait_for_prompt()
    terminal.settle()
    terminal.type("\x04")
    assert terminal.ended() == 0 and "Traceback" not in terminal.seen
    # What a shell finds after it: a paste is its own again.
    assert terminal.seen.rfind("\x1b[?2004l") > terminal.seen.rfind("\x1b[?2004h")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_wide_characters_are_edited_where_they_stand(meet: Meet, language: str) -> None:
    person = meet(language)
    terminal = Terminal(person, columns=30)
    terminal.wait_for_prompt()
    terminal.type("我们用宽字符，这一行比屏幕还要长一些，对吧")
    terminal.settle()
    assert terminal.shown[-2:] == ["› 我们用宽字符，这一行比屏幕还", "  要长一些，对吧"]
    terminal.type("\x1b[D\x1b[D\x7f\x7f\x1b[D呀")
    terminal.settle()
    assert terminal.shown[-2:] == ["› 我们用宽字符，这一行比屏幕还", "  要长呀一对吧"]
    terminal.resize(80, 20)
    terminal.settle()
    assert terminal.shown[-1] == "› 我们用宽字符，这一行比屏幕还要长呀一对吧"
    terminal.type("\r")
    terminal.wait_for("Kept|已保存")
    left(terminal)
    assert typed(person) == ["我们用宽字符，这一行比屏幕还要长呀一对吧"]


def test_a_window_that_is_resized_during_an_answer_loses_nothing(meet: Meet) -> None:
    with serving(Reply(LONG, pause=0.05)) as server:
        person = meet()
        with_model(person, server)
        terminal = Terminal(person, columns=80)
        terminal.wait_for_prompt()
        terminal.type("go\r")
        for columns, rows in ((31, 10), (120, 50), (17, 9)):
            terminal.wait_for("narrow")
            terminal.resize(columns, rows)
        terminal.wait_for_prompt()
        terminal.type("还在")
        terminal.settle()
        assert terminal.shown[-1] == "› 还在"
        terminal.type("\x15")
        left(terminal)
    assert person.sessions()[0] == [("user", "go"), ("assistant", "".join(LONG))]


def test_200_lines_pasted_are_one_message_with_their_tabs_and_escapes(meet: Meet) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.paste(PASTED)
    terminal.settle()
    assert terminal.shown[-1].startswith("  line 199") and "^[[31mred" in terminal.shown[-1]
    terminal.type("\r")
    terminal.wait_for("Nothing in memory")
    left(terminal)
    assert typed(person) == [PASTED]
    assert "\x1b[31m" not in terminal.seen


def test_what_is_pasted_during_an_answer_waits_as_one_message_and_ctrl_c_is_heard(meet: Meet) -> None:
    with serving(Reply(("One. ", *("more " for _ in range(900))), pause=0.1), Reply(("Two.",))) as server:
        person = meet()
        with_model(person, server)
        terminal = Terminal(person)
        terminal.wait_for_prompt()
        terminal.type("first\r")
        terminal.wait_for("more more")
        # More than a terminal holds for a program that does not read.
        assert len(PASTED) > 4096
        terminal.paste(PASTED)
        terminal.type("\x03")
        terminal.wait_for(r"\(stopped\)")
        terminal.wait_for("line 199")
        assert "line 0" not in terminal.seen[: terminal.seen.index("(stopped)")]
        terminal.type("\r")
        terminal.wait_for(r"Two\.")
        left(terminal)
    assert typed(person) == ["first", PASTED]


def test_the_terminal_is_quiet_again_when_the_chat_comes_back_to_the_foreground(meet: Meet) -> None:
    with serving(Reply(("One. ", *("more " for _ in range(900))), pause=0.1)) as server:
        person = meet()
        with_model(person, server)
        terminal = Terminal(person)
        terminal.wait_for_prompt()
        terminal.type("first\r")
        terminal.wait_for("more")
        assert not terminal.echoes
        os.kill(terminal.pid, signal.SIGSTOP)
        # As a shell does for its own prompt.
        terminal.echoes = True
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for("more more")
        terminal.type("\x03")
        terminal.wait_for("stopped")
        assert not terminal.echoes
        left(terminal)
        assert terminal.seen.count("more") < 800


def test_several_lines_are_typed_in_three_ways(meet: Meet) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    for message in ("one\\\rtwo", "three\x1b\rfour", '"""five\r\rsix"""'):
        terminal.type(message)
        terminal.settle()
        terminal.type("\r")
        terminal.wait_for("Nothing in memory")
        terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert typed(person) == ["one\ntwo", "three\nfour", "five\n\nsix"]
    assert [line for line in terminal.shown if line in ("› one", "  two")] == ["› one", "  two"]


def test_several_lines_come_through_a_pipe_and_from_readline_too(meet: Meet) -> None:
    person = meet()
    person.chat("one\\", "two", '"""three', "", 'four"""', "C:\\\\", '"""never closed', "at all")
    assert typed(person) == ["one\ntwo", "three\n\nfour", "C:\\\\", '"""never closed\nat all']
    terminal = Terminal(person, program=WITHOUT_EDITOR)
    terminal.wait_for_prompt()
    terminal.type("five\\\r")
    terminal.settle()
    terminal.type("six\r")
    terminal.wait_for("Nothing in memory")
    terminal.wait_for_prompt()
    terminal.type("\x04")
    assert terminal.ended() == 0
    assert typed(person) == ["five\nsix"]


def test_ctrl_c_takes_back_half_a_message_which_the_arrow_brings_again(meet: Meet) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("half a message")
    terminal.settle()
    terminal.type("\x03")
    terminal.settle()
    assert terminal.shown[-1] == "›"
    terminal.type("\x1b[A")
    terminal.settle()
    assert terminal.shown[-1] == "› half a message"
    terminal.type("\x03")
    terminal.settle()
    terminal.type("\x03")
    assert terminal.ended() == 0
    assert person.sessions() == [] and b"half a message" not in person.everything()


def test_the_arrow_brings_what_was_typed_in_earlier_chats_as_it_was_kept(meet: Meet) -> None:
    person = meet()
    person.chat("the first", "the <private>48731</private> second")
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("\x1b[A")
    terminal.settle()
    assert terminal.shown[-1] == "› the  second"
    terminal.type("\x1b[A")
    terminal.settle()
    assert terminal.shown[-1] == "› the first"
    terminal.type("\x15")
    left(terminal)


def test_the_tabulator_completes_commands_and_ctrl_space_does_nothing(meet: Meet) -> None:
    person = meet()
    terminal = Terminal(person)
    terminal.wait_for_prompt()
    terminal.type("/hi\t\r")
    terminal.wait_for("first session of this project")
    terminal.wait_for_prompt()
    terminal.type("a\t\x00b中\r")
    terminal.wait_for("Nothing in memory")
    left(terminal)
    assert typed(person) == ["a\tb中"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_dead_network_is_told_and_ctrl_c_leaves_a_silent_server(meet: Meet, language: str) -> None:
    silent = Reply(("never",), delay=60.0)
    with serving(Reply(("Here.",)), silent, Reply(raw=b"data: {garbage\n\n")) as server:
        person = meet(language)
        person.configure(
            {"name": "nobody", "api": "openai", "base_url": "http://127.0.0.1:9", "model": "m"},
            {"name": "local", "api": "anthropic", "base_url": server.url, "model": "m-1"},
        )
        terminal = Terminal(person)
        terminal.wait_for_prompt()
        terminal.type("one\r")
        terminal.wait_for(r"Here\.")
        terminal.wait_for_prompt()
        told = next(place for place, line in enumerate(terminal.shown) if line.startswith("! nobody"))
        assert "Here." in terminal.shown[told + 1 : told + 4]
        terminal.type("two\r")
        terminal.wait_for(r"\.\.\.")
        terminal.settle()
        terminal.type("\x03")
        terminal.wait_for("stopped|已停止")
        terminal.wait_for_prompt()
        terminal.type("three\r")
        terminal.wait_for("form we do not know|格式无法识别")
        left(terminal)
    assert typed(person) == ["one", "two", "three"]
    assert "..." not in "\n".join(terminal.shown)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_each_way_a_server_fails_is_told_and_the_chat_goes_on(meet: Meet, api: str) -> None:
    failures = (Reply(status=401), Reply(status=429), Reply(raw=b"<html>"), Reply(("Half",), breaks=True), Reply(()))
    with serving(*failures, Reply(("Back.",))) as server:
        person = meet()
        person.configure({"name": "local", "api": api, "base_url": server.url, "model": "m-1"})
        ended = person.chat("one", "two", "three", "four", "five", "six", merged=True)
    assert ended.code == 0 and ended.out.count("! ") == 5
    for told in ("wants a key (401)", "status 429", "ended too early", "Half\n! the answer broke off", "empty answer"):
        assert told in ended.out
    assert ended.out.index("Back.") > ended.out.index("empty answer")
