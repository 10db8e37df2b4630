from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.distil.distiller import judged, propose, read
from catmem.distil.judge import Verdict, believes
from catmem.distil.model.combine import calibration, combined, liftable
from catmem.distil.model.selection import Pick, Selection, united
from catmem.domain.session import SessionRef
from tests.distil.talks import PROJECT, talk

TALK = (
    "U: 用雪花 ID，机器位给终端编号",
    "A: 好的。",
    "U: we use pnpm here, never npm",
    "A: Noted.",
    "U: just this once, skip the tests",
    "A: OK.",
    "U: what if we moved everything to Rust?",
    "A: Possible.",
    "U: 先跳过检查，就这一次",
    "A: 好。",
    "U: my colleague prefers tabs, I don't care",
    "A: I see.",
)
SENTENCES = read(talk(*TALK))
# The first sentence as one that the rules are in doubt of.
DOUBT = SENTENCES[0].number
VERDICTS = {**judged(SENTENCES), DOUBT: Verdict(False, "environment", 0.5, "score 0.50")}


def selection(*words: str, kind: Any = "decision", weight: float = 4.0, **rest: Any) -> Selection:
    numbers = [s.number for s in SENTENCES if any(word in s.text for word in words)]
    return Selection({n: Pick(n, kind, "project", True, **rest) for n in numbers}, weight=weight)


def kept(chosen: Selection) -> set[str]:
    verdicts, _ = combined(SENTENCES, VERDICTS, chosen)
    return {SENTENCES[n].text for n, verdict in verdicts.items() if verdict.kept}


ALONE = kept(Selection())


def test_what_the_rules_leave_in_doubt_is_lifted() -> None:
    assert not any("雪花" in text for text in ALONE)
    verdicts, _ = combined(SENTENCES, VERDICTS, selection("雪花"))
    (lifted,) = [v for n, v in verdicts.items() if "雪花" in SENTENCES[n].text]
    assert lifted.kept and lifted.kind == "decision" and lifted.confidence == calibration().lifted


def test_a_model_that_has_not_shown_enough_lifts_nothing() -> None:
    assert kept(selection("雪花", weight=2.0)) == ALONE


@pytest.mark.parametrize(("confidence", "least"), [(0.5, 4), (0.2, 6), (0.12, 10)])
def test_the_less_speaks_for_a_sentence_the_more_a_model_must_have_shown(confidence: float, least: float) -> None:
    verdicts = {**VERDICTS, DOUBT: Verdict(False, "environment", confidence, "little")}
    lifted = [
        weight
        for weight in (1.0, 2.0, 3.0, 4.0, 6.0, 10.0)
        if combined(SENTENCES, verdicts, selection("雪花", weight=weight))[0][DOUBT].kept
    ]
    assert lifted and lifted[0] == least


def test_a_kind_that_nothing_speaks_for_lifts_nothing() -> None:
    kinds = ("preference", "environment", "convention", "decision", "question")
    unlikely = [kind for kind in kinds if not believes(SENTENCES[0], kind)]
    assert unlikely and all(kept(selection("雪花", kind=kind)) == ALONE for kind in unlikely)


@pytest.mark.parametrize("words", ["just this once", "what if", "就这一次", "my colleague"])
def test_what_a_rule_refuses_stays_refused(words: str) -> None:
    verdicts, unheeded = combined(SENTENCES, VERDICTS, selection(words))
    assert verdicts == VERDICTS and unheeded and all(said.why for said in unheeded)


def test_both_together_are_surer_than_the_rules() -> None:
    verdicts, _ = combined(SENTENCES, VERDICTS, selection("pnpm"))
    for number, verdict in verdicts.items():
        if "pnpm" in SENTENCES[number].text:
            assert verdict.confidence >= max(VERDICTS[number].confidence, calibration().agreed)
            assert verdict.why.endswith("the model agrees")


@given(
    st.dictionaries(
        st.sampled_from(sorted(VERDICTS)),
        st.tuples(st.sampled_from(["preference", "environment", "convention", "decision", "question"]), st.booleans()),
    )
)
def test_no_selection_takes_anything_away_or_lifts_what_is_refused(chosen: dict[int, tuple[Any, bool]]) -> None:
    picks = {n: Pick(n, kind, "global", sure) for n, (kind, sure) in chosen.items()}
    proposal = propose(SessionRef(PROJECT, "s1"), SENTENCES, 1, (), selection=Selection(picks))
    texts = {claim.text for claim in proposal.claims}
    alone = {claim.text for claim in propose(SessionRef(PROJECT, "s1"), SENTENCES, 1, ()).claims}
    assert alone <= texts
    doubtful = {SENTENCES[n].text for n, v in judged(SENTENCES).items() if liftable(SENTENCES[n], v)}
    assert {claim.evidence[0].quote for claim in proposal.claims if claim.text not in alone} <= doubtful
    assert all(claim.scope == "project" for claim in proposal.claims if claim.text not in alone)


def test_overlapping_windows_are_one_selection() -> None:
    first = Selection(
        {1: Pick(1, "convention", "project", True), 2: Pick(2, "decision", "project", True)}, progress="a"
    )
    second = Selection({2: Pick(2, "question", "project", True)}, progress="b", weight=5.0)
    both = united([first, second])
    assert both.picks[1].kind == "convention" and both.picks[2].kind == "question"
    assert (both.progress, both.weight) == ("b", 5.0)


def test_the_model_may_word_what_it_selects() -> None:
    lines = ("U: hm ok so what I wanted to say, we always tag the release images with the short commit hash here",)
    sentences = read(talk(*lines))
    words = "we always tag the release images with the short commit hash here"
    chosen = Selection({sentences[0].number: Pick(sentences[0].number, "convention", "project", True, words)})
    (claim,) = propose(SessionRef(PROJECT, "s1"), sentences, 1, (), selection=chosen).claims
    assert claim.text == words and claim.evidence[0].quote == sentences[0].text
