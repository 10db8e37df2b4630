"""The option that a user takes by naming its place."""

from __future__ import annotations

import pytest

from tests.distil.talks import Remembered


def decided(proposal: str, acceptance: str) -> list[str]:
    memories = Remembered()
    memories.session("U: how do we store it", f"A: {proposal}", f"U: {acceptance}", "A: OK.", day=1)
    return [m.now.text for m in memories.live() if m.now.kind == "decision"]


@pytest.mark.parametrize(
    ("proposal", "acceptance", "named"),
    [
        ("Option A: one file a station. Option B: a table with a row a reading.", "B", "row a reading"),
        (
            "Option A: one file a station. Option B: a table with a row a reading.",
            "option a then",
            "one file a station",
        ),
        ("Either a nightly export to the share, or a live feed over MQTT.", "the former", "nightly export"),
        ("Either a nightly export to the share, or a live feed over MQTT.", "let's take the latter", "MQTT"),
        ("- a cron job on the host\n- a worker with a queue\n- a trigger in the database", "the third", "trigger"),
        ("两个办法：一是每晚导出到共享盘；二是用 MQTT 实时推送。", "方案二", "MQTT"),
        ("可以每晚导出到共享盘，也可以用 MQTT 实时推送。", "前者吧", "共享盘"),
    ],
)
def test_the_text_is_the_clause_of_the_option(proposal: str, acceptance: str, named: str) -> None:
    (text,) = decided(proposal, acceptance)
    assert named in text


@pytest.mark.parametrize(
    ("proposal", "acceptance"),
    [
        ("Option A: one file a station. Option B: a table with a row a reading.", "B is slow on my laptop"),
        ("Option A: one file a station. Option B: a table with a row a reading.", "what would the second cost?"),
        ("两个办法：一是每晚导出到共享盘；二是用 MQTT 实时推送。", "第二个按钮没反应"),
        ("I renamed the column.", "the second"),
    ],
)
def test_a_place_that_is_no_choice_decides_nothing(proposal: str, acceptance: str) -> None:
    assert decided(proposal, acceptance) == []
