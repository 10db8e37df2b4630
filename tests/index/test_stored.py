"""What the index keeps of a document is small and comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.message import Message
from catmem.domain.session import SessionHeader, SessionRef
from catmem.index.documents import memory_records, passage_records, title_record
from catmem.index.stored import pack, unpack
from tests.index.world import START, World

TEXT = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=300).filter(str.strip)


@given(text=TEXT, project=st.text(max_size=20), key=st.text(max_size=20), number=st.integers(1, 2**40))
def test_a_passage_comes_back(text: str, project: str, key: str, number: int) -> None:
    for record in passage_records(SessionRef(project, key), Message("user", text, START, "u", number, key)):
        assert unpack(pack(record)) == record


def test_a_title_a_piece_and_a_memory_come_back(tmp_path: Path) -> None:
    ref, header = (
        SessionRef("茶壶", "s1"),
        SessionHeader("s1", "壶盖 of clay", "", START, START, 0, {"project": "茶壶"}),
    )
    pieces = list(passage_records(ref, Message("assistant", "line\n" * 2000, "no time", "u", 7, "s1")))
    assert len(pieces) > 1 and pieces[1]["instants"] == []
    world = World(tmp_path)
    world.learn("壶盖是陶土做的")
    (memory,) = world.store.all()
    for record in (title_record(header), *pieces, *memory_records(memory)):
        assert unpack(pack(record)) == record


def test_what_a_place_says_is_not_said_again_and_a_character_takes_two_bytes_at_most_in_any_company() -> None:
    texts = {"the lid of the pot is of clay " * 10: 300, "壶盖是陶土做的，壶身也是" * 10: 240, "壶盖 is of clay": 15}
    for text, least in {**texts, "단지 뚜껑은 점토" * 10: 180, "つぼのふた is of clay": 21}.items():
        (record,) = passage_records(SessionRef("teapot", "s1"), Message("user", text, START, "u", 7, "s1"))
        assert least < len(pack(record)) < least + 80 and unpack(pack(record)) == record
        assert len(pack(record)) < len(json.dumps(record, ensure_ascii=False).encode()) - 90


def test_a_long_text_is_deflated() -> None:
    for text in ("".join(f"the lid of pot {n} is of clay, " for n in range(99)), "壶盖是陶土做的，壶身也是" * 99):
        (record,) = passage_records(SessionRef("teapot", "s1"), Message("user", text, START, "u", 7, "s1"))
        assert len(pack(record)) < len(text.encode()) / 2
        assert unpack(pack(record)) == record
