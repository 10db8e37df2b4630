"""What makes two statements the same, and two memories one; and the errors' tree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain import errors
from catmem.domain.memory import memory_id, normal, statement_hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use pnpm.", "we  use PNPM"),
        ("用 pnpm。", "用 pnpm"),
        ("Ｗe use pnpm！", "we use pnpm"),
        ("“记住：用制表符”", "记住:用制表符"),
    ],
)
def test_spellings_of_one_statement(one, other):
    assert normal(one) == normal(other) and statement_hash(one) == statement_hash(other)


def test_statements_that_differ():
    assert normal("not pnpm") != normal("pnpm") and normal("C#") != normal("C++") and normal("用猫") != normal("用狗")


@given(st.text())
def test_the_normal_form_is_its_own(text):
    assert normal(normal(text)) == normal(text)


@given(st.text(), st.text(), st.text(), st.text())
def test_fields_do_not_run_into_each_other(a, b, c, d):
    if tuple(map(normal, (a, b))) != tuple(map(normal, (c, d))):
        assert memory_id("project", "shop", a, b) != memory_id("project", "shop", c, d)


def test_an_id_is_of_its_project_unless_global():
    assert memory_id("project", "a", "s", "p") != memory_id("project", "b", "s", "p")
    assert memory_id("global", "a", "s", "p") == memory_id("global", "b", "s", "p")
    assert memory_id("project", "a", "s", "p", "x") != memory_id("project", "a", "s", "p", "y")
    assert memory_id("project", "a", "\ud800", "p").startswith("m") and statement_hash("\udfff")


def test_every_error_has_an_exit_code_of_its_own_and_both_languages():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.CatmemError)]
    codes = [kind.exit_code for kind in kinds]
    assert len(set(codes)) == len(codes) == 12 and not {0, 1} & set(codes)
    for kind in kinds:
        assert str(kind.exit_code) in errors.__doc__ and kind.__name__ in errors.__doc__ and kind.__doc__
    assert errors.NotFound("a", "甲").said("zh") == "甲" and errors.NotFound("a").said("zh") == "a"
