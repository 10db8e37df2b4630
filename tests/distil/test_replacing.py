"""A talk that goes back on itself: the later statement stands alone; what is about something else stays."""

from __future__ import annotations

import pytest

from tests.distil.talks import Remembered, distil, talk

CORRECTED = [
    ("staging runs on Fly", "staging moved to Render", "Render"),
    ("Staging runs on Fly.", "we've moved staging from Fly to Render", "Render"),
    ("remember: staging runs on Fly", "the staging environment moved to Render yesterday", "Render"),
    ("the docs live in Notion", "the docs moved to Confluence", "Confluence"),
    ("We deploy on Fridays", "we moved deploys to Thursdays", "Thursdays"),
    ("预发环境在 Fly 上", "预发搬到 Render 了", "Render"),
    ("记住：预发跑在 Fly 上", "预发环境搬到 Render 了", "Render"),
    ("记住：staging 跑在 Fly 上", "staging 搬到 Render 了", "Render"),
]
BOTH = [
    ("the staging database runs on Neon", "staging moved to Render", "Neon"),
    ("remember: staging runs on Fly", "production moved to Render", "Fly"),
    ("记住：预发跑在 Fly 上", "生产环境搬到 Render 了", "Fly"),
]


@pytest.mark.parametrize(("earlier", "later", "stands"), CORRECTED)
def test_within_a_session_the_later_statement_takes_the_place(earlier: str, later: str, stands: str) -> None:
    claims = distil(talk(f"U: {earlier}", "A: OK.", f"U: {later}", "A: Noted.")).claims
    assert [stands in claim.text for claim in claims] == [True], [claim.text for claim in claims]


@pytest.mark.parametrize(("earlier", "later", "stands"), CORRECTED)
def test_between_sessions_it_does_so_too(earlier: str, later: str, stands: str) -> None:
    memory = Remembered()
    memory.session(f"U: {earlier}", "A: OK.", day=1)
    memory.session(f"U: {later}", "A: OK.", day=2)
    assert [stands in text for text in memory.texts()] == [True] and len(memory.gone()) == 1


BESIDE = [
    ("Remember: indent Python with 4 spaces", "Remember: indent YAML with two spaces", 2),
    ("记住：Python 用 4 个空格缩进", "记住：YAML 用两个空格缩进", 2),
    ("记住：缩进用 4 个空格", "Remember: indent with two spaces", 1),
    ("Remember: service A runs on port 8080", "Remember: service B runs on port 9090", 2),
    ("记住：方案 A 用 8080 端口", "记住：方案 B 用 9090 端口", 2),
    ("Remember: service A runs on port 8080", "Remember: service A runs on port 9090", 1),
]


@pytest.mark.parametrize(("earlier", "later", "left"), BESIDE)
def test_what_is_of_another_part_stands_beside_it(earlier: str, later: str, left: int) -> None:
    memory = Remembered()
    memory.session(f"U: {earlier}", "A: OK.", day=1)
    memory.session(f"U: {later}", "A: OK.", day=2)
    assert len(memory.texts()) == left, memory.texts()


@pytest.mark.parametrize(("earlier", "later", "stands"), BOTH)
def test_what_moves_is_not_what_merely_has_its_name(earlier: str, later: str, stands: str) -> None:
    claims = distil(talk(f"U: {earlier}", "A: OK.", f"U: {later}", "A: Noted.")).claims
    assert any(stands in claim.text for claim in claims), [claim.text for claim in claims]
