from __future__ import annotations

from tests.distil.talks import Remembered


def test_said_again_is_more_evidence_and_no_second_memory() -> None:
    past = Remembered()
    past.session("U: I prefer early returns over nested ifs", "A: Done.", day=1)
    past.session("U: again, I prefer early returns", "A: Done.", day=9)
    (memory,) = past.live()
    assert memory.now.confirmations == 2


def test_said_again_in_chinese() -> None:
    past = Remembered()
    past.session("U: 我习惯先看接口文档再写代码", "A: 好。", day=1)
    past.session("U: 老规矩，我习惯先看接口文档", "A: 好。", day=9)
    assert [m.now.confirmations for m in past.live()] == [2]


def test_a_later_session_replaces_an_earlier_one() -> None:
    past = Remembered()
    past.session("U: we use jasmine for the unit tests", "A: OK.", day=1)
    past.session("U: we threw jasmine out, the unit tests run on vitest now", "A: OK.", day=9)
    assert len(past.texts()) == 1 and "vitest" in past.texts()[0]
    assert any("jasmine" in text and "vitest" not in text for text in past.gone())


def test_another_number_replaces_the_old_one() -> None:
    past = Remembered()
    past.session("U: 我们的日志统一保留 30 天，合同里写的", "A: 好。", day=1)
    past.session("U: 合同改了，日志现在统一保留 90 天", "A: 好。", day=9)
    assert len(past.texts()) == 1 and "90" in past.texts()[0]


def test_what_is_only_dropped_is_no_memory_beside_the_new() -> None:
    past = Remembered()
    past.session("U: we use jasmine for the unit tests", "A: OK.", day=1)
    past.session("U: jasmine is gone. unit tests run on vitest now, we decided that on Monday", "A: OK.", day=9)
    assert not any("jasmine" in text for text in past.texts())


def test_what_the_user_pinned_is_never_replaced() -> None:
    past = Remembered()
    past.session("U: we use jasmine for the unit tests", "A: OK.", day=1)
    past.pin(past.live()[0].id)
    past.session("U: we threw jasmine out, the unit tests run on vitest now", "A: OK.", day=9)
    assert any("jasmine for" in text for text in past.texts())


def test_what_the_assistant_just_said_is_not_confirmed_by_repeating_it() -> None:
    past = Remembered()
    past.session("U: we always squash before merging, house rule", "A: OK.", day=1)
    past.session(
        "U: hi",
        "A: I remember: we always squash before merging, house rule.",
        "U: we always squash before merging, house rule",
        day=9,
    )
    assert [m.now.confirmations for m in past.live()] == [1]


def test_unrelated_facts_stand_side_by_side() -> None:
    past = Remembered()
    past.session("U: unit tests are run with jest here, we decided", "A: OK.", day=1)
    past.session("U: the e2e tests here run with playwright, we decided", "A: OK.", day=9)
    assert len(past.texts()) == 2


def test_a_retraction_in_a_later_session_retires() -> None:
    past = Remembered()
    past.session("U: from now on always add a changelog entry to every pull request", "A: OK.", day=1)
    past.session("U: forget what I said about the changelog entry in pull requests", "A: OK.", day=9)
    assert past.texts() == []
