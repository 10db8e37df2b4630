"""Cutting never exceeds, never breaks a character, and ends with a line where it can."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.cut import cut_bytes, cut_tokens, estimate_tokens, preview

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1ef\U0001f1f5"
WAVE = "\U0001f44b\U0001f3fd"
TEXTS = st.lists(
    st.sampled_from(
        [FAMILY, FLAG, WAVE, "e\u0301", "한", "各", "a", "word ", "\n", "\r\n", "क्षि", "\U00020bb7", "1234", "。"]
    )
).map("".join)


@given(TEXTS, st.integers(-1, 120))
def test_cut_bytes_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    cut = cut_bytes(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= max(limit, 0)
    assert cut == text or not _is_inside(text, len(cut))


@given(TEXTS, st.integers(-1, 60))
def test_cut_tokens_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    cut = cut_tokens(text, limit)
    assert text.startswith(cut)
    assert estimate_tokens(cut) <= max(limit, 0)


@given(st.text(max_size=80), st.integers(0, 200))
def test_any_text_can_be_cut(text: str, limit: int) -> None:
    assert text.startswith(cut_bytes(text, limit))
    assert text.startswith(cut_tokens(text, limit))
    assert "\n" not in preview(text, limit)


def _is_inside(text: str, place: int) -> bool:
    """An independent, stricter list of what may not be parted."""
    before, after = text[:place], text[place:]
    if not after or not before:
        return False
    return (
        after[0] == "\u200d"
        or before[-1] == "\u200d"
        or unicodedata.category(after[0]) in ("Mn", "Mc")
        or "\U0001f3fb" <= after[0] <= "\U0001f3ff"
        or (before[-1] == "\r" and after[0] == "\n")
    )


@pytest.mark.parametrize("whole", [FAMILY, FLAG, WAVE, "e\u0301", "क्षि"])
def test_a_grapheme_is_kept_or_left_out_whole(whole: str) -> None:
    text = "ab" + whole + "cd"
    for limit in range(len(text.encode()) + 1):
        assert cut_bytes(text, limit) in ("", "a", "ab", "ab" + whole, "ab" + whole + "c", text)


def test_flags_are_parted_by_pairs() -> None:
    assert cut_bytes(FLAG * 3, 8 * 2 + 4) == FLAG * 2


def test_line_ends_are_preferred() -> None:
    assert cut_bytes("first line\nsecond line", 15) == "first line"
    assert cut_bytes("第一行\n第二行", 14) == "第一行"
    assert cut_bytes("first\r\nsecond", 9) == "first"
    assert cut_bytes("one long line", 8) == "one long"
    assert cut_bytes("first\nsecond", 5) == "first"
    assert cut_tokens("- 先灰度再全量\n- 全量之前看一天的指标和日志", 12) == "- 先灰度再全量"


def test_a_surrogate_does_not_break_the_cut() -> None:
    assert cut_bytes("a\ud83db", 2) == "a"


@pytest.mark.parametrize(
    ("text", "real"),
    [
        # Counts of cl100k_base or o200k_base, whichever is higher.
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("我们的登录服务用的是端口 8443，部署方案：先灰度再全量。", 27),
        ("会議は毎週火曜日の朝にする。検索テストは通った。", 29),
        ("결제 서버는 서울 리전에 둔다.", 16),
        ("MAX_MESSAGES = 5000  # of a live session file", 13),
        ('{"id":1,"role":"user","content":"…"}', 13),
        ("🎉🚀 done ✅", 9),
        ("", 0),
    ],
)
def test_the_estimate_is_not_below_a_tokenizer_nor_twice_as_high(text: str, real: int) -> None:
    assert real <= estimate_tokens(text) <= 2 * real + 2


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_is_never_fewer_lines_of_tokens(one: str, other: str) -> None:
    assert estimate_tokens(one + "\n" + other) + 2 >= estimate_tokens(one)


def test_preview_is_one_line_of_the_width() -> None:
    assert preview("fix  the\n\tflaky test", 80) == "fix the flaky test"
    assert preview("abcdef", 4) == "abc…"
    assert preview("先灰度再全量", 8) == "先灰度…"
    assert preview("ab" + FAMILY + "cd", 4) in ("ab…", "ab" + FAMILY + "…")
    assert preview("x" * 80, 80) == "x" * 80
    assert preview("anything", 0) == ""
