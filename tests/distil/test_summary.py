from __future__ import annotations

from catmem.distil.summary import summary_of
from catmem.domain.message import Message
from catmem.domain.session import SessionRef

REF = SessionRef("shop", "chat:1")


def said(*texts: str) -> list[Message]:
    roles = ("user", "assistant")
    return [
        Message(roles[n % 2], text, f"2026-03-01T10:{n // 60 % 60:02}:{n % 60:02}.000Z", f"u{n}", n + 1)  # type: ignore[arg-type]
        for n, text in enumerate(texts)
    ]


def test_what_was_settled_is_said_in_both_languages() -> None:
    talk = said(
        "Can you look at the upload worker, it backs off too slowly?", "Yes.",
        "我们决定用 Postgres 而不是 MySQL。", "好的。",
        "let us go with Celery instead of RQ, it retries better", "Done.",
    )  # fmt: skip
    summary = summary_of(REF, talk)
    assert "upload worker" in summary and "Postgres" in summary and "Celery" in summary


def test_a_correction_at_the_end_counts() -> None:
    talk = said(
        "Let us go with Celery for the queue.",
        "Done.",
        "Actually no, scrap Celery: let us go with RabbitMQ for the queue.",
        "Changed.",
    )
    assert "RabbitMQ" in summary_of(REF, talk)


def test_a_long_part_is_read_from_both_its_ends() -> None:
    middle = ["and the next file please?", "Here."] * 900
    summary = summary_of(
        REF,
        said("The ferry timetable page shows the wrong pier?", "Hm.", *middle, "以后部署都用 docker compose。", "好。"),
    )
    assert "ferry timetable" in summary and "docker compose" in summary


def test_nothing_said_is_nothing() -> None:
    assert summary_of(REF, []) == ""
    assert summary_of(REF, [Message("tool", "output", "2026-03-01T10:00:00.000Z", "t1", 1)]) == ""
