from __future__ import annotations

from dataclasses import replace

import pytest

from catmem.distil.distiller import read
from catmem.distil.model.instructions import Trigger
from catmem.distil.model.trigger import trigger_of
from catmem.domain.message import ToolCall
from catmem.domain.triggers import MESSAGES_BETWEEN
from tests.distil.talks import talk

STRONG = ("U: remember that I work on Linux", "A: Noted.")
STRONG_CHINESE = ("U: 记住，以后都用中文回答", "A: 好的。")
PLAIN = ("U: what does this function do?", "A: It sorts the rows.")


@pytest.mark.parametrize(
    ("lines", "first_id", "trigger"),
    [
        (STRONG, 1, "strong"),
        (STRONG_CHINESE, 1, "strong"),
        ((*STRONG, *PLAIN), 3, "count"),
        (PLAIN * 30, 1, "count"),
    ],
)
def test_what_is_new_tells_why_it_is_due(lines: tuple[str, ...], first_id: int, trigger: Trigger) -> None:
    messages = talk(*lines)
    assert trigger_of(False, messages, read(messages), first_id) == trigger
    assert trigger_of(True, messages, read(messages), first_id) == "end"


@pytest.mark.parametrize("words", ["It sorts the rows.", ""], ids=["with words", "without"])
@pytest.mark.parametrize(
    ("tool", "trigger"),
    [
        ("Edit", "changes"),
        ("apply_patch", "changes"),
        ("write_file", "changes"),
        ("str_replace_based_edit_tool", "changes"),
        ("Read", "count"),
        ("TodoWrite", "count"),
    ],
)
def test_files_that_were_changed(tool: str, trigger: Trigger, words: str) -> None:
    """Most assistants change files without a word."""
    asked, answered = talk(*PLAIN)
    messages = [asked, replace(answered, content=words, tool_calls=(ToolCall("t1", tool, "{}"),))]
    assert trigger_of(False, messages, read(messages), 1) == trigger
    assert trigger_of(False, messages, read(messages), 3) == "count", "nothing of it is new"


def test_a_long_stretch_is_told_of_as_one_whatever_was_changed_in_it() -> None:
    messages = talk(*PLAIN * (MESSAGES_BETWEEN // 2))
    messages[-1] = replace(messages[-1], tool_calls=(ToolCall("t1", "Edit", "{}"),))
    assert trigger_of(False, messages, read(messages), 1) == "count"
    assert trigger_of(False, messages, read(messages), 3) == "changes"
