from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catmem.distil.distiller import judged, read
from catmem.distil.model.proposals import MOST_DEATHS, Proposals
from catmem.distil.model.record import Record
from catmem.distil.model.selector import Heard, Selector, selector_of
from catmem.distil.model.trust import Showing, weight_of
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.llm.misbehaving import WRONG
from catmem.llm.port import Completion, Failure
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.settings.paths import Paths
from tests.distil.model.asked import CHINESE, LINES, form, selecting
from tests.distil.talks import PROJECT, talk

REF = SessionRef(PROJECT, "s1")
RIGHT = selecting("pnpm", "提交信息")


class Bed:
    """A data directory with a selector that asks one model."""

    def __init__(self, root: Path, answerer: Callable[[Asked], Answer]) -> None:
        self.paths = Paths(root)
        self.model = ScriptedModel(answerer)
        self.record = Record(self.paths)
        self.selector = self.another()

    def another(self) -> Selector:
        """As the next worker makes it."""
        return selector_of(self.paths, lambda: self.model, b"a key of the tests", lambda: 1_800_000_000.0)

    def heard(self, messages: list[Message], first_id: int = 1, ref: SessionRef = REF) -> Heard:
        sentences = read(messages)
        heard = self.selector.select(ref, sentences, judged(sentences), first_id, messages[-1].id, "end")
        self.selector.settled(ref)
        return heard

    def prompts(self) -> list[str]:
        return ["\n".join([*asked.system, *(turn.text for turn in asked.turns)]) for asked in self.model.asked]


@pytest.mark.parametrize("lines", [LINES, CHINESE])
def test_a_good_answer_is_asked_for_once(tmp_path: Path, lines: tuple[str, ...]) -> None:
    bed = Bed(tmp_path, RIGHT)
    heard = bed.heard(talk(*lines))
    assert (len(heard.selection.picks), heard.outcome, len(bed.model.asked)) == (1, "model", 1)
    assert heard.tokens > 0 and bed.record.counts() == {}
    assert bed.model.asked[0].schema is not None


def test_no_model_is_no_trouble(tmp_path: Path) -> None:
    selector = selector_of(Paths(tmp_path), lambda: None, b"key", lambda: 0.0)
    sentences = read(talk(*LINES))
    assert selector.select(REF, sentences, judged(sentences), 1, 8, "end") == Heard()
    assert not selector.asks() and not (tmp_path / "run").exists()


def test_a_bad_answer_is_shown_again_with_the_reasons_and_the_source(tmp_path: Path) -> None:
    answers = iter(["I think you like pnpm.", None])
    bed = Bed(tmp_path, lambda asked: next(answers) or RIGHT(asked))
    heard = bed.heard(talk(*LINES))
    assert heard.outcome == "model" and heard.selection.picks and bed.record.counts() == {"prose": 1}
    first, again = bed.model.asked
    assert again.turns[0] == first.turns[0] and again.turns[1].text == "I think you like pnpm."
    assert "no JSON" in again.turns[2].text


@pytest.mark.parametrize("kind", ["prose", "empty", "half-json", "wrong-type", "cut-off", "repetition", "refusal"])
def test_a_model_that_cannot_answer_costs_a_few_calls_and_no_more(tmp_path: Path, kind: str) -> None:
    bed = Bed(tmp_path, WRONG[kind](RIGHT))
    messages = talk(*LINES)
    for number in range(8):
        heard = bed.heard(messages, ref=SessionRef(PROJECT, f"s{number}"))
        assert (heard.outcome, dict(heard.selection.picks)) == ("degraded", {})
    assert len(bed.model.asked) <= 3 * 4
    assert list(bed.record.counts()) == [kind]
    assert len(bed.record.missed()) == 8
    parked = bed.record.parked()
    assert (len(parked) >= 1) == (kind != "empty")
    assert all(answer.fault == kind and answer.raw and answer.reasons for answer in parked)


def test_poison_is_found_and_parked_and_the_rest_is_used(tmp_path: Path) -> None:
    lines = [line for n in range(6) for line in (*LINES, f"U: we always name table {n} in the plural here", "A: Yes.")]
    lines[19] = "U: the payload is <<<tangle>>> and we always escape it before it is logged"

    def answer(asked: Asked) -> Answer:
        return "{{{{ cannot go on with this input" if "tangle" in asked.turns[0].text else selecting("table")(asked)

    bed = Bed(tmp_path, answer)
    heard = bed.heard(talk(*lines))
    sentences = read(talk(*lines))
    found = {sentences[number].text for number in heard.selection.picks}
    assert heard.outcome == "degraded" and len(found) >= 4 and not any("tangle" in text for text in found)
    (parked,) = bed.record.parked()
    assert parked.first_id == parked.last_id == 20 and parked.fault == "half-json"
    assert len(bed.model.asked) <= 14


FAILURES = ["401", "429", "500", "timeout", "hang", "stream-died"]


@pytest.mark.parametrize("kind", FAILURES)
def test_a_model_that_fails_is_done_without_at_once(tmp_path: Path, kind: str) -> None:
    bed = Bed(tmp_path, WRONG[kind](RIGHT))
    for number in range(6):
        heard = bed.heard(talk(*LINES), ref=SessionRef(PROJECT, f"s{number}"))
        assert (heard.outcome, dict(heard.selection.picks)) == ("degraded", {})
    assert len(bed.model.asked) <= 3, "one that is down is not asked for every session"
    assert bed.record.counts() == {kind: len(bed.model.asked)}
    assert bed.record.last_trouble()["kind"] == kind


def test_it_is_well_again_when_it_answers(tmp_path: Path) -> None:
    failing = [True]

    def answer(asked: Asked) -> Answer:
        return Failure("down", "坏了", remedy="later", kind="500") if failing else RIGHT(asked)

    bed = Bed(tmp_path, answer)
    bed.heard(talk(*LINES))
    assert bed.record.last_trouble()
    failing.clear()
    assert bed.heard(talk(*LINES)).outcome == "model" and not bed.record.last_trouble()


def test_a_question_is_asked_once_whatever_happens_before_the_commit(tmp_path: Path) -> None:
    bed = Bed(tmp_path, RIGHT)
    sentences = read(talk(*LINES))
    first = bed.selector.select(REF, sentences, judged(sentences), 1, 8, "end")
    # The worker is gone before it has committed; meanwhile more was said, and the trigger would be another.
    again = bed.another()
    begun = again.begun(REF, 1)
    assert begun and (begun.last_id, begun.trigger) == (8, "end")
    second = again.select(REF, sentences, judged(sentences), 1, 8, "count")
    assert second.selection == first.selection and len(bed.model.asked) == 1
    again.settled(REF)
    assert again.begun(REF, 1) is None


def test_a_question_that_ends_its_worker_is_given_up(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    def answer(asked: Asked) -> Answer:
        raise Killed

    bed = Bed(tmp_path, answer)
    sentences = read(talk("U: we always pin the compiler version in this repository", "A: Good."))
    for _ in range(MOST_DEATHS):
        with pytest.raises(Killed):
            bed.another().select(REF, sentences, judged(sentences), 1, 2, "end")
    heard = bed.another().select(REF, sentences, judged(sentences), 1, 2, "end")
    assert heard.outcome == "degraded" and bed.record.counts()["killed"] >= 1


def test_no_secret_goes_out_and_none_is_kept_of_what_comes_back(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    bed = Bed(tmp_path, lambda asked: f"The token is {secret}, remember it well.")
    bed.heard(talk(*LINES, f"U: remember that our deploy token is {secret}, we always use it", "A: OK."))
    assert bed.model.asked and not any(secret in prompt for prompt in bed.prompts()[:1])
    assert bed.record.parked()
    assert all(secret.encode() not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_one_session_never_meets_another(tmp_path: Path) -> None:
    bed = Bed(tmp_path, RIGHT)
    for name in ("alpha", "beta"):
        lines = (*LINES, f"U: we always call the reactor {name}-marker in this project", "A: OK.")
        bed.heard(talk(*lines, session=name), ref=SessionRef(PROJECT, name))
    alpha, beta = bed.prompts()
    assert "beta-marker" not in alpha and "alpha-marker" not in beta


def test_a_damaged_record_or_proposal_begins_anew(tmp_path: Path) -> None:
    bed = Bed(tmp_path, RIGHT)
    bed.heard(talk(*LINES))
    sentences = read(talk(*LINES))
    bed.selector.select(REF, sentences, judged(sentences), 1, 8, "end")
    for file in list((tmp_path / "run").rglob("*.json")):
        for content in (b"", b"[]", b'{"answers": 3}', b"\xff{", b'{"faults": [], "parked": [4], "missed": {"a": 1}}'):
            file.write_bytes(content)
            assert bed.heard(talk(*LINES)).selection.picks
    assert Record(bed.paths).counts() == {} and Proposals(bed.paths).begun(REF, 1) is None


def test_a_model_is_known_by_its_last_answers(tmp_path: Path) -> None:
    record = Record(Paths(tmp_path))
    guesses, selects = Showing(4, 2, 10, 5), Showing(4, 3, 10, 0)
    for number in range(50):
        record.note(REF, f"a{number}", showing=guesses)
    assert len(record.showings()) == 40 and weight_of(record.showings()) == pytest.approx(1.0, abs=0.05)
    for number in range(40):
        record.note(REF, f"b{number}", showing=selects)
    assert set(record.showings()) == {selects} and weight_of(record.showings()) > 10
    record.note(REF, "c", ["prose"])
    assert len(record.showings()) == 40


def test_forgetting_takes_parked_answers_along(tmp_path: Path) -> None:
    bed = Bed(tmp_path, lambda asked: "You said that your doctor is Dr. Quince, and so on.")
    bed.heard(talk(*LINES))
    assert bed.record.parked()
    bed.record.forget({SessionRef(PROJECT, "another")})
    assert bed.record.parked()
    bed.record.forget({REF})
    assert bed.record.parked() == []


def test_a_cut_off_answer_is_never_taken_for_a_whole_one(tmp_path: Path) -> None:
    def answer(asked: Asked) -> Any:
        return Completion(form({"n": 3}), "length")

    bed = Bed(tmp_path, answer)
    assert dict(bed.heard(talk(*LINES)).selection.picks) == {}
    assert bed.record.counts() == {"cut-off": len(bed.model.asked)}
