"""How far two sentences say the same."""

from __future__ import annotations

import pytest

from catmem.domain.likeness import likeness, same_taste


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我喜欢深色模式的编辑器", "我喜歡深色模式的編輯器"),
        ("以后提交信息都用英文", "以後提交信息都用英文"),
        ("记住：图表统一画在后面", "記住：圖表統一畫在後面"),
    ],
)
def test_traditional_and_simplified_say_the_same(one: str, other: str) -> None:
    assert likeness(one, other) == pytest.approx(1.0)
    assert same_taste(one, other)


def test_other_things_are_told_apart_in_either_script() -> None:
    assert not same_taste("我喜欢深色模式的编辑器", "我喜歡簡短的回答")
