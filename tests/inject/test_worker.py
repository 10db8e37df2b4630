"""When a hook starts the background worker, and for which session."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest

from catmem.domain.triggers import MESSAGES_BETWEEN
from catmem.inject.worker import CHANGES_APART, is_time_for_changes, needs_worker, session_in_use
from catmem.sessions.names import file_name
from catmem.settings.places import Places

KEY = "claude-code:1"


@pytest.fixture
def places(tmp_path) -> Places:
    return Places(str(tmp_path))


def captured(*new: int, text: str = "", changes: bool = False, left: bool = False) -> dict[str, Any]:
    return {"key": KEY, "project": "shop", "new": list(new), "text": text, "changes": changes, "left": left}


def needs(places: Places, event: str, found: dict[str, Any]) -> bool:
    return needs_worker(places, {"name": event}, found)


def test_at_the_start_and_the_end_of_a_session(places):
    assert needs(places, "SessionStart", {}) and needs(places, "SessionEnd", {})
    assert not needs(places, "Stop", {}) and not needs(places, "Stop", captured(1, 2))


@pytest.mark.parametrize("text", ["Remember: we deploy on Tuesdays", "以后提交信息都用英文"])
def test_at_once_on_a_strong_sentence(places, text):
    assert needs(places, "UserPromptSubmit", captured(1, text=text))
    assert not needs(places, "UserPromptSubmit", captured(1, text="what is this? 这是什么"))


def test_when_many_messages_have_come_or_more_wait(places):
    assert needs(places, "Stop", captured(MESSAGES_BETWEEN - 1, MESSAGES_BETWEEN))
    assert needs(places, "Stop", captured(2, left=True)) and needs(places, "Stop", captured(left=True))


def test_after_files_were_changed_but_not_after_every_turn(places):
    for turn in range(5):
        assert needs(places, "Stop", captured(2 * turn + 1, 2 * turn + 2, changes=True)) == (turn == 0)
    assert is_time_for_changes(places, "claude-code:2"), "another session"
    assert session_in_use({"name": "Stop"}, captured(1, changes=True)) == [("shop", KEY)]


@pytest.mark.parametrize(("moved", "again"), [(-CHANGES_APART - 60, True), (60 - CHANGES_APART, False), (3600, True)])
def test_again_after_some_minutes_or_when_the_clock_was_set_back(places, moved: float, again: bool):
    assert is_time_for_changes(places, KEY)
    stamped = time.time() + moved
    os.utime(os.path.join(places.changes, file_name(KEY)), (stamped, stamped))
    assert is_time_for_changes(places, KEY) == again


def test_where_nothing_can_be_noted_the_end_of_the_session_does_it(tmp_path):
    (tmp_path / "run").write_text("in the way")
    assert not is_time_for_changes(Places(str(tmp_path)), KEY)
