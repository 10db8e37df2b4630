"""Plain statements, one a talk, with a reply that says nothing and with none: a floor under what is kept of them.

`cases/plain.txt` has one statement a line with its kind, or "nothing". The floors are a little below what is reached;
docs/quality.md has the figures.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.distil.talks import Remembered, distil, talk

LINES = (Path(__file__).parent / "cases" / "plain.txt").read_text("utf-8").splitlines()
STATEMENTS = [(kind, text) for kind, _, text in (line.partition(" | ") for line in LINES)]


def kinds_of(text: str, *, answered: bool) -> list[str]:
    lines = ["U: please look at the second page", "A: Done.", f"U: {text}", *(["A: OK."] if answered else [])]
    return [claim.kind for claim in distil(talk(*lines)).claims]


@pytest.mark.parametrize(("answered", "floor"), [(True, 0.75), (False, 0.6)])
def test_most_plain_statements_are_kept(answered: bool, floor: float) -> None:
    wanted = [text for kind, text in STATEMENTS if kind != "nothing"]
    missed = [text for text in wanted if not kinds_of(text, answered=answered)]
    assert len(missed) <= (1 - floor) * len(wanted), missed


@pytest.mark.parametrize("answered", [True, False])
def test_hardly_anything_else_is_kept(answered: bool) -> None:
    others = [text for kind, text in STATEMENTS if kind == "nothing"]
    kept = [text for text in others if kinds_of(text, answered=answered)]
    assert len(kept) <= 0.12 * len(others), kept


def test_most_of_what_is_kept_has_its_kind() -> None:
    told = [
        (kind, found[0]) for kind, text in STATEMENTS if kind != "nothing" and (found := kinds_of(text, answered=True))
    ]
    assert sum(kind == found for kind, found in told) >= 0.75 * len(told)


@pytest.mark.parametrize("reply", ["OK.", "Understood.", "Noted.", "Got it.", "好的。", "明白。", "收到"])
def test_how_a_statement_is_acknowledged_weighs_nothing(reply: str) -> None:
    remembered = Remembered()
    remembered.session("U: The sandbox port is 8123.", f"A: {reply}", day=1)
    assert remembered.texts() == ["The sandbox port is 8123."]
