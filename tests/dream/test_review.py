"""What is put before the user: what was decided between sessions, and what joined his profile; each once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catmem.dream.promote import promotion
from catmem.dream.review import Reviewed, conflicts, promotions
from catmem.settings.paths import Paths
from tests.distil.talks import Remembered

CHANGES = [
    ("The staging database is on port 5432.", "From now on the staging database is on port 5433."),
    ("记住：测试环境的端口是 8080。", "记住：测试环境的端口改成 9090 了。"),
    ("Remember: I always use npm.", "Remember: from now on I always use pnpm instead of npm."),
]


def said(*texts: str) -> Remembered:
    """Each text in a session of its own, a day apart."""
    memory = Remembered()
    for day, text in enumerate(texts, 1):
        memory.session(f"U: {text}", "A: OK.", day=day)
    return memory


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
def test_a_later_session_that_wins_over_an_earlier_one(earlier: str, later: str) -> None:
    assert conflicts(said(earlier).all()) == []
    (conflict,) = conflicts(said(earlier, later).all())
    assert conflict.outcome == "replaced"
    assert (conflict.won.revision.text[-10:] in later, conflict.lost.revision.text[-10:] in earlier) == (True, True)


@pytest.mark.parametrize(("earlier", "later"), CHANGES)
def test_the_users_own_word_that_stood_against_a_later_session(earlier: str, later: str) -> None:
    memory = said(earlier)
    memory.pin(memory.live()[0].id)
    memory.session(f"U: {later}", "A: OK.", day=2)
    for conflict in conflicts(memory.all()):
        assert conflict.outcome in ("kept", "open")


def test_who_corrects_himself_within_a_session_has_decided_it() -> None:
    memory = Remembered()
    earlier, later = CHANGES[0]
    memory.session(f"U: {earlier}", "A: OK.", f"U: {later}", "A: OK.", day=1)
    assert conflicts(memory.all()) == []


@pytest.mark.parametrize("text", [earlier for earlier, _ in CHANGES])
def test_said_again_is_no_conflict(text: str) -> None:
    assert conflicts(said(text, text).all()) == []


def test_two_of_one_thing_that_differ_in_a_number_are_put_before_the_user() -> None:
    memory = said("Remember: the billing service listens on port 7001.", "Remember: I always use npm.")
    (one, other) = memory.live()
    twin = replace(one.now, text="Remember: the billing service listens on port 7002.", evidence=other.now.evidence)
    (conflict,) = conflicts([one, replace(other, revisions=(replace(twin, kind=one.now.kind),))])
    assert conflict.outcome == "open"
    assert conflicts(memory.all()) == []


@pytest.mark.parametrize("text", ["I prefer short answers.", "我喜欢简短的回答。"])
def test_on_the_way_to_the_profile_and_in_it(text: str) -> None:
    memory = said(text)
    (near,) = promotions(memory.all(), 2)
    assert not near.joined and near.sessions == 1
    assert promotions(memory.all(), 3) == [], "two sessions short"
    memory.session(f"U: {text}", "A: OK.", day=2)
    number = len(memory.changes) + 1
    memory.changes.append(replace(promotion(memory.live()), seq=number, at="2026-01-03T10:00:00Z", device="test"))
    (joined,) = promotions(memory.all(), 2)
    assert joined.joined and joined.memories[0].now.why == "said in 2 sessions"
    assert joined.key != near.key


def test_what_was_looked_over_is_known_until_the_note_is_lost(tmp_path) -> None:
    reviewed = Reviewed(Paths(tmp_path))
    assert reviewed.keys() == set()
    reviewed.note({"a", "b"})
    assert Reviewed(Paths(tmp_path)).keys() == {"a", "b"}
    for damaged in (b"", b"[]", b'{"seen": 3}', b"\xff"):
        (tmp_path / "run" / "reviewed.json").write_bytes(damaged)
        assert reviewed.keys() == set()
