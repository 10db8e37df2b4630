from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catmem.sessions.uids import Uids
from tests.sessions.bounded import peak


@given(st.lists(st.text(max_size=5)), st.lists(st.text(max_size=5)))
def test_it_is_a_set(put: list[str], asked: list[str]) -> None:
    uids, plain = Uids(), set[str]()
    for uid in put:
        assert uids.add(uid) == (uid not in plain)
        plain.add(uid)
    assert [uid in uids for uid in asked + put] == [uid in plain for uid in asked + put]


def test_it_is_small() -> None:
    many = 50_000
    assert peak(lambda: Uids(f"6f1c2a-{n:032}" for n in range(many))) < 60 * many
