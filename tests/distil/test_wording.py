from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.distil.wording import LONGEST, worded


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("hm. ok so, from now on sort the imports by length", "from now on sort the imports by length"),
        ("btw backups run at four in the morning", "backups run at four in the morning"),
        ("对了，备份都在凌晨四点跑", "备份都在凌晨四点跑"),
        ("记住：我看不懂英文报错", "我看不懂英文报错"),
        ("I read diffs on a phone, so please redo that one", "I read diffs on a phone"),
        ("我喜欢先看日志再动手，你先把日志贴出来", "我喜欢先看日志再动手"),
    ],
)
def test_what_leads_in_and_hangs_on_is_left_out(said: str, kept: str) -> None:
    assert worded(said) == [kept]


def test_a_lead_that_is_all_there_is_stays() -> None:
    assert worded("ok so") == ["ok so"]
    assert worded("no grid in plots") == ["no grid in plots"]


def test_a_list_of_rules_is_parted() -> None:
    said = "house rules: tables carry the prefix inv_ (yes, all of them), dates are ISO strings, and logs go to stderr"
    assert worded(said) == [
        "tables carry the prefix inv_ (yes, all of them)",
        "dates are ISO strings",
        "logs go to stderr",
    ]
    assert worded("表名都带 inv_ 前缀；日期一律存毫秒时间戳") == ["表名都带 inv_ 前缀", "日期一律存毫秒时间戳"]


def test_what_hangs_together_is_not_parted() -> None:
    assert len(worded("we keep one branch per client; otherwise the hotfixes collide")) == 1
    assert len(worded("gulp went out; builds run on make now", whole=True)) == 1


@given(st.text(max_size=900))
def test_a_part_is_short_and_stands_in_what_was_said(text: str) -> None:
    for part in worded(text):
        assert len(part) <= LONGEST
        assert part.rstrip("…").strip() in text


@given(st.text(min_size=1, max_size=200))
def test_wording_twice_changes_nothing_of_a_whole(text: str) -> None:
    once = worded(text, whole=True)
    assert worded(once[0], whole=True) == once or len(once[0]) < len(text)
