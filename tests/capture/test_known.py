from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catmem.capture.known import Known
from catmem.clients.readers import reader_of
from tests.capture.world import PROJECT, REF, World
from tests.clients.talk import Talk
from tests.sessions.bounded import peak, small_blocks

TURNS = 20
WORDS = "为什么 why does the upload retry so slowly? " * 300


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are small beside the files of a test, as the real ones are beside a gigabyte."""
    small_blocks(monkeypatch)
    monkeypatch.setattr("catmem.clients.lines.BLOCK", 1 << 16)
    monkeypatch.setattr("catmem.clients.lines.LONG_LINE", 1 << 16)
    monkeypatch.setattr("catmem.clients.lines.STRING_LIMIT", 1 << 16)
    monkeypatch.setitem(type(reader_of("claude-code")).chunks.__kwdefaults__, "limit", 1 << 16)
    monkeypatch.setattr("catmem.sessions.file._SEARCHED", 1 << 16)


def long_talk(turns: int) -> Talk:
    talk = Talk()
    for turn in range(turns):
        talk.user(f"u{turn}", f"{turn} {WORDS}").says(f"a{turn}", f"{turn} {WORDS}")
    return talk


def test_what_it_knows_is_what_was_kept(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.imported(long_talk(3).write(tmp_path))
    known = Known(world.history, REF)
    assert list(known.messages) == world.messages() and all(m.uid in known.uids for m in known.messages)
    assert known.began == world.messages()[0].timestamp and known.last_said() == "u2"
    assert known.has_answer(f"2 {WORDS}") and not known.has_answer(f"1 {WORDS}")
    assert "u3" not in known.uids and not Known(world.history, type(REF)(PROJECT, "none")).exists


@pytest.mark.usefixtures("small_parts")
def test_memory_does_not_grow_with_the_words_of_a_session(tmp_path: Path) -> None:
    heights = []
    for turns in (TURNS, TURNS, 4 * TURNS):  # the first warms up what is loaded once
        world = World(tmp_path / f"{len(heights)}")
        world.root.mkdir(parents=True)
        world.imported(long_talk(turns).write(tmp_path))
        heights.append(peak(partial(Known, world.history, REF)))
    assert heights[2] < 1.5 * heights[1]


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("one_line", [False, True])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, one_line: bool) -> None:
    """Many lines, or a single one, of four times the length."""
    heights = []
    for turns in (TURNS, TURNS, 4 * TURNS):
        world = World(tmp_path / f"{len(heights)}")
        world.root.mkdir(parents=True)
        talk = Talk().user("u1", WORDS * 4 * turns).says("a1", "ok") if one_line else long_talk(turns)
        path = talk.write(tmp_path)
        heights.append(peak(partial(_imported, world, path)))
    assert heights[2] < 1.5 * heights[1]


def _imported(world: World, path: Path) -> Any:
    first, again = world.imported(path), world.imported(path)
    assert first.messages_new > 1 and again.messages_new == 0 and again.messages_known == first.messages_new
