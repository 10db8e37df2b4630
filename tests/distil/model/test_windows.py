from __future__ import annotations

from itertools import pairwise

import pytest

from catmem.distil.distiller import judged, read
from catmem.distil.model.asking import _cost
from catmem.distil.model.instructions import TRIGGERS, instruction
from catmem.distil.model.windows import OVERLAP_TOKENS, WINDOW_TOKENS, Window, halves, windows_of
from catmem.domain.message import Message
from catmem.llm.port import Completion, Turn
from catmem.text.cut import estimate_tokens
from tests.distil.model.asked import CHINESE, LINES, form, window_of
from tests.distil.talks import talk


def windows(messages: list[Message], first_id: int = 1, tokens: int = WINDOW_TOKENS) -> list[Window]:
    sentences = read(messages)
    return windows_of(sentences, judged(sentences), first_id, tokens)


def long_talk(messages: int) -> list[Message]:
    """What two people at work say in a day: questions, answers of a paragraph, and a rule or a decision now and then."""
    lines: list[str] = []
    for n in range(messages // 2):
        asked = [
            f"why does the importer for warehouse {n} drop the last row of the sheet when the file is larger than expected",
            f"仓库 {n} 的导入为什么会丢掉最后一行？文件大的时候才有",
            f"we always name the importer tables with the prefix wh{n}_ here, the reports rely on it",
            f"我们这儿接口 {n} 的字段一律用下划线命名，别用驼峰",
        ][n % 4]
        lines.append(f"U: {asked}")
        lines.append(
            f"A: The reader of sheet {n} stops at the first empty cell of column A, and the last row begins with one. I "
            "changed the condition so that a row only counts as the end if all of its cells are empty, and added a test "
            "with such a sheet. The run over the sample folder now gives the same number of rows as the source. Shall I "
            "do the same for the export?"
        )
    return talk(*lines)


def test_user_sentences_are_numbered_and_the_assistant_is_only_context() -> None:
    text = window_of(*LINES).text
    assert "1. the build is red again, can you look at it?" in text and "A: Shall I fix them?" in text
    assert [line.split(".")[0] for line in text.splitlines() if not line.startswith("A:")] == [
        str(n) for n in range(1, len(window_of(*LINES).sentences) + 1)
    ]


def test_what_is_only_shown_is_not_shown_again() -> None:
    text = window_of(*LINES, "U: the log:\n```\nerror: token expired at line 3\n```", "A: I see.").text
    assert "token expired" not in text


def test_each_window_is_small_and_overlaps_the_one_before() -> None:
    found = windows(long_talk(160), tokens=400)
    assert len(found) > 3
    for window in found:
        assert estimate_tokens(window.text) <= 400 + OVERLAP_TOKENS
    for before, after in pairwise(found):
        assert {s.number for s in before.sentences} & {s.number for s in after.sentences}
    kept = {number for number, verdict in judged(read(long_talk(160))).items() if verdict.kept}
    assert kept <= {sentence.number for window in found for sentence in window.sentences}


def test_a_long_message_is_parted_at_its_sentences() -> None:
    said = [f"We always name the tables of hall {n} in the plural in this repository." for n in range(120)]
    rules = "\n".join(" ".join(said[n : n + 8]) for n in range(0, 120, 8))
    found = windows(talk(f"U: {rules}", "A: Noted."), tokens=300)
    assert len(found) > 3
    shown = [sentence.text for window in found for sentence in window.sentences]
    assert all(text.startswith("We always") and text.endswith("repository.") for text in shown)
    assert set(shown) == set(said)


def test_nothing_that_hangs_on_a_model_is_no_question() -> None:
    assert windows(talk("U: what does this do?", "A: It sorts.", "U: 谢谢", "A: 不客气。")) == []


def test_what_was_distilled_before_is_not_shown_again() -> None:
    messages = long_talk(40)
    assert all(s.message.id >= 31 for window in windows(messages, 31) for s in window.sentences)


def test_halves_have_all_sentences_and_end_with_one() -> None:
    messages = long_talk(20)
    verdicts = judged(read(messages))
    (window,) = windows(messages)
    parts = halves(window, verdicts)
    seen = [s.number for part in parts for s in part.sentences]
    assert set(seen) <= {s.number for s in window.sentences} and len(seen) == len(set(seen))
    single = window_of("U: we always pin the compiler version in this repository")
    assert halves(single, judged(read(talk("U: we always pin the compiler version in this repository")))) == []


def test_the_language_is_that_of_the_user() -> None:
    assert (window_of(*LINES).language, window_of(*CHINESE).language) == ("en", "zh")
    mixed = window_of("U: 我们这个 repo 一律用 pnpm，别用 npm install", "A: Sure, I will use pnpm from now on.")
    assert mixed.language == "zh"


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_each_trigger_has_its_instruction_in_both_languages(trigger: str) -> None:
    english, chinese = instruction(trigger, "en"), instruction(trigger, "zh")  # type: ignore[arg-type]
    assert "{" not in english.replace('{"', "") and english != chinese
    assert sum("\u4e00" <= c <= "\u9fff" for c in chinese) > 100 > sum("\u4e00" <= c <= "\u9fff" for c in english)
    assert estimate_tokens(english) < 450 and estimate_tokens(chinese) < 650
    others = {instruction(other, "en") for other in TRIGGERS if other != trigger}
    assert english not in others


def test_a_session_of_a_hundred_messages_costs_at_most_half_as_much_again() -> None:
    messages = long_talk(100)
    own = sum(estimate_tokens(message.content) for message in messages)
    cost = 0
    for window in windows(messages):
        answer = form(*({"n": n} for n in range(1, len(window.sentences) // 4)), progress="the importer is mended")
        cost += _cost(instruction("end", window.language), [Turn("user", window.text)], Completion(answer))
    assert 0 < cost <= 1.5 * own
