from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.distil.classifier import Classifier
from catmem.distil.distiller import Proposal, propose, read
from catmem.distil.transcript import MOST_AT_AN_END
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from tests.distil.talks import PROJECT, Remembered, distil, talk

LINES = [
    "U: how do I list the branches",
    "A: `git branch -a`",
    "U: please remember that I'm left handed, shortcuts on the right side are no use to me",
    "A: Noted.",
    "U: 另外我们提交信息一律写英文，带上工单号",
    "A: 好的。",
    "U: parked until the audit is over: the importer rewrite",
]


def kinds(proposal: Proposal) -> dict[str, str]:
    return {claim.text: claim.kind for claim in proposal.claims}


def test_a_talk_leaves_what_will_matter_next_month() -> None:
    found = kinds(distil(talk(*LINES)))
    assert "preference" in found.values() and "progress" in found.values()
    assert any("提交信息" in text for text in found)
    assert not any("list the branches" in text for text in found)


def test_remember_about_the_user_is_global_and_explicit() -> None:
    claim = next(c for c in distil(talk(*LINES)).claims if "left handed" in c.text)
    assert (claim.scope, claim.explicit) == ("global", True)
    rule = distil(talk("U: 记住，这个库的表名都要带 inv_ 前缀", "A: 好")).claims[0]
    assert (rule.scope, rule.explicit) == ("project", False)


def test_the_same_input_gives_the_same_ids() -> None:
    once, again = distil(talk(*LINES)), distil(talk(*LINES))
    assert once == again
    assert json.dumps(once.digest, ensure_ascii=False)


def test_what_was_distilled_is_not_proposed_again() -> None:
    messages = talk(*LINES)
    assert distil(messages, new_from_id=len(messages) + 1).claims == ()
    late = distil(messages, new_from_id=7).claims
    assert [c.evidence[0].message_id for c in late] == [7]


def test_in_pieces_and_at_once_leave_the_same() -> None:
    messages = talk(*LINES)
    first = distil(messages[:4]).claims
    second = distil(messages, new_from_id=5).claims
    assert {c.id for c in (*first, *second)} == {c.id for c in distil(messages).claims}


@pytest.mark.parametrize(
    "shown",
    [
        "```\nalways use tabs, we decided on Rust, never use npm\n```",
        "> From now on always use tabs. We never deploy on Monday.",
        '"""\nWe always use tabs. Remember to run fmt.\n"""',
        "the README says: we always use tabs and never spaces",
    ],
)
def test_what_is_only_shown_leaves_nothing(shown: str) -> None:
    assert distil(talk(f"U: what do you make of this?\n{shown}", "A: Strict.")).claims == ()


def test_tools_and_systems_say_nothing() -> None:
    message = Message("tool", "From now on always use tabs.", "2026-01-01T10:00:00Z", "t", 1, "s1")
    system = Message("system", "Remember: we never deploy on Monday.", "2026-01-01T10:00:00Z", "y", 2, "s1")
    assert distil([message, system]).claims == ()


@pytest.mark.parametrize(
    "idle",
    [
        "just this once skip the tests",
        "这次先不写测试",
        "what if we always used tabs",
        "假如当初选了 Rust 是不是更快",
        "brilliant plan, let's always deploy on Friday night",
        "行啊，以后都直接改生产库呗",
        "my old boss always swore by tabs",
        "前同事最爱写 goto",
        "do we always need the lock?",
        "we used to run this on Celery",
    ],
)
def test_idle_talk_leaves_nothing(idle: str) -> None:
    assert distil(talk(f"U: {idle}", "A: I see.")).claims == ()


def test_a_secret_alone_leaves_nothing_and_a_fact_beside_it_stays() -> None:
    marker = "[secret:token:0123456789abcdef]"
    assert distil(talk(f"U: remember this token: {marker}", "A: No.")).claims == ()
    kept = distil(
        talk(f"U: try {marker}. btw staging only accepts calls from the office network, never from home", "A: OK")
    ).claims
    assert kept and all("secret:" not in c.text for c in kept)


def test_what_is_refused_is_told_with_its_reason() -> None:
    refused = distil(talk("U: just this once skip the tests", "A: OK")).refused
    assert [(r.message_id, "one-off-en" in r.why) for r in refused] == [(1, True)]


def test_the_digest_is_short_and_the_users() -> None:
    digest = distil(talk(*LINES)).digest
    assert 0 < len(digest["text"]) <= 300
    assert digest["progress"] and digest["topics"]
    assert set(digest) == {"text", "topics", "progress"}


def test_one_distinct_session_does_not_promote() -> None:
    past = Remembered()
    past.session("U: I like plots without a grid", "A: OK", "U: I like plots with no grid", "A: OK", day=1)
    assert [(m.now.scope, m.now.confirmations) for m in past.live()] == [("project", 1)]


WORDS = """always never we use from now on remember TODO undecided agreed scratch that 以后 一律 记住 不用了 换成 就这么定 当我没说
`code` /srv/data pytest 90 天 days ? 。 ; ， : ``` > \""""
words = st.sampled_from([*WORDS.split(), "\n"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("UAT"), st.lists(words, min_size=1, max_size=14)), max_size=8))
def test_any_talk_gives_memories_that_stand_in_it(turns: list[tuple[str, list[str]]]) -> None:
    messages = talk(*(f"{role}: {' '.join(said)}" for role, said in turns))
    proposal = propose(SessionRef(PROJECT, "s1"), read(messages), 1, [])
    contents: dict[int, Any] = {m.id: m for m in messages}
    for claim in proposal.claims:
        assert 0 < len(claim.text) <= 300
        assert 0.0 <= claim.confidence <= 1.0
        assert claim.evidence
        for evidence in claim.evidence:
            assert evidence.quote in contents[evidence.message_id].content
        assert any(contents[e.message_id].role == "user" for e in claim.evidence)
        assert any(claim.text in contents[e.message_id].content for e in claim.evidence)


@pytest.mark.parametrize(("before", "after"), [("Remember: the lid is of clay.", ""), ("", "记住：壶盖是陶土做的。")])
def test_of_a_huge_message_both_ends_are_looked_at(before: str, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    scores = Classifier.scores
    monkeypatch.setattr(
        Classifier, "scores", lambda self, unit, context: scored.append(unit) or scores(self, unit, context)
    )
    pasted = "\n".join(f"row {number}: 数据 {number * 7919 % 10007}" for number in range(20_000))
    (claim,) = distil(talk(f"U: {before}\n{pasted}\n{after}", "A: OK.")).claims
    assert claim.text in before + after and len(scored) <= 2 * MOST_AT_AN_END
