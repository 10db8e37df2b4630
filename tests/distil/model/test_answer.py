from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.distil.model.answer import BadAnswer, read_answer
from catmem.distil.model.schema import most_selected, schema_of
from catmem.llm.misbehaving import WRONG
from catmem.llm.port import Completion, Turn
from catmem.llm.scripted import Asked, ScriptedModel
from tests.distil.model.asked import CHINESE, LINES, form, number_of, selecting, window_of

WINDOW = window_of(*LINES)
RULE = number_of(WINDOW, "pnpm")
CHINESE_WINDOW = window_of(*CHINESE)


def picks(text: str, window: Any = WINDOW) -> dict[str, Any]:
    answer = read_answer(Completion(text), window)
    sentences = {sentence.number: sentence.text for sentence in window.sentences}
    return {sentences[number]: pick for number, pick in answer.selection.picks.items()}


def fault_of(text: str, finish: Any = "stop") -> str:
    with pytest.raises(BadAnswer) as caught:
        read_answer(Completion(text, finish), WINDOW)
    assert caught.value.reasons
    return caught.value.fault


def test_a_number_is_a_sentence_of_the_user() -> None:
    ((text, pick),) = picks(form({"n": RULE, "kind": "convention"})).items()
    assert "pnpm" in text and (pick.kind, pick.scope) == ("convention", "project")
    number = number_of(CHINESE_WINDOW, "提交信息")
    ((text, pick),) = picks(form(decisions=[{"n": number, "sure": True, "words": ""}]), CHINESE_WINDOW).items()
    assert "提交信息" in text and pick.kind == "decision"


def test_nothing_is_a_valid_answer() -> None:
    answer = read_answer(Completion(form()), WINDOW)
    assert (dict(answer.selection.picks), answer.faults) == ({}, ())
    assert (answer.showing.kept, answer.showing.selected) == (len(WINDOW.kept), 0)


EXPECTED = {
    "prose": "prose", "empty": "empty", "half-json": "half-json", "wrong-type": "wrong-type", "cut-off": "cut-off",
    "repetition": "repetition", "refusal": "refusal", "wrong-numbers": "invented",
}  # fmt: skip


@pytest.mark.parametrize(("kind", "fault"), EXPECTED.items())
@pytest.mark.parametrize("window", [WINDOW, CHINESE_WINDOW])
def test_a_bad_answer_has_a_name(kind: str, fault: str, window: Any) -> None:
    model = ScriptedModel(WRONG[kind](selecting("pnpm", "提交信息")))
    said = model.complete(["…"], [Turn("user", window.text)], schema_of(len(window.sentences)))
    with pytest.raises(BadAnswer) as caught:
        read_answer(said, window)
    assert caught.value.fault == fault


@pytest.mark.parametrize("around", ["```json\n{}\n```", "Here it is:\n```\n{}\n```\nAnything else?"])
def test_a_fence_is_taken_off_and_counted(around: str) -> None:
    answer = read_answer(Completion(around.replace("{}", form({"n": RULE}))), WINDOW)
    assert list(answer.selection.picks) and answer.faults == ("fenced",)


@pytest.mark.parametrize(
    "value", ["[]", "42", "null", '"text"', "{}", '{"facts": []}', form({"n": "3"}), form({"n": True})]
)
def test_another_type_is_refused_with_a_reason(value: str) -> None:
    assert fault_of(value) == "wrong-type"


def test_one_who_selects_everything_or_what_is_hopeless_is_not_heeded() -> None:
    everything = form(*({"n": n} for n in range(1, len(WINDOW.sentences) + 1)))
    hopeless = form(*({"n": n} for n in sorted(WINDOW.hopeless)[:2]))
    for text in (everything, hopeless):
        answer = read_answer(Completion(text), WINDOW)
        assert (dict(answer.selection.picks), answer.faults) == ({}, ("guessing",))
        assert answer.selection.unheeded and answer.showing.slipped


def test_one_number_again_and_again_is_a_loop() -> None:
    assert fault_of(form({"n": RULE}, {"n": RULE}, {"n": RULE})) == "repetition"


def test_a_progress_in_the_other_language_is_left_out_and_counted() -> None:
    answer = read_answer(Completion(form({"n": RULE}, progress="构建已经修好")), WINDOW)
    assert (answer.selection.progress, answer.faults) == ("", ("wrong-language",))
    assert answer.selection.picks


@given(st.one_of(st.text(max_size=200), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["facts", "decisions", "questions", "digest", "n", "words", "topics", "progress"]), inner),
    max_leaves=25,
).map(json.dumps)))  # fmt: skip
def test_whatever_is_said_is_read_or_refused(text: str) -> None:
    try:
        answer = read_answer(Completion(text), WINDOW)
    except BadAnswer:
        return
    numbers = {sentence.number for sentence in WINDOW.sentences}
    assert answer.selection.picks.keys() <= numbers
    assert len(answer.selection.picks) <= most_selected(len(WINDOW.sentences))


def test_the_form_enumerates_the_numbers() -> None:
    schema = schema_of(3)
    assert list(schema["properties"]) == ["facts", "decisions", "questions", "digest"]
    entry = schema["properties"]["facts"]["items"]["properties"]
    assert next(iter(entry)) == "n" and entry["n"]["enum"] == [1, 2, 3]
    assert isinstance(ScriptedModel(WRONG["everything"](lambda asked: "")).complete([""], [], schema).text, str)
    assert Asked((), (), schema).schema is schema
