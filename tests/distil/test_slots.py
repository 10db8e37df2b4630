from __future__ import annotations

import pytest

from catmem.distil.slots import fillings, load_slots


@pytest.mark.parametrize(
    ("said", "subject", "kept", "dropped"),
    [
        ("we threw jasmine out, tests run on vitest now", "javascript test runner", ("vitest",), ("jasmine",)),
        ("pipenv 我们不用了，统一 uv", "python package manager", ("uv",), ("pipenv",)),
        ("ORM 已经换成 Kysely 了", "javascript ORM", ("kysely",), ()),
        ("builds moved from rollup to esbuild", "javascript bundler", ("esbuild",), ("rollup",)),
        ("队列从 Celery 换到 NATS", "message queue", ("nats",), ("celery",)),
        ("the e2e suite is cypress", "e2e browser test runner", ("cypress",), ()),
    ],
)
def test_values_in_force_and_values_that_go(
    said: str, subject: str, kept: tuple[str, ...], dropped: tuple[str, ...]
) -> None:
    filling = next(f for f in fillings(said) if f.subject == subject)
    assert (filling.kept, filling.dropped) == (kept, dropped)


def test_everyday_words_fill_no_slot_by_themselves() -> None:
    assert fillings("the main point is in the english text, tabs open") == ()
    assert [f.slot.name for f in fillings("branch off develop, please")] == ["branch base"]


def test_parts_of_a_project_are_slots_of_their_own() -> None:
    unit, browser = fillings("unit tests are jest")[0], fillings("the e2e tests are playwright")[0]
    assert unit.subject != browser.subject


def test_the_lexicon_has_both_languages() -> None:
    for slot in load_slots():
        assert slot.members and slot.words.pattern
