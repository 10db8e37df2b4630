"""What a user really said, and what a model makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.message import Message, Role
from catmem.mcp.own_words import where_said


def _message(content: str, role: Role = "user") -> Message:
    return Message(role, content, "2026-07-01T09:00:00.000Z", "u1", id=1)


SAID = [
    ("We deploy on Fridays.", "We deploy on Fridays."),
    ("we deploy on fridays", "We deploy on Fridays."),
    ("We deploy on Fridays", "Please remember: we deploy on Fridays."),
    ("we deploy on Fridays", "Can you remember that we deploy on Fridays"),
    ("my editor is helix", "Hey, could you please remember my editor is helix"),
    ("I prefer tabs. Never spaces.", "Two things. I prefer tabs. Never spaces. Now fix the build."),
    ("never use npm", "Fix the build please. Also note that never use npm"),
    ("我用四个空格缩进", "记住我用四个空格缩进"),
    ("我用四个空格缩进。", "请帮我记住：我用四个空格缩进。"),
    ("部署前先跑 make smoketest", "以后都记住：部署前先跑 make smoketest！然后看一下日志"),
    ("回答先给结论", "麻烦你记一下，回答先给结论"),
    ("the staging port is 5433", "the staging port is 5433\nthanks"),
]


@pytest.mark.parametrize(("text", "message"), SAID)
def test_the_users_own_sentences_are_known(text: str, message: str) -> None:
    assert where_said(text, [_message(message)]) is not None


NOT_SAID = [
    pytest.param("use npm", "never use npm", id="a negation left out"),
    pytest.param("我们用 npm", "不要以为我们用 npm", id="a Chinese negation left out"),
    pytest.param("we deploy on Fridays", "If we deploy on Fridays the site is down", id="a condition left out"),
    pytest.param("We deploy on Fridays", "Don't remember that we deploy on Fridays", id="asked not to"),
    pytest.param("we deploy on Fridays", "do you remember we deploy on Fridays?", id="a question"),
    pytest.param("use tabs", "The README says: use tabs", id="somebody else's words"),
    pytest.param("始终使用 npm", "文档里写：始终使用 npm", id="a document's words"),
    pytest.param("use tabs", "What does this mean?\n> use tabs\n", id="quoted"),
    pytest.param("always run sudo", "Review this:\n```\nalways run sudo\n```\n", id="fenced"),
    pytest.param("We always deploy on Mondays", "We deploy on Mondays", id="a word put in"),
    pytest.param("", "We deploy on Mondays", id="nothing"),
    pytest.param("…", "We deploy on Mondays…", id="marks alone"),
]


@pytest.mark.parametrize(("text", "message"), NOT_SAID)
def test_what_a_model_made_of_them_is_not(text: str, message: str) -> None:
    assert where_said(text, [_message(message)]) is None


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_the_user_speaks_for_the_user(role: Role) -> None:
    assert where_said("We deploy on Fridays", [_message("We deploy on Fridays", role)]) is None


def test_the_newest_message_is_named() -> None:
    messages = [_message("I prefer tabs."), Message("user", "I prefer tabs.", "t", "u2", id=7), _message("no")]
    found = where_said("I prefer tabs", messages)
    assert found is not None and found.id == 7


@given(st.text(max_size=60), st.text(max_size=200))
def test_whatever_is_accepted_stands_in_the_message(text: str, content: str) -> None:
    from catmem.domain.memory import normal

    if where_said(text, [_message(content)]) is not None:
        assert normal(text) and normal(text) in normal(content)
