"""A summary by a model: from the raw words, the end of them above all, and nothing that does not stand there."""

from __future__ import annotations

import pytest

from catmem.domain.errors import ModelFailed
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.dream.compact import refusal
from catmem.dream.model.summarising import SOURCE_TOKENS, ModelSummariser, source_of
from catmem.text.cut import estimate_tokens
from tests.dream.model.models import Said, TestModel

REF = SessionRef("shop", "s1")


def talk(*lines: str) -> list[Message]:
    roles = ("user", "assistant")
    return [
        Message(roles[n % 2], line, "2026-03-01T10:00:00.000Z", f"u{n}", n + 1, "s1")  # type: ignore[arg-type]
        for n, line in enumerate(lines)
    ]


TALK = talk("Put the queue on port 5433.", "Done.", "No, 部署到 6000 端口才对。", "Moved the queue to 6000.")


def summarise(answer, messages=TALK):
    model = TestModel(answer)
    return ModelSummariser(model, lambda text, source: text.replace("hunter22", "[secret]"))(REF, messages), model


def test_a_summary_of_what_was_said():
    summary, model = summarise({"summary": "The queue moved to port 6000."})
    assert summary.content == "The queue moved to port 6000." and summary.complete
    assert "user: No, 部署到 6000 端口才对。" in model.asked[0] and refusal(summary, TALK) is None


@pytest.mark.parametrize("answer", ['```json\n{"summary": "Queue on 6000."}\n```', "Queue on 6000."])
def test_fences_and_plain_words_will_do(answer):
    assert summarise(answer)[0].content == "Queue on 6000."


@pytest.mark.parametrize(
    "answer", ["", "{}", "[]", '{"summary": ["x"]}', '{"summary": "The queue', '{"text": "x"}', "null"], ids=repr
)
def test_what_is_no_summary_is_refused(answer):
    summary, _ = summarise(answer)
    assert refusal(summary, TALK) is not None


def test_cut_off_or_longer_than_its_source_it_is_refused():
    assert refusal(summarise(Said('{"summary": "The queue"}', "length"))[0], TALK)
    assert refusal(summarise({"summary": "The queue was moved. " * 30})[0], TALK)


@pytest.mark.parametrize("invented", ["Runs Node.js 14.17.0.", "队列在 7000 端口。", "See src/other/marker.py."])
def test_what_was_not_said_is_refused(invented):
    with pytest.raises(ModelFailed):
        summarise({"summary": invented})


def test_secrets_do_not_pass():
    messages = talk("the password is hunter22 by the way, and the rest of the words is long enough", "ok")
    assert "hunter22" not in summarise({"summary": "password hunter22"}, messages)[0].content


def test_of_a_long_part_its_end_is_read_and_its_beginning():
    messages = talk(*(f"step {n}: " + "some words about the parser " * 20 for n in range(400)))
    source = source_of(messages)
    assert estimate_tokens(source) <= SOURCE_TOKENS * 1.1
    assert "step 399" in source and "step 398" in source and "step 0:" in source and "step 100:" not in source


def test_one_enormous_message_is_cut_on_a_character():
    messages = talk("记住🐈" * 50_000, "ok")
    assert estimate_tokens(source_of(messages)) <= SOURCE_TOKENS * 1.1
    source_of(messages).encode()
