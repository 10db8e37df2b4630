from __future__ import annotations

import json

import pytest

from catmem.distil.model.trial import Trial, try_model, window_of
from catmem.llm.misbehaving import bad_model
from catmem.llm.port import Completion
from catmem.llm.scripted import Answer, Asked, ScriptedModel

PROGRESS = {"en": "the build is red again", "zh": "构建又红了"}


def answering(numbers: list[int], progress: dict[str, str] = PROGRESS, words: str = "") -> ScriptedModel:
    """Selects those numbers, in the language that it is asked in."""

    def answer(asked: Asked) -> Answer:
        language = "zh" if "构建" in asked.turns[0].text else "en"
        facts = [{"n": n, "kind": "convention", "scope": "project", "sure": True, "words": words} for n in numbers]
        digest = {"progress": progress[language], "topics": []}
        said = {"facts": facts, "decisions": [], "questions": [], "digest": digest}
        return Completion(json.dumps(said, ensure_ascii=False), "stop", 400, 60)

    return ScriptedModel(answer)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tiny_session_is_one_that_a_model_is_asked_about(language: str) -> None:
    window = window_of(language)  # type: ignore[arg-type]
    assert window.language == language and len(window.sentences) == 6
    # What lasts is not hopeless, and there is enough besides to tell selecting from guessing.
    assert not {2, 4} & window.hopeless and len(window.hopeless) >= 2


def test_a_good_one() -> None:
    trial = try_model(answering([2, 4]))
    assert trial.works and trial.keeps_language and trial.selects_right
    assert (trial.calls, trial.input_tokens, trial.output_tokens) == (2, 800, 120)


def test_one_that_selects_what_was_for_once() -> None:
    trial = try_model(answering([2, 4, 5]))
    assert trial.works and not trial.selects_right


def test_one_that_selects_nothing() -> None:
    trial = try_model(answering([]))
    assert trial.works and not trial.selects_right


def test_one_that_answers_in_another_language() -> None:
    trial = try_model(answering([2], {"en": "构建又红了", "zh": "the build is red"}))
    assert trial.works and trial.selects_right and not trial.keeps_language


@pytest.mark.parametrize("kind", ["prose", "empty", "half-json", "wrong-type", "cut-off", "repetition", "refusal"])
def test_one_whose_answers_cannot_be_used(kind: str) -> None:
    trial = try_model(bad_model(kind))
    assert not trial.works and trial.fault == kind and trial.failure is None
    assert trial.calls == 1 and not trial.selects_right and not trial.keeps_language


@pytest.mark.parametrize("kind", ["everything", "inventions", "wrong-language"])
def test_one_that_selects_everything_shows_it(kind: str) -> None:
    assert not try_model(bad_model(kind)).selects_right


@pytest.mark.parametrize("kind", ["401", "429", "500", "timeout", "hang", "stream-died"])
def test_one_that_does_not_answer(kind: str) -> None:
    trial = try_model(bad_model(kind))
    assert trial.failure is not None and trial.failure.kind == kind
    assert trial == Trial(trial.failure, seconds=trial.seconds)
