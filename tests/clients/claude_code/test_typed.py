from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.clients.claude_code.typed import is_bare_command, separate

WHOLE = [
    "Why does `<system-reminder>` appear in my prompt?",
    "两个标签 `<system-reminder>` 和 `</system-reminder>` 有什么区别？",
    "look at this:\n```\n<system-reminder>x</system-reminder>\n```\nwhat is it?",
    "a < b and b > c, <b>bold</b>",
    "句中的 <system-reminder>不是注入</system-reminder> 保留",
    "[Request interrupted by user] is what it printed, why?\nI did not press anything.",
    "This session is being continued from a previous conversation that ran out of context. 这句话是谁写的？",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_a_person_wrote_about_tags_stays_whole(text: str) -> None:
    assert separate(text) == (text, "", "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<system-reminder>\n今天是周一\n</system-reminder>\n把缓存关掉", "把缓存关掉"),
        ("before\n<ide_selection>lines 1-4</ide_selection>\nafter 之后", "before\nafter 之后"),
        ("<command-name>/fix</command-name>\n  <command-args>登录 bug</command-args>", "/fix 登录 bug"),
        (
            "<command-message>x</command-message><command-name>fix</command-name><command-args>a b</command-args>",
            "/fix a b",
        ),
        ("<user-memory-input>we deploy on Fridays</user-memory-input>", "we deploy on Fridays"),
        (
            "<local-command-caveat>c</local-command-caveat>\n运行它\n<local-command-stdout>o</local-command-stdout>",
            "运行它",
        ),
    ],
)
def test_typed_words_are_freed_of_what_stands_beside_them(text: str, said: str) -> None:
    assert separate(text) == (said, "", "")


@pytest.mark.parametrize(
    ("text", "kind", "rest"),
    [
        (
            "<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n  <command-args></command-args>",
            "command",
            "/clear",
        ),
        ("<local-command-stdout>Goodbye!</local-command-stdout>", "command", "Goodbye!"),
        ("<local-command-stdout>cut off by the host …", "command", "cut off by the host …"),
        (
            "<bash-input>pwd</bash-input><bash-stdout>/tmp</bash-stdout><bash-stderr></bash-stderr>",
            "command",
            "pwd\n/tmp",
        ),
        ("<task-notification>\n<status>done</status>\n</task-notification>", "notice", "<status>done</status>"),
        ("<system-reminder>only this</system-reminder>", "reminder", ""),
        ("[Request interrupted by user for tool use]", "notice", "[Request interrupted by user for tool use]"),
    ],
)
def test_what_nobody_typed_has_a_kind(text: str, kind: str, rest: str) -> None:
    assert separate(text) == ("", kind, rest)


def test_a_summary_without_its_flag_is_known_by_its_length() -> None:
    text = "This session is being continued from a previous conversation that ran out of context." + " more" * 100
    assert separate(text) == ("", "summary", text)


@given(st.text())
def test_words_without_our_tags_are_never_touched(text: str) -> None:
    said, kind, _ = separate(text)
    if "<" not in text and not kind:
        assert said == (text if text.strip() else "")


@given(st.text(alphabet=st.sampled_from("<>/`\n abcdesystem-reminder")), st.text(max_size=20))
def test_separating_never_raises_and_never_invents(text: str, more: str) -> None:
    said, _, rest = separate(text + more)
    assert len(said) + len(rest) <= 2 * len(text + more) + 2


@pytest.mark.parametrize(
    ("text", "bare"),
    [("/clear", True), (" /mcp:login ", True), ("/fix it", False), ("/", False), ("/usr/bin", False), ("清除", False)],
)
def test_bare_commands(text: str, bare: bool) -> None:
    assert is_bare_command(text) is bare
