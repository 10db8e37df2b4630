"""A brief never has two statements that contradict each other: which one stands, and that it does not depend on order."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.brief.contrary import Sense, contradict
from catmem.brief.standing import Standing
from catmem.index.documents import Record
from catmem.text.sense import sense_of
from catmem.text.tokens import tokens

DAY = 86_400_000


def sense(text: str) -> Sense:
    return Sense(sense_of(text))


def record(number: int, text: str, *, scope: str = "project", day: int = 0, **more: object) -> Record:
    return {
        "type": "memory", "id": f"m{number}", "text": text, "words": " ".join(tokens(text)), "sense": sense_of(text),
        "kind": "convention", "scope": scope, "project": "" if scope == "global" else "shop", "status": "live",
        "pinned": False, "instants": [day * DAY], **more,
    }  # fmt: skip


def standing(*records: Record, project: str | None = None) -> list[str]:
    known = Standing(records, project)
    return [record["text"] for record in records if known.stands(record)]


def test_the_narrower_stands_though_the_other_is_later() -> None:
    ours, mine = record(1, "Use spaces for indentation"), record(2, "缩进用 tab", scope="global", day=9, pinned=True)
    assert standing(ours, mine) == standing(mine, ours) == ["Use spaces for indentation"]


def test_the_later_stands_and_a_pinned_one_before_it() -> None:
    early, late = record(1, "提交信息用英文", day=1), record(2, "Commit messages are in Chinese", day=2)
    assert standing(early, late) == ["Commit messages are in Chinese"]
    assert standing({**early, "pinned": True}, late) == ["提交信息用英文"]


def test_a_decision_stands_against_an_older_convention() -> None:
    old = record(1, "Deploy on Fridays", day=1)
    decided = record(2, "周五不要部署", day=2, kind="decision")
    assert standing(old, decided) == ["周五不要部署"]


def test_what_an_assistant_noted_gives_way() -> None:
    said, noted = record(1, "Use tabs", day=1), record(2, "Don't use tabs", day=2, by="assistant")
    assert standing(said, noted) == ["Use tabs"]


def test_a_slot_has_one_filling() -> None:
    ours = record(1, "装包走 pnpm", slot="package manager\x1fuses")
    mine = record(2, "npm is my tool for lockfiles", scope="global", slot="package manager\x1fuses")
    assert standing(mine, ours) == ["装包走 pnpm"]


def test_what_was_true_on_its_day_is_not_false_later() -> None:
    monday = record(1, "The parser is not done", day=1, kind="progress")
    friday = record(2, "The parser is done", day=5, kind="progress")
    assert len(standing(monday, friday)) == 2


def test_who_is_overruled_overrules_nobody() -> None:
    first, second = record(1, "Use tabs for indentation", day=3), record(2, "Use spaces for indentation", day=2)
    third = record(3, "Never use spaces for indentation", day=1)
    assert standing(third, second, first) == ["Never use spaces for indentation", "Use tabs for indentation"]


def test_another_project_overrides_nothing_here() -> None:
    theirs = record(1, "Use spaces for indentation", day=9, project="bank")
    ours, mine = record(2, "Use tabs for indentation"), record(3, "Use tabs for indentation", scope="global")
    assert standing(theirs, ours, project="shop") == ["Use spaces for indentation", "Use tabs for indentation"]
    assert standing(theirs, mine, project="shop") == ["Use spaces for indentation", "Use tabs for indentation"]


STATEMENTS = [
    "Use tabs for indentation", "Use spaces for indentation", "Don't use tabs for indentation", "缩进用 tab", "缩进用空格",
    "缩进不要用空格", "Commit messages are in English", "提交信息用中文", "Never write commit messages in English",
    "Ruff formats at 100 columns", "Ruff formats at 120 columns", "每行不超过 100 列", "每行不超过 80 列", "Deploy on Fridays",
    "周五不要部署", "Keep answers short", "回答要详细", "We use Postgres", "数据库用 Postgres",
]  # fmt: skip
RECORDS = st.lists(
    st.builds(
        lambda text, scope, day, pinned, kind: (text, scope, day, pinned, kind),
        st.sampled_from(STATEMENTS), st.sampled_from(["project", "global"]), st.integers(0, 3), st.booleans(),
        st.sampled_from(["convention", "preference", "decision", "environment"]),
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(RECORDS, st.randoms())
def test_no_two_that_stand_contradict_each_other_in_whatever_order(said: list[tuple], dice: object) -> None:  # type: ignore[type-arg]
    records = [
        record(number, text, scope=scope, day=day, pinned=pinned, kind=kind)
        for number, (text, scope, day, pinned, kind) in enumerate(said)
    ]
    stand = standing(*records)
    for one, other in itertools.combinations(stand, 2):
        assert not contradict(sense(one), sense(other))
    assert bool(stand) == bool(records)
    shuffled = [*records]
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sorted(standing(*shuffled)) == sorted(stand)
