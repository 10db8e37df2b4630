from __future__ import annotations

from catmem.distil.triple import triple_of


def test_a_short_statement_about_a_slot_has_one_value() -> None:
    triple = triple_of("dependencies are managed with pdm", "convention")
    assert (triple.subject, triple.predicate, triple.object, triple.single) == (
        "python package manager", "uses", "pdm", True,
    )  # fmt: skip
    assert triple_of("依赖用 pdm 管理", "convention").object == "pdm"


def test_a_statement_that_says_more_keeps_its_words() -> None:
    triple = triple_of(
        "pytest fixtures of the parser live in tests/parser/conftest.py and are session scoped", "convention"
    )
    assert not triple.single
    assert triple.object.startswith("pytest fixtures")


def test_an_open_question_fills_no_slot() -> None:
    assert not triple_of("jest or vitest is still open", "question").single


def test_subjects_without_a_slot() -> None:
    assert triple_of("short answers, please", "preference").subject == "user"
    assert triple_of("机房周日断电", "environment").subject == "project"


def test_tags_are_names() -> None:
    assert {"bot/ports.py", "formatter"} <= set(triple_of("black formats bot/ports.py too", "convention").tags)
