"""What sessions were told: one file each, appended to, read back by every door, forgotten with the memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.inject import told
from catmem.settings.places import Places

AT = "2026-07-01T12:00:00.000Z"


def tell(places: Places, session: str, event: str, text: str = "", *ids: str, door: str = "hook") -> None:
    items = [{"id": id, "section": "facts", "matched": []} for id in ids]
    told.tell(places, session, door=door, event=event, project="shop", at=AT, text=text, items=items)


@pytest.fixture
def places(tmp_path) -> Places:
    return Places(str(tmp_path))


def test_a_session_that_was_told_nothing(places):
    assert told.told(places, "claude-code:1") is None
    assert told.records_of(places, "claude-code:1") == [] == told.sessions_told(places)


def test_the_brief_is_frozen_and_what_was_shown_adds_up(places):
    tell(places, "claude-code:1", told.BRIEF, "- 用 pnpm", "m1")
    tell(places, "claude-code:1", told.PROMPT, "- port 5433", "m2")
    tell(places, "claude-code:1", told.AGAIN)
    tell(places, "codex:1", told.RECALL, "- x", "m3", door="mcp")
    assert told.told(places, "claude-code:1") == {"text": "- 用 pnpm", "door": "hook", "items": ["m1", "m2"]}
    assert told.told(places, "codex:1") is None and told.shown(places, "codex:1") == ["m3"]
    assert told.sessions_told(places) == ["claude-code:1", "codex:1"]


def test_forgetting_takes_the_words_out_of_every_file(places):
    tell(places, "claude-code:1", told.BRIEF, "- our port is 5433", "m1", "m2")
    tell(places, "claude-code:1", told.PROMPT, "- 回答先给结论", "m3")
    tell(places, "codex:1", told.BRIEF, "- our port is 5433", "m1")
    told.forget(places, ["m1"])
    assert told.told(places, "claude-code:1") is None, "what is told next is what is known then"
    assert told.shown(places, "claude-code:1") == ["m3"] and told.records_of(places, "codex:1") == []
    everything = b"".join(path.read_bytes() for path in _files(places))
    assert b"5433" not in everything and "先给结论".encode() in everything


@given(st.integers(0, 400), st.binary(max_size=30))
def test_a_file_that_was_cut_or_garbled_costs_only_what_was_cut(tmp_path_factory, cut, garbage):
    places = Places(str(tmp_path_factory.mktemp("told")))
    tell(places, "claude-code:1", told.BRIEF, "- 第一", "m1")
    path = _files(places)[0]
    path.write_bytes(path.read_bytes()[:cut] + garbage)
    tell(places, "claude-code:1", told.PROMPT, "- second", "m2")
    records = told.records_of(places, "claude-code:1")
    assert records[-1]["text"] == "- second" and len(records) <= 2


def test_a_disk_that_refuses_stops_nobody(places, tmp_path):
    (tmp_path / "run").write_text("a file where a folder should be")
    tell(places, "claude-code:1", told.BRIEF, "- x", "m1")
    assert told.told(places, "claude-code:1") is None


def _files(places: Places):
    from pathlib import Path

    return sorted(Path(places.told).glob("*.jsonl"))
