"""What a user dictates is kept, whatever the classifier thinks of it."""

from __future__ import annotations

import pytest

from catmem.distil.distiller import judged, read
from tests.distil.talks import distil, talk

KEPT = [
    ("记住：发布前先跑 make smoketest。", "convention"),
    ("别忘了：发布前先备份数据库", "convention"),
    ("记住 API 的基址是 /v2", "environment"),
    ("请记住上线前要先通知老王", "preference"),
    ("Remember: run make smoketest before a release.", "convention"),
    ("please remember that kelp is the name of the staging box", "convention"),
    ("以后发布前都先跑 make smoketest", "preference"),
]
NOT = [
    "记住：这次先别推",
    "你还记得端口吗",
    "记下了",
    "记住密码是 hunter2-hunter2",
    "do you remember the port?",
    "remember when we used svn?",
]


@pytest.mark.parametrize(("text", "kind"), KEPT)
def test_it_is_kept(text: str, kind: str) -> None:
    (verdict,) = judged(read(talk(f"U: {text}", "A: ok"))).values()
    assert verdict.kept and verdict.kind == kind


@pytest.mark.parametrize("text", NOT)
def test_a_question_one_time_and_a_password_are_not(text: str) -> None:
    assert not any(verdict.kept for verdict in judged(read(talk(f"U: {text}", "A: ok"))).values())


@pytest.mark.parametrize(
    "text",
    [
        "Remember: the cache timeout is 30 seconds",
        "Remember: p95 is 280 ms at most",
        "记住：超时是 30 秒",
        "Remember: run the smoke test before a release",
        "记住：部署前跑一遍测试",
    ],
)
def test_what_is_dictated_is_no_report_and_no_task(text: str) -> None:
    (claim,) = distil(talk(f"U: {text}")).claims
    assert claim.text in text
