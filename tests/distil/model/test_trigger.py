from __future__ import annotations

from dataclasses import replace

import pytest

from catmem.capture.triggers import MESSAGES_BETWEEN
from catmem.distil.distiller import read
from catmem.distil.model.instructions import Trigger
from catmem.distil.model.trigger import MANY_MESSAGES, trigger_of
from catmem.domain.message import ToolCall
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
    assert trigger_of(False, read(talk(*lines)), first_id) == trigger
    assert trigger_of(True, read(talk(*lines)), first_id) == "end"


@pytest.mark.parametrize(("tool", "trigger"), [("Edit", "changes"), ("apply_patch", "changes"), ("Read", "count")])
def test_files_that_were_changed(tool: str, trigger: Trigger) -> None:
    asked, answered = talk(*PLAIN)
    answered = replace(answered, tool_calls=(ToolCall("t1", tool, "{}"),))
    assert trigger_of(False, read([asked, answered]), 1) == trigger


def test_many_is_what_starts_the_worker() -> None:
    assert MANY_MESSAGES == MESSAGES_BETWEEN
