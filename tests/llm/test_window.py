from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catmem.llm.port import Turn
from catmem.llm.window import recent_turns
from catmem.text.cut import estimate_tokens

turns = st.lists(
    st.builds(Turn, st.sampled_from(["user", "assistant"]), st.sampled_from(["hi", "你好，世界", "a b " * 50]))
)


def test_the_oldest_exchanges_go_first_and_whole() -> None:
    talk = [
        Turn("user", "hello " * 40),
        Turn("assistant", "b"),
        Turn("user", "端口"),
        Turn("assistant", "5439"),
        Turn("user", "ok"),
    ]
    assert recent_turns(talk, 20) == tuple(talk[2:])
    assert recent_turns(talk, 10_000) == tuple(talk)


def test_the_newest_words_stay_however_long() -> None:
    long = Turn("user", "word " * 5000)
    assert recent_turns([Turn("user", "a"), Turn("assistant", "b"), long], 10) == (long,)


def test_words_without_an_answer_are_said_together_with_the_next() -> None:
    assert recent_turns([Turn("user", "a"), Turn("user", "b")], 100) == (Turn("user", "a\n\nb"),)


@given(turns, st.integers(0, 300))
def test_sides_take_turns_and_the_user_begins(talk: list[Turn], tokens: int) -> None:
    kept = recent_turns(talk, tokens)
    assert [turn.role for turn in kept] == ["user", "assistant"] * (len(kept) // 2) + ["user"] * (len(kept) % 2)
    assert sum(estimate_tokens(turn.text) for turn in kept[:-2]) <= max(tokens, 0)


@given(turns)
def test_with_room_no_word_is_lost(talk: list[Turn]) -> None:
    first = next((place for place, turn in enumerate(talk) if turn.role == "user"), len(talk))
    said = "\n\n".join(turn.text for turn in talk[first:])
    assert "\n\n".join(turn.text for turn in recent_turns(talk, 10**6)) == said
