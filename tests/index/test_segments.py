"""What comes at once ends in one segment, whose dictionary has each term once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tantivy

from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.index import layout
from catmem.index.documents import passage_records
from catmem.index.part import Part
from catmem.index.segments import missing, smallest
from catmem.text.tokens import query_tokens
from tests.index.world import START


def write(part: Part, numbers: range) -> None:
    with part.writing() as writer:
        for number in numbers:
            message = Message("user", f"第 {number} 次灰度, canary {number}", START, f"u{number}", number, "s1")
            for record in passage_records(SessionRef("shop", "s1"), message):
                writer.add(record)
            if number % 400 == 0:
                writer.commit()


def segments(folder: Path) -> list[tuple[int, bool]]:
    meta = json.loads((folder / "meta.json").read_bytes())
    return [(segment["max_doc"], bool(segment["deletes"])) for segment in meta["segments"]]


def test_an_import_ends_in_one_segment_without_dead_documents(tmp_path: Path) -> None:
    folder = tmp_path / layout.PASSAGES
    part = Part(folder)
    write(part, range(1, 1901))
    assert segments(folder) == [(1900, False)]
    write(part, range(1901, 1910))
    assert [size for size, _ in segments(folder)] == [1900, 9], "a few more are not worth the work"
    searcher = tantivy.Index.open(str(folder)).searcher()
    (canary,) = query_tokens("canary")
    assert searcher.num_docs == searcher.doc_freq(layout.ONCE, "灰度") == searcher.doc_freq(layout.BODY, canary) == 1909


@pytest.mark.parametrize(
    ("sizes", "small", "wanted"),
    [
        ([], [], 0),
        ([9000], [9000], 0),
        ([1900, 1800, 1700], [1900, 1800, 1700], 5),
        ([1900, 9, 3], [1900, 9, 3], 0),
        ([300_000, 90_000, 1500, 1400], [1500, 1400], 6),
        ([15_000, 1500, 1400], [15_000, 1500, 1400], 5),
        ([20_000, 15_000], [20_000, 15_000], 6),
        ([20_000, 9000], [9000], 0),
        ([1500] * 8, [1500] * 8, 0),
    ],
)
def test_the_small_ones_are_those_that_would_be_merged_together(
    sizes: list[int], small: list[int], wanted: int
) -> None:
    assert smallest(sizes[::-1]) == small and missing(small) == wanted
