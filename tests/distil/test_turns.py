"""Acceptance, rejection and retraction, seen from what a talk leaves."""

from __future__ import annotations

import pytest

from tests.distil.talks import distil, talk


def texts(*lines: str) -> list[str]:
    return [claim.text for claim in distil(talk(*lines)).claims]


@pytest.mark.parametrize(
    ("proposal", "yes"),
    [
        ("I would keep the seed stock as a list of movements instead of one number.", "agreed, do it that way"),
        ("建议库存只记流水，余额按流水算，不直接改数字。", "同意，就这么定"),
        ("可以用 outbox 表加轮询，比分布式事务简单。", "好，就按这个方案来"),
    ],
)
def test_an_accepted_proposal_is_a_decision_with_both_as_evidence(proposal: str, yes: str) -> None:
    claims = distil(talk("U: stock went negative again", f"A: {proposal}", f"U: {yes}")).claims
    decision = next(c for c in claims if c.kind == "decision")
    assert decision.text in proposal
    assert [e.message_id for e in decision.evidence] == [2, 3]


@pytest.mark.parametrize(
    "answer", ["nah, too much for one table", "maybe later", "先别，太折腾", "ok", "行", "what would it cost?"]
)
def test_what_is_not_accepted_leaves_nothing(answer: str) -> None:
    assert texts("U: stock went negative", "A: I would move the stock to Redis and use Lua.", f"U: {answer}") == []


def test_the_assistant_alone_leaves_nothing() -> None:
    assert texts("U: thanks", "A: From now on I always use tabs and never spaces. We decided on Rust.") == []


@pytest.mark.parametrize(
    ("said", "back"),
    [
        ("from now on always put the licence header on top of every file", "scratch that, legal says no"),
        ("以后所有文件都加上许可证头", "刚才那句当我没说"),
        ("I hate docstrings, never write them in my scripts", "ignore what I said about docstrings, I was grumpy"),
    ],
)
def test_a_retraction_leaves_nothing(said: str, back: str) -> None:
    assert texts(f"U: {said}", "A: Done.", f"U: {back}", "A: OK.") == []


def test_a_retraction_takes_back_what_it_names() -> None:
    kept = texts(
        "U: from now on always answer in Spanish",
        "A: Vale.",
        "U: and from now on always wrap the lines at 72",
        "A: Vale.",
        "U: forget what I said about Spanish",
    )
    assert len(kept) == 1 and "72" in kept[0]
